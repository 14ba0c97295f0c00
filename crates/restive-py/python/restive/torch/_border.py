"""Tensors in and out: what may enter, as which numbers the kernels read them, and how their answers come back.

Work is done in float64 whatever comes. float64 is answered in float64, float32 in float32. Under `torch.autocast` half precision
(bfloat16, float16) is widened to float32 and answered so, as PyTorch's own losses do; outside of it half precision is refused, because
indices and log-odds have more digits than it holds, and nobody asked to lose them.

Settings (rewards, discount, budget, temperature, costs) come as numbers, lists, arrays or tensors; through tensors goes a gradient. Masks
come as booleans.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from restive import _device


def checked(name: str, tensor: Any) -> Tensor:
    """A tensor of real floating-point numbers, or what is wrong with it."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{name}: found {type(tensor).__name__}, expected a torch.Tensor")
    if tensor.dtype in (torch.bfloat16, torch.float16) and torch.is_autocast_enabled(tensor.device.type):
        return tensor.float()
    if tensor.dtype not in (torch.float32, torch.float64):
        raise ValueError(f"{name}: found {_dtype(tensor)}, expected float32 or float64 (half precision: under torch.autocast)")
    if tensor.layout != torch.strided:
        raise ValueError(f"{name}: found {tensor.layout}, expected a dense tensor")
    return tensor


def distributions(P: Tensor, half: torch.dtype) -> Tensor:
    """Rows that came in half precision and sum to 1 within its rounding, scaled to sum to 1."""
    total = P.sum(-1, keepdim=True)
    return torch.where((total - 1.0).abs() <= torch.finfo(half).eps, P / total, P)


def setting(name: str, value: Any) -> Tensor:
    """Real numbers of a setting as a tensor: float64, or as the tensor came."""
    if isinstance(value, Tensor):
        if value.is_complex() or value.layout != torch.strided:
            raise ValueError(f"{name}: found {_dtype(value)}, {value.layout}, expected dense real numbers")
        return value if value.dtype in (torch.float32, torch.float64) else value.to(torch.float64)
    if torch.compiler.is_compiling():
        return torch.as_tensor(value, dtype=torch.float64)
    if isinstance(value, (int, float)):
        return torch.scalar_tensor(float(value), dtype=torch.float64)
    return torch.from_numpy(_numbers(name, value, "fiub", "real numbers").astype(np.float64))


def whole(name: str, value: Any) -> Tensor:
    """Whole numbers of a log as a tensor, -1 where they are masked."""
    if isinstance(value, Tensor):
        if value.is_floating_point() or value.is_complex():
            raise ValueError(f"{name}: found {_dtype(value)}, expected integers")
        return value
    if torch.compiler.is_compiling():
        return torch.as_tensor(value)
    if isinstance(value, np.ma.MaskedArray) and value.dtype.kind in "iub":
        value = value.astype(np.int64).filled(-1)
    numbers = _numbers(name, value, "iub", "integers")
    if numbers.dtype == np.uint64 and numbers.size and numbers.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{name}: found {numbers.max()}, expected integers of at most 63 bits")
    return torch.from_numpy(numbers.astype(np.int64))


def booleans(name: str, value: Any) -> Tensor:
    """Yes and no as a tensor."""
    if not isinstance(value, Tensor):
        if not torch.compiler.is_compiling():
            return torch.from_numpy(_numbers(name, value, "b", "booleans").astype(np.bool_))
        value = torch.as_tensor(value)
    if value.dtype != torch.bool:
        raise ValueError(f"{name}: found dtype {_dtype(value)}, expected booleans")
    return value


def _numbers(name: str, value: Any, kinds: str, expected: str) -> np.ndarray:
    if not hasattr(value, "__array__") and not isinstance(value, (list, tuple, int, float)):
        raise TypeError(f"{name}: found {type(value).__name__}, expected a number, an array or a tensor")
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ValueError(f"{name}: found a masked array, expected an array without masked entries")
    try:
        numbers = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name}: found what cannot become one ({error}), expected an array") from None
    if numbers.dtype.kind not in kinds:
        raise ValueError(f"{name}: found dtype {numbers.dtype}, expected {expected}")
    return numbers


def constant(name: str, value: Any) -> Any:
    """What a log or a choice is made of, through which no gradient goes."""
    if isinstance(value, Tensor) and value.requires_grad:
        raise ValueError(f"{name}: found a tensor that requires a gradient, and none goes through it; detach it first")
    return value


def array(tensor: Tensor) -> np.ndarray:
    """The numbers of a tensor as float64: where they lie if they can be read there."""
    tensor = tensor.detach()
    if tensor.dtype != torch.float64 or not tensor.is_cpu:
        tensor = tensor.to("cpu", torch.float64)
    return tensor.contiguous().numpy()


def plain(tensor: Tensor) -> np.ndarray:
    """The whole numbers or booleans of a tensor, where they lie if they can be read there."""
    return tensor.numpy() if tensor.is_cpu else tensor.cpu().numpy()


def tensor(answer: Any, like: Tensor) -> Tensor:
    """An answer, be it an array, a number or a tensor, with the type and on the device of `like`."""
    if isinstance(answer, Tensor):
        return answer.to(like)
    if isinstance(answer, float):
        return torch.scalar_tensor(answer, dtype=like.dtype, device=like.device)
    is_array = isinstance(answer, np.ndarray) and answer.dtype == np.float64
    return (torch.from_numpy(answer) if is_array else torch.as_tensor(answer, dtype=torch.float64)).to(like)


def copied(function: str, tensor: Tensor, reason: str) -> None:
    """Says, once for each function, that a tensor that is not on the CPU went through it."""
    if tensor.device.type != "cpu":
        _device.say_copy(f"restive.torch.{function}", reason if _device.has_triton() else "any of them without Triton")


def _dtype(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


__all__ = ["array", "booleans", "checked", "constant", "copied", "distributions", "plain", "setting", "tensor", "whole"]
