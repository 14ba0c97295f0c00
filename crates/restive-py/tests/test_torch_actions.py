"""Operators of arms with more than two actions: against the native module, against differences, and under everything that PyTorch does to
operators. (Backend "aot_eager": see test_transforms.py.)"""

import doctest

import numpy as np
import pytest
import restive

torch = pytest.importorskip("torch")
import restive.torch as layers  # noqa: E402
from torch.autograd import gradcheck  # noqa: E402
from torch.func import grad, vmap  # noqa: E402
from transforms import (  # noqa: E402
    compiled_exported_and_checkpointed_is_eager,
    gradients_are_those_of_autograd,
    second_derivatives_and_forward_mode_are_refused,
    vmap_is_a_loop,
)

RANDOM = np.random.default_rng(3)
N, M, A = 4, 3, 3


def arms(*axes):
    p = RANDOM.dirichlet(np.ones(M), size=(*axes, M, A)) * 0.85 + 0.15 / M
    return torch.tensor(p / p.sum(-1, keepdims=True))


P, START = arms(N), torch.tensor(RANDOM.dirichlet(np.ones(M), N))
COSTS, STEPS = torch.tensor([0.0, 0.7, 2.0]).double(), torch.tensor([0.7, 1.3]).double()
REWARDS, OWN = torch.tensor(RANDOM.random((M, A))), torch.tensor(RANDOM.random((N, M, A)))
DISCOUNT, DISCOUNTS = torch.tensor(0.9).double(), torch.tensor([0.8, 0.85, 0.9, 0.95]).double()
BUDGET = torch.tensor(2.5).double()


def costs_of(steps):
    """0, and then more and more."""
    return torch.nn.functional.pad(steps.cumsum(0), (1, 0))


def thresholds(p=P, costs=COSTS, rewards=REWARDS, discount=DISCOUNT):
    return layers.action_index(p, costs, rewards, discount)


def policy(p=P, costs=COSTS, initial=START, budget=BUDGET, rewards=REWARDS, discount=DISCOUNT):
    """The bound and the advantages in one tensor."""
    found = layers.lagrangian_policy(p, costs, initial, budget, rewards, discount)
    return torch.cat([found.bound.reshape(1), found.advantage.flatten()])


def test_thresholds_and_gradients_are_those_of_the_native_module():
    for p, rewards, discount in ((P, REWARDS, DISCOUNT), (P, OWN, DISCOUNTS), (arms(2, 3), REWARDS[:, 0], DISCOUNT), (P, None, DISCOUNT)):
        inputs = [None if x is None else x.clone().requires_grad_() for x in (p, COSTS, rewards, discount)]
        found = layers.action_index(*inputs)
        plain = [None if x is None else x.numpy() if x.dim() else x.item() for x in (p, COSTS, rewards, discount)]
        truth = restive.action_index(*plain)
        assert torch.equal(found, torch.tensor(truth.threshold))
        weight = torch.tensor(RANDOM.normal(size=found.shape))
        found.backward(weight)
        for x, d in zip(inputs, truth.pullback_all(weight.numpy()), strict=True):
            assert x is None or (torch.equal(x.grad, torch.as_tensor(np.asarray(d))) and x.grad.abs().max() > 0)


def test_lagrangian_policies_go_back_at_a_held_price():
    for rewards, discount in ((REWARDS, DISCOUNT), (OWN, DISCOUNTS)):
        inputs = [x.clone().requires_grad_() for x in (P, COSTS, START, BUDGET, rewards, discount)]
        found = layers.lagrangian_policy(*inputs)
        truth = restive.lagrangian_policy(*(x.numpy() if x.dim() else x.item() for x in (P, COSTS, START, BUDGET, rewards, discount)))
        assert truth.price > 0
        for name in ("price", "bound", "spent", "advantage"):
            assert torch.equal(getattr(found, name).detach(), torch.as_tensor(np.asarray(getattr(truth, name)))), name
        assert not found.price.requires_grad and not found.spent.requires_grad
        weight = torch.tensor(RANDOM.normal(size=found.advantage.shape))
        (2.0 * found.bound + (found.advantage * weight).sum()).backward()
        back = truth.pullback(2.0, weight.numpy())
        assert back.d_price != 0
        for x, d in zip(inputs, back[:6], strict=True):
            assert torch.equal(x.grad, torch.as_tensor(np.asarray(d))) and x.grad.abs().max() > 0
    states = layers.lagrangian_policy(P, COSTS, [0, 1, 2, 0], 2.5)
    assert torch.equal(states.bound, torch.tensor(restive.lagrangian_policy(P.numpy(), COSTS.numpy(), [0, 1, 2, 0], 2.5).bound, dtype=torch.float64))


def test_gradients_of_thresholds_are_those_of_differences():
    for rewards, discount in ((REWARDS, DISCOUNT), (OWN, DISCOUNTS)):
        inputs = [x.clone().requires_grad_() for x in (P.log(), STEPS, rewards, discount)]
        assert gradcheck(lambda p, c, r, g: thresholds(p.softmax(-1), costs_of(c), r, g), inputs)


def test_gradients_of_bounds_are_those_of_differences():
    # a budget that does not bind: nobody is at the margin, and the price, which is held, is 0 all around
    inputs = [x.clone().requires_grad_() for x in (P.log(), STEPS, START.log(), torch.tensor(50.0).double(), OWN, DISCOUNTS)]

    def found(p, c, start, k, r, g):
        return layers.lagrangian_policy(p.softmax(-1), costs_of(c), start.softmax(-1), k, r, g)

    assert found(*inputs).price == 0
    assert gradcheck(lambda *x: found(*x).bound, inputs)
    assert gradcheck(lambda *x: found(*x).advantage, inputs)
    # where it binds, the bound is smallest at the price: one arm's start, and the budget
    binding = [x.clone().requires_grad_() for x in (START.log(), BUDGET)]
    assert found(P.log(), STEPS, START.log(), BUDGET, OWN, DISCOUNTS).price > 0
    assert gradcheck(lambda s, k: found(P.log(), STEPS, s, k, OWN, DISCOUNTS).bound, binding)


def test_two_actions_are_whittle_indices():
    p = P[:, :, [0, 2]] / P[:, :, [0, 2]].sum(-1, keepdim=True)
    inputs = [p.clone().requires_grad_() for _ in range(2)]
    found, truth = layers.action_index(inputs[0], [0.0, 1.0], discount=0.95)[..., 0], layers.whittle_index(inputs[1], discount=0.95)
    torch.testing.assert_close(found, truth, rtol=1e-11, atol=1e-12)
    for answer in (found, truth):
        answer.sin().sum().backward()
    torch.testing.assert_close(inputs[0].grad, inputs[1].grad, rtol=1e-9, atol=1e-10)


def test_float32_is_answered_in_float32_and_half_precision_under_autocast():
    p = P.float().requires_grad_()
    found, priced = layers.action_index(p, [0.0, 0.7, 2.0]), layers.lagrangian_policy(p, COSTS, START.float(), 2.5)
    (found.sum() + priced.bound).backward()
    assert found.dtype == priced.advantage.dtype == p.grad.dtype == torch.float32
    with pytest.raises(ValueError, match="P: found bfloat16, expected float32 or float64"):
        layers.action_index(P.bfloat16(), COSTS)
    with torch.autocast("cpu", torch.bfloat16):
        half = layers.action_index(P.bfloat16(), COSTS)
    wide = P.bfloat16().float()
    torch.testing.assert_close(half, layers.action_index(wide / wide.sum(-1, keepdim=True), COSTS), rtol=1e-4, atol=1e-5)


# ---- transforms -------------------------------------------------------------------------------------------------------------------------

# functions of one tensor, and an input
FUNCTIONS = {
    "thresholds": (lambda x: thresholds(x.softmax(-1)), P.log()),
    "thresholds, leading axes": (lambda x: thresholds(x.softmax(-1), rewards=REWARDS[:, 1]), arms(2, 3).log()),
    "thresholds, rewards of each": (lambda x: thresholds(x.softmax(-1), rewards=OWN, discount=DISCOUNTS), P.log()),
    "costs": (lambda x: thresholds(costs=costs_of(x.exp())), STEPS.log()),
    "rewards": (lambda x: thresholds(rewards=x), REWARDS),
    "discount": (lambda x: thresholds(discount=x.sigmoid()), torch.tensor(2.0).double()),
    "policy": (lambda x: policy(x.softmax(-1)), P.log()),
    "policy's costs": (lambda x: policy(costs=costs_of(x.exp())), STEPS.log()),
    "policy's start": (lambda x: policy(initial=x.softmax(-1)), START.log()),
    "policy's budget": (lambda x: policy(budget=x.exp()), BUDGET.log()),
    "policy's rewards": (lambda x: policy(rewards=x), OWN),
}
named = pytest.mark.parametrize("name", FUNCTIONS)


@named
def test_gradients_of_functorch_are_those_of_autograd(name):
    gradients_are_those_of_autograd(*FUNCTIONS[name], is_exact=True)


@named
@pytest.mark.parametrize("axis", [0, -1])
def test_vmap_is_a_loop(name, axis):
    vmap_is_a_loop(*FUNCTIONS[name], axis)


@named
def test_second_derivatives_and_forward_mode_are_refused_and_not_zero(name):
    second_derivatives_and_forward_mode_are_refused(*FUNCTIONS[name])


@pytest.mark.parametrize("name", ["thresholds", "costs", "policy", "policy's budget"])
def test_compiled_exported_and_checkpointed_is_eager(name):
    compiled_exported_and_checkpointed_is_eager(*FUNCTIONS[name], is_inside=False)


def test_batches_of_transitions_are_one_call_there_and_one_back(monkeypatch):
    solved, native = [], restive.action_index
    monkeypatch.setattr(restive, "action_index", lambda *a: solved.append(a[0].shape) or native(*a))
    batch = torch.stack([P, P.flip(0)])
    found = vmap(thresholds)(batch)
    assert solved == [(2, N, M, A, M)]
    assert torch.equal(found, torch.stack([thresholds(p) for p in batch]))
    solved.clear()
    vmap(grad(lambda p: thresholds(p).sum()))(batch)
    assert solved == [(2, N, M, A, M)]
    solved.clear()
    vmap(lambda p, c: thresholds(p, costs_of(c)))(batch, torch.stack([STEPS, 2 * STEPS]))
    assert solved == [(N, M, A, M)] * 2


def test_operators_pass_opcheck():
    leaf = lambda x: x.clone().requires_grad_()  # noqa: E731
    blank = torch.empty(0, dtype=torch.uint8)
    for name, inputs in (("action_index", (P, COSTS, REWARDS, DISCOUNT)), ("lagrangian_policy", (P, COSTS, START, BUDGET, OWN, DISCOUNTS))):
        operator, back = getattr(torch.ops.restive, name).default, getattr(torch.ops.restive, f"{name}_pullback").default
        torch.library.opcheck(operator, tuple(map(leaf, inputs)))
        answers = operator(*inputs)[:-1]
        for wants in ([True] * len(inputs), [k == 1 for k in range(len(inputs))]):
            torch.library.opcheck(back, (*answers, *inputs, blank, wants))


@pytest.mark.parametrize(
    "changed",
    [
        {"P": P[0].numpy()},
        {"P": P[:, :, :1].numpy()},
        {"P": P[..., :2].numpy()},
        {"P": P.numpy() * 1.1},
        {"costs": np.array([0.0, 1.0])},
        {"costs": np.array([0.0, 2.0, 1.0])},
        {"costs": np.array([0.0, np.nan, 1.0])},
        {"rewards": np.ones((2, 2))},
        {"discount": 1.5},
        {"discount": np.full(3, 0.9)},
    ],
)
def test_what_is_wrong_is_said_in_the_words_of_the_native_module(changed):
    given = {"P": P.numpy(), "costs": COSTS.numpy(), **changed}
    with pytest.raises(ValueError) as truth:
        restive.action_index(**given)
    with pytest.raises(ValueError) as found:
        layers.action_index(**{key: torch.tensor(x) for key, x in given.items()})
    assert str(found.value) == str(truth.value)


def test_what_is_wrong_with_a_policy_is_said():
    for changed in ({"P": arms(2, 2).numpy()}, {"initial": np.array([0, 1, 2, 3])}, {"budget": -1.0}, {"initial": np.ones((4, 3))}):
        given = {"P": P.numpy(), "costs": COSTS.numpy(), "initial": np.zeros(4, int), "budget": 2.5, **changed}
        with pytest.raises(ValueError) as truth:
            restive.lagrangian_policy(**given)
        with pytest.raises(ValueError) as found:
            layers.lagrangian_policy(**{key: torch.tensor(x) for key, x in given.items()})
        assert str(found.value) == str(truth.value)
    with pytest.raises(ValueError, match=r"budget: found shape \[2\], expected a number"):
        layers.lagrangian_policy(P, COSTS, START, torch.ones(2))


def test_examples_run():
    for module in (layers.actions, layers.evaluation, layers.policy):
        found = doctest.testmod(module)
        assert found.attempted > 0 and found.failed == 0
