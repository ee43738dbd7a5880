"""One matrix of a model: y = x Wᵀ + b, its weights laid out for the processor once, at load."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


class Linear:
    """y = x Wᵀ + b for x [n, in] and a weight [out, in].

    On a CPU that knows bf16, oneDNN multiplies blocks of W in an order of its own. Left to itself
    it would reorder W at every call, which costs as much as reading it; `packed` does it once.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        self.bias, self.nbytes = bias, weight.nbytes + (0 if bias is None else bias.nbytes)
        self.packed = torch.ops.mkldnn._reorder_linear_weight(weight) if packs(weight) else None
        self.weight = weight if self.packed is None else None

    def __call__(self, x: Tensor) -> Tensor:
        """x Wᵀ + b [n, out]."""
        if self.packed is None:
            return F.linear(x, self.weight, self.bias)
        return torch.ops.mkldnn._linear_pointwise(x, self.packed, self.bias, "none", [], "")

    def add(self, x: Tensor, residual: Tensor) -> Tensor:
        """residual + x Wᵀ + b [n, out], rounded once."""
        if self.packed is None:
            return residual + F.linear(x, self.weight, self.bias)
        return torch.ops.mkldnn._linear_pointwise.binary(
            x, residual, self.packed, self.bias, "add"
        )


def packs(weight: Tensor) -> bool:
    """Whether this build of torch can pack the weight. Everything works without, but slower."""
    return (
        weight.device.type == "cpu"
        and weight.dtype == torch.bfloat16
        and torch.backends.mkldnn.is_available()
        and torch.ops.mkldnn._is_mkldnn_bf16_supported()
    )
