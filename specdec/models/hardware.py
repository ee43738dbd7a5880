"""What models run on: its name, a label for every measured time, and its free memory."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def describe(device: torch.device) -> str:
    """The device's name by its maker; for a processor also its cores: "AMD EPYC, 2 cores"."""
    if device.type == "cuda":
        import torch

        return torch.cuda.get_device_name(device)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{_processor()}, {cores} core{'s' * (cores != 1)}"


def free_bytes(device: torch.device) -> int:
    """Memory that weights could take now: the GPU's own, else the machine's or its container's."""
    if device.type == "cuda":
        import torch

        return torch.cuda.mem_get_info(device)[0]
    import psutil

    limit = _container_bytes(Path("/sys/fs/cgroup"))
    free = psutil.virtual_memory().available
    return free if limit is None else min(free, limit)


def _container_bytes(cgroup: Path) -> int | None:
    """What a container's limit leaves free, files that it could drop included; None: no limit."""
    try:
        most, used, stat = (
            (cgroup / f"memory.{name}").read_text() for name in ("max", "current", "stat")
        )
        droppable = dict(line.split() for line in stat.splitlines()).get("inactive_file", "0")
        return max(0, int(most) - int(used) + int(droppable))
    except (OSError, ValueError):  # another system, or the limit is "max"
        return None


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    for line in info.read_text(errors="replace").splitlines() if info.exists() else []:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine() or "unknown processor"
