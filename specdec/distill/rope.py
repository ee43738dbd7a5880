"""Rotary positions (Su et al. 2021) for rows of many sequences at once."""

from __future__ import annotations

from torch import Tensor, cat


def rotation(positions: Tensor, frequencies: Tensor, scale: float = 1.0) -> tuple[Tensor, Tensor]:
    """cos and sin [..., 1, D] of positions [...]; the signs of the two halves are in sin."""
    angle = positions.to(frequencies.dtype)[..., None] * frequencies  # [..., D / 2]
    cos, sin = angle.cos() * scale, angle.sin() * scale
    return cat([cos, cos], -1)[..., None, :], cat([-sin, sin], -1)[..., None, :]


def turned(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Heads x [..., h, D], rotated."""
    return x * cos.to(x.dtype) + x.roll(x.shape[-1] // 2, -1) * sin.to(x.dtype)
