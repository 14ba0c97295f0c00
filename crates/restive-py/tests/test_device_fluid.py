"""The fluid value on a graphics processor: against a slow float64 reference of its own (tests/device.py), gradcheck, and, where it is
installed, the native module. When it is skipped: see test_device.py."""

import importlib

import pytest
import torch
from device import arms_of, fluid_by_bisection
from test_device import CLOSE, DEVICE, _nothing_goes_through_the_cpu, beside_native, layers, on_device, restive  # noqa: F401
from torch.autograd import gradcheck

NAMES = ("P", "index", "initial", "budget", "temperature", "rewards", "discount")


def world(n, m, tables, budget, temperature, rewards="m", compact=False, seed=3):
    """The seven inputs on the CPU, in float64; `rewards` names their axes."""
    random = torch.Generator().manual_seed(seed)
    draw = lambda *shape: torch.rand(*shape, dtype=torch.float64, generator=random)  # noqa: E731
    P, initial, sizes = arms_of(n, m), draw(n, m) ** 2, {"n": n, "m": m, "a": 2}
    index = 0.3 * torch.randn(*([tables] if tables else []), n, m, dtype=torch.float64, generator=random)
    numbers = [torch.tensor(float(x), dtype=torch.float64) for x in (budget, temperature, 0.9)]
    earns = draw(*(sizes[axis] for axis in rewards))
    P = P[..., 1].reshape(n, 4) if compact else P
    return [P, index, initial / initial.sum(-1, keepdim=True), *numbers[:2], earns, numbers[2]]


def value(P, index, initial, budget, temperature, rewards, discount, horizon):
    return layers.fluid_value(P, index, initial, budget, temperature, horizon, rewards, discount)


def found(inputs, horizon):
    """Value and gradients of the kernels, on the CPU."""
    moved = [x.clone().to(DEVICE).requires_grad_() for x in inputs]
    answer = value(*moved, horizon)
    assert answer.device.type == DEVICE and answer.ndim == 0
    return answer.detach().cpu(), [d.cpu() for d in torch.autograd.grad(1.7 * answer, moved)]


def assert_same(gradients, truths, atol):
    for name, d, truth in zip(NAMES, gradients, truths, strict=True):
        truth = torch.as_tensor(truth, dtype=torch.float64)
        size = max(1.0, float(truth.abs().max()))
        torch.testing.assert_close(d, truth, rtol=0.0, atol=atol * size, msg=lambda said, name=name: f"{name}: {said}")


# arms, states, tables, steps, budget, temperature, axes of rewards, compact
CASES = [
    (1, 2, 0, 3, 0.4, 0.2, "m", False),
    (7, 2, 0, 5, 2.5, 0.2, "ma", True),
    (9, 3, 4, 4, 2, 0.1, "nm", False),
    (9, 5, 2, 4, 2, 20.0, "nma", False),  # fewer tables than steps
    (9, 4, 6, 4, 2.25, 0.05, "m", False),  # more
    (700, 4, 2, 3, 100.5, 0.05, "m", False),  # more than a sample
    (1500, 2, 0, 4, 200, 0.1, "ma", True),
]
# nearly strict: one mass is at the threshold
SHARP = [(9, 5, 0, 4, 2.25, 1e-3, "m", False), (700, 3, 2, 3, 40.3, 1e-5, "ma", False), (8, 2, 0, 4, 3.7, 3e-3, "m", True)]
# nobody, more than everybody, strict
FIXED = [(6, 2, 0, 4, 0, 0.1, "m", True), (6, 3, 0, 4, 6.5, 0.1, "m", False), (6, 3, 2, 4, 2.3, 0.0, "nma", False)]


@on_device
@pytest.mark.parametrize(("n", "m", "tables", "horizon", "budget", "temperature", "rewards", "compact"), CASES)
def test_value_and_gradients_are_those_of_bisection(n, m, tables, horizon, budget, temperature, rewards, compact):
    inputs = world(n, m, tables, budget, temperature, rewards, compact)
    answer, gradients = found(inputs, horizon)
    free = [x.clone().requires_grad_() for x in inputs]
    P = torch.stack([1.0 - free[0], free[0]], -1).reshape(n, 2, 2, 2) if compact else free[0]
    truth = fluid_by_bisection(P, *free[1:], horizon)
    truths = list(torch.autograd.grad(1.7 * truth, free))
    if not compact:  # along the simplex
        truths[0] = truths[0] - truths[0].mean(-1, keepdim=True)
    torch.testing.assert_close(answer, truth.detach(), **CLOSE)
    assert_same(gradients, truths, atol=1e-11)  # bisection stops at the rounding of the sum


@on_device
@beside_native
@pytest.mark.parametrize(
    ("n", "m", "tables", "horizon", "budget", "temperature", "rewards", "compact"), [*CASES, *SHARP, *FIXED]
)
def test_value_and_gradients_are_those_of_the_native_module(n, m, tables, horizon, budget, temperature, rewards, compact):
    inputs = world(n, m, tables, budget, temperature, rewards, compact)
    answer, gradients = found(inputs, horizon)
    P, index, initial, k, e, earns, g = (x.numpy() if x.ndim else x.item() for x in inputs)
    native = restive.fluid_value(P, index, initial, k, e, horizon, earns, g)
    assert answer.item() == pytest.approx(native.value, rel=1e-12)
    # a price that all but one of the arms decide nothing about cancels before it is divided by the temperature
    assert_same(gradients, native.pullback(1.7), atol=1e-12 * max(1.0, 1e-3 / temperature if temperature else 1.0))


@on_device
@beside_native
@pytest.mark.parametrize(
    ("n", "m", "tables", "budget", "temperature"), [(9, 5, 0, 2, 2e-3), (9, 3, 3, 4, 1e-4), (700, 3, 0, 40, 1e-5), (8, 2, 0, 3, 5e-3)]
)
def test_whole_budgets_of_arms_in_known_states_need_the_balance_of_logarithms(n, m, tables, budget, temperature, monkeypatch):
    crowd = importlib.import_module("restive._device.crowd")
    settle, settled = crowd.settle, []
    monkeypatch.setattr(crowd, "settle", lambda *given: settled.append(settle(*given)) or settled[-1])
    inputs = world(n, m, tables, budget, temperature)
    inputs[2] = torch.eye(m, dtype=torch.float64)[torch.arange(n) % m]
    answer, gradients = found(inputs, 3)
    P, index, initial, k, e, earns, g = (x.numpy() if x.ndim else x.item() for x in inputs)
    native = restive.fluid_value(P, index, initial, k, e, 3, earns, g)
    assert len(settled) == 3
    for (reference, theta, *_), truth in zip(settled, native.threshold, strict=True):
        assert reference + e * theta == pytest.approx(truth, rel=1e-12)
    assert answer.item() == pytest.approx(native.value, rel=1e-12)
    assert_same(gradients, native.pullback(1.7), atol=1e-12 * max(1.0, 1e-3 / temperature))


@on_device
@pytest.mark.parametrize(("n", "m", "tables", "budget", "temperature"), [(4, 3, 0, 1.4, 0.2), (3, 2, 2, 1, 0.3), (4, 2, 0, 1.3, 0.02)])
def test_gradients_are_those_of_differences(n, m, tables, budget, temperature):
    P, index, initial, *others = (x.to(DEVICE) for x in world(n, m, tables, budget, temperature, "ma" if n != m else "m"))
    inputs = [P.log(), index, initial.log(), *others]  # behind a softmax, so that differences stay on the simplex

    def chained(logits, index, start, *others):
        return value(logits.softmax(-1), index, start.softmax(-1), *others, 4)

    assert gradcheck(chained, [x.clone().requires_grad_() for x in inputs], eps=1e-6, atol=1e-5, rtol=1e-4, fast_mode=True)


@on_device
def test_everybody_is_pulled_with_a_budget_of_as_many():
    inputs = world(5, 3, 0, 5, 0.1)
    alone, gradients = found(inputs, 4)
    every, truths = found([*inputs[:3], inputs[3] + 1.0, *inputs[4:]], 4)
    torch.testing.assert_close(alone, every, **CLOSE)
    for k in (0, 1, 5, 6):  # budget and start stand at a kink
        torch.testing.assert_close(gradients[k], truths[k], rtol=1e-12, atol=1e-12)


@on_device
def test_single_precision_states_as_a_start_and_numbers_will_do():
    P, index, *_ = world(6, 3, 0, 2, 0.1)
    P, index = P.float().to(DEVICE).requires_grad_(), index.float().to(DEVICE).requires_grad_()
    start = torch.tensor([0, 1, 2, 0, 1, 2])
    single = layers.fluid_value(P, index, start, 2.5, 0.5, 3)
    single.backward()
    wide = P.detach().double()
    wide = (wide / wide.sum(-1, keepdim=True)).requires_grad_()
    double = layers.fluid_value(wide, index.detach().double(), start, 2.5, 0.5, 3)
    double.backward()
    assert single.dtype == P.grad.dtype == index.grad.dtype == torch.float32
    torch.testing.assert_close(single, double.float(), rtol=2e-7, atol=0.0)
    torch.testing.assert_close(P.grad, wide.grad.float(), rtol=2e-6, atol=1e-7)  # a discount of .99 is rounded too


@on_device
def test_the_operator_is_what_pytorch_asks_for_and_the_same_every_time():
    inputs = [x.to(DEVICE).requires_grad_() for x in world(1500, 2, 2, 100.5, 0.1)]
    torch.library.opcheck(torch.ops.restive.fluid_value.default, (*inputs, 3))
    once, again = (torch.autograd.grad(value(*inputs, 3), inputs) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(once, again, strict=True))


@on_device
@beside_native
@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("P", lambda x: x + 0.1, "a sum of"),
        ("index", lambda x: x * torch.nan, "index"),
        ("initial", lambda x: 2 * x, "initial: arm 0"),
        ("initial", lambda x: x[:, :2], "initial"),
        ("budget", lambda x: x - 5, "budget"),
        ("temperature", lambda x: -x, "temperature"),
        ("rewards", lambda x: x / 0, "rewards"),
        ("discount", lambda x: x + 1, "discount"),
    ],
)
def test_what_is_wrong_is_said_as_on_the_cpu(name, change, message):
    inputs = [x.to(DEVICE) for x in world(4, 3, 0, 2, 0.1)]
    with pytest.raises(ValueError, match=message):
        value(*(change(x) if name == what else x for what, x in zip(NAMES, inputs, strict=True)), 3)


def test_what_has_no_kernel_is_left_to_the_cpu():
    pytest.importorskip("triton")
    fluid = importlib.import_module("restive._device.fluid")
    assert fluid.covers(*world(3, 5, 0, 1, 0.1)) and fluid.covers(*world(3, 2, 4, 1, 0.1, "nma", True)) and fluid.covers(*world(2, 64, 0, 1, 0.1))
    assert not fluid.covers(*world(2, 65, 0, 1, 0.1))
    assert not fluid.covers(*world(2, 2, 0, 1, 0.1, "ma"))  # of states and actions, or of arms and states
    P, index, *others = world(3, 2, 0, 1, 0.1)
    assert not fluid.covers(P, index[:2], *others) and not fluid.covers(P[None], index, *others)
    assert not fluid.covers(P.to("meta"), index, *others)
