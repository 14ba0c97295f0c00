"""How a kernel becomes an operator of PyTorch, `restive::name`, that compilers and transforms see as one step.

An operator is a kernel with a schema, the shapes of its answers (`fake`, for tracing without numbers), a rule for batches (`vmap`), what
it remembers, and its pullback, which is an operator again. The pullback of a pullback refuses: first derivatives only. (A rule for batches
is told by which door it was entered, and leaves by the same.)

There are two doors to it. `torch.library` has the operator itself: what `torch.compile` and `torch.export` put into a graph. Functions of
`restive.torch` go through an `autograd.Function` around it, because `register_autograd` alone refuses `torch.func.grad` and answers
forward-mode derivatives with zeros (pytorch/pytorch#168393). Outside of transforms that is a Function of the older kind, which
PyTorch applies without binding its arguments by name: 8 µs less a call. And where nobody watches operators (no mode of tracing, no tensors
of a kind of their own) it calls the kernel itself: the way through the dispatcher and back costs several times what a small problem does.

**A tape.** What a forward pass leaves for the way back is no tensor but an object of the native module. It travels as an attribute of an
empty tensor, which autograd, checkpoints and compiled graphs hand on like any other; where it got lost, or belongs to other inputs, the
pullback solves again. It is a saving, never a condition.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

Kernel = Callable[..., Any]


class Operator:
    """A kernel as an operator of PyTorch; called like a function of its schema."""

    def __init__(self, schema: str, kernel: Kernel, *, fake: Kernel, vmap: Kernel, remember: Kernel, backward: Kernel) -> None:
        name, arguments = schema.split("(", 1)
        defined = torch.library.custom_op(f"restive::{name}", kernel, mutates_args=(), schema=f"({arguments}")
        defined.register_fake(fake)
        defined.register_autograd(backward, setup_context=remember)
        operator = getattr(torch.ops.restive, name).default
        defined.register_vmap(lambda info, dims, *inputs: vmap(operator, info.batch_size, dims, *inputs))

        def direct(*inputs: Any) -> Any:
            return operator(*inputs) if _is_watched(inputs) else kernel(*inputs)

        class Transformed(torch.autograd.Function):
            """What `torch.func` and compilers go through."""

            @staticmethod
            def forward(*inputs: Any) -> Any:
                return operator(*inputs)

            @staticmethod
            def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
                remember(ctx, inputs, output)

            @staticmethod
            def backward(ctx: Any, *d_outputs: Any) -> Any:
                return backward(ctx, *d_outputs)

            @staticmethod
            def vmap(info: Any, dims: Any, *inputs: Any) -> Any:
                return vmap(self, info.batch_size, dims, *inputs)

        class Plain(torch.autograd.Function):
            """The same without transforms."""

            @staticmethod
            def forward(ctx: Any, *inputs: Any) -> Any:
                output = direct(*inputs)
                remember(ctx, inputs, output)
                return output

            @staticmethod
            def backward(ctx: Any, *d_outputs: Any) -> Any:
                return backward(ctx, *d_outputs)

        self.direct, self.transformed, self.plain = direct, Transformed, Plain

    def on_the_way_back(self, *inputs: Any) -> Any:
        """A call by a backward pass, which nobody differentiates unless a graph of it is asked for."""
        return self(*inputs) if torch.is_grad_enabled() else self.direct(*inputs)

    def __call__(self, *inputs: Any) -> Any:
        if torch.compiler.is_compiling() or torch._C._are_functorch_transforms_active():
            return self.transformed.apply(*inputs)
        return self.plain.apply(*inputs)


def _is_watched(inputs: Any) -> bool:
    """Whether somebody sees operators go by: a compiler, a mode, a tracer, or tensors that are more than PyTorch's own."""
    return (
        torch.compiler.is_compiling()
        or torch._C._len_torch_dispatch_stack() > 0
        or torch._C._are_functorch_transforms_active()
        or torch.jit.is_tracing()
        or any(isinstance(x, Tensor) and type(x) not in (Tensor, torch.nn.Parameter) for x in inputs)
    )


def refuse(ctx: Any, *_: Any) -> Any:
    """The pullback of a pullback. (PyTorch's `once_differentiable` lets a second derivative by saved inputs pass as zero.)"""
    raise RuntimeError("restive.torch: first derivatives only, a second backward is not available")


def forget(ctx: Any, inputs: Any, output: Any) -> None:
    """What a pullback remembers: nothing."""


def tape_of(solved: Any, *inputs: Tensor | None) -> Tensor:
    """An empty tensor that carries what was solved, and of which inputs (which it keeps alive, so that their memory is theirs)."""
    tape = inputs[0].new_empty(0, dtype=torch.uint8)  # type: ignore[union-attr]
    tape.restive = (inputs, solved)  # type: ignore[attr-defined]
    return tape


def blank_tape(like: Tensor) -> Tensor:
    """A tape with nothing on it."""
    return like.new_empty(0, dtype=torch.uint8)


def solved_on(tape: Tensor, *inputs: Tensor | None) -> Any:
    """What a tape carries, if it was solved for the very same memory; or None."""
    then, solved = getattr(tape, "restive", ((), None))
    return solved if list(map(_place, then)) == list(map(_place, inputs)) else None


def _place(tensor: Tensor | None) -> Any:
    return None if tensor is None else (tensor.data_ptr(), tensor.dtype, tensor.shape, tensor.stride())


def batched(tensor: Tensor, dim: int | None, size: int) -> Tensor:
    """A tensor with its batch axis in front, expanded where it has none."""
    return tensor.expand(size, *tensor.shape) if dim is None else tensor.movedim(dim, 0)


def of_each(x: Tensor | None, dim: int | None, size: int, axes: torch.Size, tail: int, always: bool = False) -> Tensor | None:
    """What problems have, for a batch of them: [size,*axes] in front of its last `tail` axes; or as it is, where all share it and no batch
    differs in it (`always`: there too)."""
    if x is None:
        return None
    is_own = x.dim() - (dim is not None) > tail
    if not (is_own or always) and dim is None:
        return x
    x = batched(x, dim, size)
    x = x if is_own else x.reshape(size, *[1] * len(axes), *x.shape[1:])
    return x.expand(size, *axes, *x.shape[x.dim() - tail :])


def summed(d: Tensor, x: Tensor, dim: int | None, axes: torch.Size, tail: int) -> Tensor:
    """What a cotangent `of_each` problem is on what the problems of a batch share."""
    is_own = x.dim() - (dim is not None) > tail
    return d if is_own or not axes else d.flatten(1, len(axes)).sum(1)


__all__ = ["Operator", "batched", "blank_tape", "forget", "of_each", "refuse", "solved_on", "summed", "tape_of"]
