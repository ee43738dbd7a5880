"""The name of this machine's processor, for labels beside measured times."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def describe() -> str:
    """Processor and cores, as "AMD EPYC, 2 cores"."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{_processor()}, {cores} core{'s' * (cores != 1)}"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine() or "unknown processor"
