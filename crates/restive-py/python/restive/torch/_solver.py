"""What is solved by one call and goes back by another, as an operator: a native function whose answer has a pullback.

`horizon_index`, `plan_prices`, `fluid_value`, `decomposed_value`, `action_index` and `lagrangian_policy` are of one shape. Tensors and
settings go in, numbers of the type of P come out, and what was solved knows what their cotangents become on every tensor that went in. Said
once, here: schema, tape, what is remembered, the pullback as an operator beside it, and batches, which are a loop where a kernel has no axis
for them.

Whole numbers (states) are tensors without a gradient. A cotangent that nobody asked for is an empty tensor.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from ._border import array, checked, distributions, plain, setting, tensor, whole
from ._operator import Operator, batched, blank_tape, forget, refuse, solved_on, tape_of
from .index import _axes


#: pullbacks by the names of what they belong to: a compiler follows names of a module, but no object that a function encloses
_PULLBACKS: dict[str, Operator] = {}


class Solver:
    """An operator made of `solve`; called with its tensors and settings it returns its answers.

    Parameters
    ----------
    name : of the operator; its pullback is `name_pullback`
    tensors, settings, answers : names of the tensors, the rest of the schema, names of the answers
    solve : (*tensors, *settings) -> what was solved
    read : what was solved -> one array, tensor or number for each answer
    shapes : (*tensors, *settings) -> the shape of each answer
    pull_back : (what was solved, *cotangents of the answers) -> one cotangent for each tensor
    held : names of answers through which no gradient goes
    vmap, pullback_vmap : rules for batches; loops, unless given
    """

    def __init__(
        self,
        name: str,
        tensors: str,
        settings: str,
        answers: str,
        *,
        solve: Callable[..., Any],
        read: Callable[[Any], Sequence[Any]],
        shapes: Callable[..., Sequence[Sequence[int]]],
        pull_back: Callable[..., Sequence[Any]],
        held: str = "",
        vmap: Callable[..., Any] | None = None,
        pullback_vmap: Callable[..., Any] | None = None,
    ) -> None:
        names, found = tensors.split(), answers.split()
        n, a = len(names), len(found)
        is_held = [answer in held.split() for answer in found]

        def forward(*inputs: Any) -> tuple[Tensor, ...]:
            solved = solve(*inputs)
            return *(tensor(x, inputs[0]) for x in read(solved)), tape_of(solved, *inputs[:n])

        def forward_fake(*inputs: Any) -> tuple[Tensor, ...]:
            return *(inputs[0].new_empty(shape) for shape in shapes(*inputs)), blank_tape(inputs[0])

        def forward_vmap(call: Any, size: int, dims: Any, *inputs: Any) -> Any:
            *stacked, _ = looped(call, size, dims, inputs)
            return (*stacked, blank_tape(stacked[0])), (*[0] * a, None)

        def remember(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs[:n], output[a])
            ctx.settings = inputs[n:]
            ctx.mark_non_differentiable(*(x for x, no in zip(output, is_held) if no), output[a])

        def backward(ctx: Any, *d_outputs: Any) -> tuple[Any, ...]:
            wants = list(ctx.needs_input_grad[:n])
            *inputs, tape = ctx.saved_tensors
            back = _PULLBACKS[name].on_the_way_back(*d_outputs[:a], *inputs, *ctx.settings, tape, wants)
            return *(d if wanted else None for d, wanted in zip(back, wants)), *[None] * len(ctx.settings)

        def pullback(*given: Any) -> tuple[Tensor, ...]:
            d_answers, (*inputs, tape, wants) = given[:a], given[a:]
            solved = solved_on(tape, *inputs[:n])
            back = pull_back(solve(*inputs) if solved is None else solved, *d_answers)
            asked = zip(back, inputs[:n], wants, strict=True)
            return tuple(tensor(d, x) if wanted else inputs[0].new_empty(0) for d, x, wanted in asked)

        def pullback_fake(*given: Any) -> tuple[Tensor, ...]:
            inputs, wants = given[a : a + n], given[-1]
            return tuple(
                torch.empty_like(x, memory_format=torch.contiguous_format) if wanted else inputs[0].new_empty(0)
                for x, wanted in zip(inputs, wants)
            )

        def all_looped(call: Any, size: int, dims: Any, *given: Any) -> Any:
            return looped(call, size, dims, given), (0,) * n

        taken = f"{', '.join(f'Tensor {x}' for x in names)}{', ' if settings else ''}{settings}"
        _PULLBACKS[name] = Operator(
            f"{name}_pullback({', '.join(f'Tensor d_{x}' for x in found)}, {taken}, Tensor tape, bool[] wants)"
            f" -> ({', '.join(['Tensor'] * n)})",
            pullback,
            fake=pullback_fake,
            vmap=pullback_vmap or all_looped,
            remember=forget,
            backward=refuse,
        )
        self.operator = Operator(
            f"{name}({taken}) -> ({', '.join(['Tensor'] * (a + 1))})",
            forward,
            fake=forward_fake,
            vmap=vmap or forward_vmap,
            remember=remember,
            backward=backward,
        )

    def __call__(self, *inputs: Any) -> tuple[Tensor, ...]:
        return self.operator(*inputs)[:-1]


def looped(call: Any, size: int, dims: Any, inputs: Any) -> tuple[Tensor, ...]:
    """The outputs of every problem of a batch, stacked; what has no batch axis is that of all of them."""
    if not size:
        raise ValueError("vmap: found a batch of no problems, expected at least one")
    has_batch = [isinstance(dim, int) for dim in dims]
    moved = [x.movedim(dim, 0) if has else x for x, dim, has in zip(inputs, dims, has_batch)]
    each = [call(*(x[k] if has else x for x, has in zip(moved, has_batch))) for k in range(size)]
    return tuple(torch.stack(x) for x in zip(*each))


def batches_of_arms(n: int, axis: int, is_one_call: Callable[..., bool]) -> dict[str, Callable[..., Any]]:
    """Rules for batches where those of transitions alone are leading axes of one call, and so is their way back where nothing but
    transitions is asked for: the native module sums what arms share over all of them. Every other batch is a loop.

    `n` : how many tensors go in, P first; `axis`: where the answer has the batch; `is_one_call`: (P [B,...], *the other tensors), whether they
    mean the same with a batch in front as without.
    """

    def vmap(call: Any, size: int, dims: Any, P: Tensor, *rest: Any) -> Any:
        if size and isinstance(dims[0], int) and not any(isinstance(dim, int) for dim in dims[1:n]):
            in_front = batched(P, dims[0], size)
            if is_one_call(in_front, *rest[: n - 1]):
                return call(in_front, *rest), (axis, None)
        found, _ = looped(call, size, dims, (P, *rest))
        return (found, blank_tape(found)), (0, None)

    def pullback_vmap(call: Any, size: int, dims: Any, d: Tensor, P: Tensor, *rest: Any) -> Any:
        if size and not any(rest[-1][1:]) and not any(isinstance(dim, int) for dim in dims[2 : n + 1]):
            in_front = batched(P, dims[1], size)
            if is_one_call(in_front, *rest[: n - 1]):
                return call(batched(d, dims[0], size).movedim(0, axis), in_front, *rest), (0, *[None] * (n - 1))
        return looped(call, size, dims, (d, P, *rest)), (0,) * n

    return {"vmap": vmap, "pullback_vmap": pullback_vmap}


# ---- what goes in -----------------------------------------------------------------------------------------------------------------------


def arms(P: Any) -> Tensor:
    """Transitions, [...,N,M,2,M] or compact [...,N,4]; rows that came in half precision are scaled to sum to 1."""
    given, P = P, checked("P", P)
    return distributions(P, given.dtype) if P is not given and _axes(P, "nsas")[0] else P


def axes_and_states(P: Tensor) -> tuple[tuple[int, ...], int]:
    """The axes of the arms, and how many states they have."""
    is_full, axes = _axes(P, "nsas")
    return axes, P.shape[-1] if is_full else 2


def rewards_of(P: Tensor, rewards: Any) -> Tensor:
    """As they are, or linear ones."""
    return setting("rewards", rewards) if rewards is not None else linear(axes_and_states(P)[1])


def linear(m: int) -> Tensor:
    """Rewards of M states, from 0 to 1."""
    return torch.arange(m, dtype=torch.float64) / max(m - 1, 1)


def number(name: str, value: Any) -> Tensor:
    """A setting that is one number."""
    value = setting(name, value)
    if value.numel() != 1:
        raise ValueError(f"{name}: found shape {list(value.shape)}, expected a number")
    return value.reshape(())


def masses(name: str, value: Any) -> Tensor:
    """Distributions [N,M]; those that came in half precision are scaled to sum to 1."""
    is_half = isinstance(value, Tensor) and value.dtype in (torch.bfloat16, torch.float16)
    return distributions(setting(name, value), value.dtype) if is_half else setting(name, value)


def start(initial: Any) -> Tensor:
    """Where arms start: states [N], or distributions [N,M]."""
    given = initial if isinstance(initial, Tensor) else torch.as_tensor(initial)
    is_whole = not (given.is_floating_point() or given.is_complex())
    return whole("initial", initial).long() if given.ndim == 1 and is_whole else masses("initial", initial)


def told(initial: Tensor) -> Any:
    """Where arms start, as the native module takes it."""
    return array(initial) if initial.is_floating_point() else plain(initial)


def decisions(horizon: Any, ending: Any = "nothing") -> tuple[int, str]:
    """How many there are, and what the state after them counts for; whether there are such the native module says."""
    if not hasattr(horizon, "__index__"):
        raise TypeError(f"horizon: found {type(horizon).__name__}, expected a whole number")
    if not isinstance(ending, str):
        raise TypeError(f"ending: found {type(ending).__name__}, expected str")
    return operator.index(horizon), ending


__all__ = [
    "Solver",
    "arms",
    "axes_and_states",
    "batches_of_arms",
    "decisions",
    "linear",
    "looped",
    "masses",
    "number",
    "rewards_of",
    "start",
    "told",
]
