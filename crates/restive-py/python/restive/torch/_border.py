"""Tensors in and out: what may enter, as which numbers the kernels read them, and how their answers come back."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from restive import _device


def checked(name: str, tensor: Any) -> Tensor:
    """A tensor of real floating-point numbers, or what is wrong with it."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{name}: expected a torch.Tensor, got {type(tensor).__name__}")
    if tensor.dtype not in (torch.float32, torch.float64):
        raise ValueError(f"{name}: expected float32 or float64, got {str(tensor.dtype).removeprefix('torch.')}")
    if tensor.layout != torch.strided:
        raise ValueError(f"{name}: expected a dense tensor, got {tensor.layout}")
    return tensor


def constant(name: str, value: Any) -> Any:
    """A setting or a logged array, through which no gradient goes."""
    if not isinstance(value, Tensor):
        return value
    if value.requires_grad:
        raise ValueError(f"{name}: no gradient goes through it; detach it first")
    return value.cpu().numpy()


def number(name: str, value: Any) -> Any:
    """A setting that may come as a tensor with one number."""
    value = constant(name, value)
    return value.item() if isinstance(value, np.ndarray) and value.size == 1 else value


def array(tensor: Tensor) -> np.ndarray:
    """The numbers of a tensor as float64: where they lie if they can be read there."""
    return tensor.detach().to("cpu", torch.float64).contiguous().numpy()


def tensor(array: Any, like: Tensor) -> Tensor:
    """An answer with the type and on the device of `like`."""
    return torch.as_tensor(array, dtype=torch.float64).to(like)


def copied(function: str, tensor: Tensor, reason: str) -> None:
    """Says, once for each function, that a tensor that is not on the CPU went through it."""
    if tensor.device.type != "cpu":
        _device.say_copy(f"restive.torch.{function}", reason if _device.has_triton() else "any of them without Triton")


class Once(torch.autograd.Function):
    """A first derivative that refuses to be differentiated again. (PyTorch's own `once_differentiable` lets a second derivative
    by saved inputs pass as zero.)"""

    @staticmethod
    def forward(ctx: Any, derivative: Tensor, *causes: Tensor) -> Tensor:
        return derivative

    @staticmethod
    def backward(ctx: Any, *_: Tensor) -> Any:
        raise RuntimeError("restive.torch: first derivatives only, a second backward is not available")
