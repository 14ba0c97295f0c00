"""Kernels for tensors on a graphics processor: what `restive.torch` calls for CUDA tensors, so that they stay where they are.

One file per object, each with its maths at the top; written in Triton, which comes with PyTorch. Nothing here imports the native
module, and nothing imports this package but `restive.torch`.

    two_state    Whittle indices of two-state arms, and their pullback        any number of arms
    general      the sweep over subsidies for up to 16 states, with its tape  several arms per program
    slopes       what becomes of a cotangent on rewards and discount          in plain PyTorch
    soft_top_k   the threshold by reductions, pulls or log-odds, pullback     any number of problems and arms
    log_balance  the threshold of nearly strict and strict policies           the rows that the above leaves
    rows         the above as it is asked for, with arms that are absent      in plain PyTorch
    cwpdis       importance sampling arm by arm, and its pullback             any log
    evaluation   the above as it is asked for, of one problem or many         one problem at a time
    earned       what becomes of its cotangent on rewards and discount        in plain PyTorch
    crowd        the threshold where scores stand for masses                  one table of scores at a time
    fluid        the fluid value step by step, and its pullback               up to 64 states, any number of arms

**Numbers.** float64 inside, whatever comes: float32 is widened when it is read and rounded when it is written, as on the CPU.
**What is wrong** is noticed by the kernel that reads it, which raises a flag; the caller reads that flag once per forward pass,
and has the native module say what was wrong. No backward pass waits for the device. While a CUDA graph is captured nothing can
be read, so that flags are not looked at: arms and rows that are wrong are NaN then.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import warnings

import torch
from torch import Tensor


@functools.cache
def has_triton() -> bool:
    """Whether kernels can be compiled here."""
    return importlib.util.find_spec("triton") is not None


def takes(tensor: Tensor) -> bool:
    """Whether a tensor lies where these kernels work: on a CUDA device. (Triton's interpreter, which debugs kernels, works on the CPU.)"""
    return has_triton() and (tensor.is_cuda or os.environ.get("TRITON_INTERPRET") == "1")


_said: set[str] = set()


def say_copy(function: str, reason: str) -> None:
    """Says once for each function that its tensors go through the CPU."""
    if function not in _said:
        _said.add(function)
        warnings.warn(
            f"{function}: tensors on a graphics processor are copied to the CPU and back, because there is no kernel for {reason}; "
            "said once",
            stacklevel=4,
        )


@functools.lru_cache(maxsize=256)
def constants(device: torch.device, *values: float) -> Tensor:
    """Numbers that a kernel reads, float64 on the device; kept, so that handing over the same ones again does not wait for the
    device. (Numbers passed as arguments would be rounded to float32.)"""
    return torch.tensor(values, dtype=torch.float64, device=device)


def flags(device: torch.device, count: int) -> Tensor:
    """Flags that kernels raise, none of them raised."""
    return torch.zeros(count, dtype=torch.int32, device=device)


def raised(flags: Tensor) -> list[int]:
    """Which flags were raised: the one time that a forward pass waits for the device. None while a graph is captured."""
    if flags.is_cuda and torch.cuda.is_current_stream_capturing():
        return [0] * flags.numel()
    return flags.tolist()
