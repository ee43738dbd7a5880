"""The two parts of a model that are worth writing for speed: a matrix and a norm."""

from __future__ import annotations

from functools import cache

import torch
import torch.nn.functional as F
from torch import Tensor


class Linear:
    """y = x Wᵀ + b for x [n, in], W [out, in], b [out] or none."""

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        self.weight, self.bias = weight, bias
        self.nbytes = weight.nbytes + (0 if bias is None else bias.nbytes)

    def __call__(self, x: Tensor) -> Tensor:
        """x Wᵀ + b [n, out]."""
        return F.linear(x, self.weight, self.bias)

    def add(self, x: Tensor, residual: Tensor) -> Tensor:
        """residual + x Wᵀ + b [n, out]."""
        return residual + self(x)


class PackedLinear(Linear):
    """The same on a CPU, from a weight that oneDNN has put into the order it multiplies in.

    A plain weight is put in order again at every call, for longer than the multiplication takes.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        super().__init__(weight, bias)
        ops = torch.ops.mkldnn
        self.weight = ops._reorder_linear_weight(weight)
        self._multiply = ops._linear_pointwise.default
        self._multiply_add = ops._linear_pointwise.binary

    def __call__(self, x: Tensor) -> Tensor:
        """x Wᵀ + b [n, out]."""
        return self._multiply(x, self.weight, self.bias, "none", [], "")

    def add(self, x: Tensor, residual: Tensor) -> Tensor:
        """residual + x Wᵀ + b [n, out], rounded once."""
        return self._multiply_add(x, residual, self.weight, self.bias, "add")


class RMSNorm:
    """y = x ÷ √(mean x² + eps) · weight over the last axis of x."""

    def __init__(self, weight: Tensor, eps: float) -> None:
        self.eps, self.nbytes, self.size = eps, weight.nbytes, len(weight)
        self.on_cpu = weight.device.type == "cpu"
        self.weight = torch.cat([weight, weight]) if self.on_cpu else weight

    def __call__(self, x: Tensor) -> Tensor:
        """The normalised x, in its shape."""
        if not self.on_cpu:
            return F.rms_norm(x, (self.size,), self.weight, self.eps)
        # On a CPU rms_norm is ten small operations, layer_norm one. Over x and -x together the
        # mean is 0 and the variance is mean x², so the two norms are the same.
        both = torch.cat([x, -x], -1)
        return F.layer_norm(both, (2 * self.size,), self.weight, None, self.eps)[..., : self.size]


def linear(weight: Tensor, bias: Tensor | None = None) -> Linear:
    """The fastest Linear for this weight on this machine."""
    packed = weight.device.type == "cpu" and packing_works(weight.dtype)
    return (PackedLinear if packed else Linear)(weight, bias)


@cache
def packing_works(dtype: torch.dtype) -> bool:
    """Whether this build of torch packs weights of this dtype, found out by trying.

    The operators are those that torch's own compiler calls, but have no public name.
    """
    x = torch.arange(64, dtype=dtype).view(2, 32) / 64
    weight = torch.arange(512, dtype=dtype).view(16, 32) / 512
    try:
        packed = PackedLinear(weight)
        got, added = packed(x), packed.add(x, packed(x))
    except (AttributeError, RuntimeError):
        return False
    right = F.linear(x, weight)
    return torch.allclose(got, right, rtol=0.02) and torch.allclose(added, 2 * right, rtol=0.02)


def default_dtype(device: torch.device) -> torch.dtype:
    """bf16 on a GPU and on a CPU that multiplies it directly; fp32 elsewhere."""
    able = torch.cpu.get_capabilities()
    fast = any(able.get(name) for name in ("avx512_bf16", "amx_bf16", "bf16", "sve_bf16"))
    return torch.bfloat16 if device.type == "cuda" or fast else torch.float32


def as_dtype(dtype: torch.dtype | str | None) -> torch.dtype | None:
    """A dtype by itself or by its name."""
    names = {"bf16": torch.bfloat16, "bfloat16": torch.bfloat16}
    names |= {"fp32": torch.float32, "float32": torch.float32}
    if dtype is None or dtype in names.values():
        return dtype
    if dtype not in names:
        raise ValueError(f"The dtype is {dtype!r}; it must be one of {', '.join(names)}.")
    return names[dtype]
