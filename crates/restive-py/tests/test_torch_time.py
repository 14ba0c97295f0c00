"""Operators of programmes that end and of values in a given world: what PyTorch asks of operators, gradients against differences, graphs that are
captured whole, and transforms against loops of plain calls. (Backend "aot_eager": see test_transforms.py.)"""

import doctest

import numpy as np
import pytest
import restive
from differences import arms

torch = pytest.importorskip("torch")
import restive.torch  # noqa: E402, F811
from torch.func import grad, vmap  # noqa: E402
from transforms import (  # noqa: E402
    CLOSE,
    compiled_exported_and_checkpointed_is_eager,
    gradients_are_those_of_autograd,
    second_derivatives_and_forward_mode_are_refused,
    slope_of,
    to_number,
    vmap_is_a_loop,
)


def world(seed=1, n=4, m=3):
    random = np.random.default_rng(seed)
    as_tensor = lambda x: torch.tensor(x, dtype=torch.float64, requires_grad=True)  # noqa: E731
    return {
        "P": as_tensor(arms(random, n, m)),
        "index": as_tensor(random.normal(size=(n, m)) * 0.3),
        "initial": as_tensor(random.dirichlet(np.ones(m), n)),
        "rewards": as_tensor(random.random((m, 2))),
        "occupancy": as_tensor(random.dirichlet(np.ones(m), n)),
        "budget": as_tensor(1.4),
        "temperature": as_tensor(0.2),
        "discount": as_tensor(0.9),
        "charge": as_tensor(0.1),
    }


def whole(plan):
    """Prices, bound and advantages of a plan in one tensor."""
    return torch.cat([plan.price, plan.bound.reshape(1), plan.advantage.flatten()])


FUNCTIONS = {
    "horizon_index": (("P", "rewards", "discount"), lambda P, r, g: restive.torch.horizon_index(P, 5, r, g, "state")),
    "plan_prices": (
        ("P", "initial", "rewards"),
        lambda P, start, r: restive.torch.plan_prices(P, start, 1.4, 4, r, 0.9, "state").advantage,
    ),
    "smooth_plan_prices": (
        ("P", "initial", "budget", "rewards", "discount", "temperature"),
        lambda P, start, k, r, g, e: whole(restive.torch.plan_prices(P, start, k, 4, r, g, "state", temperature=e)),
    ),
    "fluid_value": (
        ("P", "index", "initial", "budget", "temperature", "rewards", "discount"),
        lambda P, w, start, k, e, r, g: restive.torch.fluid_value(P, w, start, k, e, 4, r, g),
    ),
    "decomposed_value": (
        ("P", "index", "initial", "budget", "temperature", "charge", "occupancy", "rewards", "discount"),
        restive.torch.decomposed_value,
    ),
}


@pytest.mark.parametrize("name", ["horizon_index", "smooth_plan_prices", "fluid_value", "decomposed_value"])
def test_gradients_are_those_of_differences(name):
    names, function = FUNCTIONS[name]
    given = world()
    # behind a softmax, so that differences stay on the simplex
    logits = given["P"].detach().log().requires_grad_()
    start = given["initial"].detach().log().requires_grad_()
    inputs = [{"P": logits, "initial": start}.get(name, given[name]) for name in names]

    def chained(*inputs):
        on_simplex = [x.softmax(-1) if name in ("P", "initial") else x for name, x in zip(names, inputs, strict=True)]
        return function(*on_simplex)

    assert torch.autograd.gradcheck(chained, inputs, eps=1e-6, atol=1e-6, rtol=1e-5)


def test_plans_go_back_at_held_prices():
    given = world()
    plan = restive.torch.plan_prices(given["P"], given["initial"], 1.4, 4, given["rewards"], 0.9, "state")
    (2.0 * plan.bound + plan.advantage.sum()).backward()
    truth = restive.plan_prices(*(given[name].detach().numpy() for name in ("P", "initial")), 1.4, 4, given["rewards"].detach().numpy(), 0.9, "state")
    back = truth.pullback(2.0, np.ones((4, 4, 3)))
    for name in ("P", "initial", "rewards"):
        assert given[name].grad.numpy() == pytest.approx(getattr(back, f"d_{name}"), abs=1e-14)
    assert not plan.price.requires_grad and plan.bound.item() == truth.bound
    states = restive.torch.plan_prices(given["P"], torch.zeros(4, dtype=torch.int64), 1.4, 4)
    states.bound.backward()  # states have no gradient, and need none


def test_prices_without_a_derivative_are_refused_on_the_way_back():
    rewards = torch.tensor([[[0.0, 1.0]] * 2, [[0.0, 0.5]] * 2], dtype=torch.float64, requires_grad=True)
    plan = restive.torch.plan_prices(torch.full((2, 4), 0.5, dtype=torch.float64), [0, 1], 1, 1, rewards, temperature=1e-9)
    assert plan.is_converged.dtype == torch.bool and not plan.is_converged
    with pytest.raises(ValueError, match="temperature: found .*, expected one at which some arm is near every price"):
        plan.price.sum().backward(retain_graph=True)
    plan.bound.backward()  # which does not move with the prices
    assert rewards.grad[..., 1].sum().item() == pytest.approx(1.0)  # one pull is made, whoever gets it


def test_a_horizon_can_be_asked_of_whittle_index():
    P = given("P")
    assert torch.equal(restive.torch.whittle_index(P, horizon=3, ending="state"), restive.torch.horizon_index(P, 3, ending="state"))
    assert torch.equal(restive.torch.whittle_index(P, horizon=3, discount=0.9), restive.torch.horizon_index(P, 3, discount=0.9))
    with pytest.raises(ValueError, match="layout: found a setting, expected none beside a horizon"):
        restive.torch.whittle_index(P, horizon=3, layout="nass")


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_operators_are_what_pytorch_asks_for(name):
    given = world()
    P, initial, rewards, g, k, e = (given[x] for x in ("P", "initial", "rewards", "discount", "budget", "temperature"))
    inputs = {
        "horizon_index": (P, rewards, g, 5, "state"),
        "plan_prices": (P, initial, k, rewards, g, 4, "state"),
        "smooth_plan_prices": (P, initial, k, rewards, g, e, 4, "state"),
        "fluid_value": (P, given["index"], initial, k, e, rewards, g, 4),
        "decomposed_value": (P, given["index"], initial, k, e, given["charge"], given["occupancy"], rewards, g),
    }[name]
    torch.library.opcheck(getattr(torch.ops.restive, name).default, inputs)
    found = [x.detach() for x in getattr(torch.ops.restive, name)(*inputs)[:-1]]
    tensors = [x.detach() for x in inputs if isinstance(x, torch.Tensor)]
    settings = inputs[len(tensors) :]
    for wants in ([True] * len(tensors), [k % 2 == 0 for k in range(len(tensors))]):
        given = (*found, *tensors, *settings, torch.empty(0, dtype=torch.uint8), wants)
        torch.library.opcheck(getattr(torch.ops.restive, f"{name}_pullback").default, given)


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_graphs_are_captured_whole(name):
    names, function = FUNCTIONS[name]
    given = world()
    inputs = [given[name] for name in names]
    plain = torch.autograd.grad(function(*inputs).sum(), inputs)
    compiled = torch.compile(function, fullgraph=True, backend="aot_eager")
    again = torch.autograd.grad(compiled(*inputs).sum(), inputs)
    assert all(torch.equal(a, b) for a, b in zip(plain, again, strict=True))


def test_numbers_and_single_precision_will_do():
    P = world()["P"].detach().float().requires_grad_()
    found = restive.torch.horizon_index(P, 3)
    assert found.dtype == torch.float32 and found.shape == (3, 4, 3)
    found.sum().backward()
    assert P.grad.dtype == torch.float32
    value = restive.torch.fluid_value(P, found.detach(), np.zeros(4, int), 1, 0.1, 3)
    assert value.dtype == torch.float32 and value.ndim == 0


# ---- transforms: each against a loop of plain calls, or against autograd -----------------------------------------------------------------


GIVEN = {name: x.detach() for name, x in world().items()}  # once: a compiler does not draw random numbers


def given(name):
    return GIVEN[name]


def plan(**changed):
    """The bound and the advantages of a plan in one tensor."""
    inputs = {name: given(name) for name in ("P", "initial", "budget", "rewards", "discount")} | changed
    found = restive.torch.plan_prices(inputs["P"], inputs["initial"], inputs["budget"], 4, inputs["rewards"], inputs["discount"], "state")
    return torch.cat([found.bound.reshape(1), found.advantage.flatten()])


def smooth(**changed):
    inputs = {name: given(name) for name in ("P", "initial", "budget", "rewards", "discount", "temperature")} | changed
    return whole(restive.torch.plan_prices(**inputs, horizon=4, ending="state"))


def fluid(**changed):
    names = ("P", "index", "initial", "budget", "temperature", "rewards", "discount")
    inputs = {name: given(name) for name in names} | changed
    return restive.torch.fluid_value(**inputs, horizon=4)


def decomposed(**changed):
    inputs = GIVEN | changed
    return restive.torch.decomposed_value(**inputs)


def horizon(**changed):
    inputs = {name: given(name) for name in ("P", "rewards", "discount")} | changed
    return restive.torch.horizon_index(inputs["P"], 3, inputs["rewards"], inputs["discount"], "state")


# functions of one tensor, and an input
TRANSFORMED = {
    "horizon": (lambda x: horizon(P=x.softmax(-1)), given("P").log()),
    "horizon, leading axes": (
        lambda x: restive.torch.horizon_index(x.sigmoid(), 3),
        torch.linspace(-2, 2, 24, dtype=torch.float64).sin().reshape(2, 3, 4),
    ),
    "horizon, an axis of four arms of two": (  # with a batch in front these look like arms of four states
        lambda x: restive.torch.horizon_index(x.sigmoid(), 3),
        torch.linspace(-2, 2, 32, dtype=torch.float64).sin().reshape(4, 2, 4),
    ),
    "horizon, rewards of each": (lambda x: horizon(rewards=x), given("initial")),
    "horizon's rewards": (lambda x: horizon(rewards=x), given("rewards")),
    "horizon's discount": (lambda x: horizon(discount=x.sigmoid()), torch.tensor(1.5, dtype=torch.float64)),
    "plan": (lambda x: plan(P=x.softmax(-1)), given("P").log()),
    "plan's start": (lambda x: plan(initial=x.softmax(-1)), given("initial").log()),
    "plan's budget": (lambda x: plan(budget=4 * x.sigmoid()), torch.tensor(-0.6, dtype=torch.float64)),
    "plan's discount": (lambda x: plan(discount=x.sigmoid()), torch.tensor(1.5, dtype=torch.float64)),
    "smooth plan": (lambda x: smooth(P=x.softmax(-1)), given("P").log()),
    "smooth plan's temperature": (lambda x: smooth(temperature=x.exp()), torch.tensor(-1.0, dtype=torch.float64)),
    "fluid": (lambda x: fluid(P=x.softmax(-1)), given("P").log()),
    "fluid's index": (lambda x: fluid(index=x), given("index")),
    "fluid's budget": (lambda x: fluid(budget=4 * x.sigmoid()), torch.tensor(-0.6, dtype=torch.float64)),
    "fluid's temperature": (lambda x: fluid(temperature=x.exp()), torch.tensor(-1.0, dtype=torch.float64)),
    "fluid's discount": (lambda x: fluid(discount=x.sigmoid()), torch.tensor(1.5, dtype=torch.float64)),
    "fluid of states": (
        lambda x: restive.torch.fluid_value(given("P"), x, [0, 1, 2, 0], 1, 0.3, 4),
        given("index"),
    ),
    "decomposed": (lambda x: decomposed(P=x.softmax(-1)), given("P").log()),
    "decomposed, by charge": (lambda x: decomposed(charge=x), given("charge")),
    "decomposed, by occupancy": (lambda x: decomposed(occupancy=x.softmax(-1)), given("occupancy").log()),
}
transformed = pytest.mark.parametrize("name", TRANSFORMED)


@transformed
def test_gradients_of_functorch_are_those_of_autograd(name):
    gradients_are_those_of_autograd(*TRANSFORMED[name])


@transformed
@pytest.mark.parametrize("axis", [0, -1])
def test_vmap_is_a_loop(name, axis):
    vmap_is_a_loop(*TRANSFORMED[name], axis)


@transformed
def test_second_derivatives_and_forward_mode_are_refused_and_not_zero(name):
    second_derivatives_and_forward_mode_are_refused(*TRANSFORMED[name])


@pytest.mark.parametrize("name", ["horizon", "plan", "fluid", "fluid of states", "decomposed"])
def test_compiled_exported_and_checkpointed_is_eager(name):
    compiled_exported_and_checkpointed_is_eager(*TRANSFORMED[name])


def test_vmap_over_everything_at_once_and_twice_is_a_loop():
    P, budget, temperature = given("P").log(), torch.tensor([0.7, 1.4], dtype=torch.float64), torch.tensor([0.1, 0.2, 0.4], dtype=torch.float64)
    start = torch.tensor([[0, 1, 2, 0], [2, 2, 1, 0]])
    f = lambda x, s, k, e: restive.torch.fluid_value(x.softmax(-1), given("index"), s, k, e, 4)  # noqa: E731
    found = vmap(vmap(f, in_dims=(None, None, None, 0)), in_dims=(0, 0, 0, None))(torch.stack([P, 0.5 * P]), start, budget, temperature)
    for i, x in enumerate((P, 0.5 * P)):
        for j in range(3):
            torch.testing.assert_close(found[i, j], f(x, start[i], budget[i], temperature[j]), **CLOSE)
    with pytest.raises(ValueError, match="found a batch of no problems, expected at least one"):
        vmap(lambda k: fluid(budget=k))(torch.empty(0, dtype=torch.float64))


def test_batches_of_transitions_are_one_call_there_and_one_back(monkeypatch):
    solved, native = [], restive.horizon_index
    monkeypatch.setattr(restive, "horizon_index", lambda *a: solved.append(a[0].shape) or native(*a))
    f, x = TRANSFORMED["horizon"]
    batch = torch.stack([x, 0.5 * x])
    vmap(f)(batch)
    assert solved == [(2, 4, 3, 2, 3)]
    vmap(grad(to_number(f)))(batch)
    assert solved[1:] == [(2, 4, 3, 2, 3)] * len(solved[1:]) and len(solved) <= 3


def test_rewards_that_could_be_of_actions_or_of_arms_are_refused_in_batches_too():
    P = torch.full((3, 2, 4), 0.5, dtype=torch.float64)
    f = lambda P: restive.torch.horizon_index(P, 2, torch.eye(2))  # noqa: E731
    for refused in (lambda: f(P[0]), lambda: vmap(f)(P)):
        with pytest.raises(ValueError, match="of states and actions or of arms and states"):
            refused()


def test_a_tape_saves_a_second_solve_and_is_never_trusted_for_others(monkeypatch):
    solved, native = [], restive.fluid_value
    monkeypatch.setattr(restive, "fluid_value", lambda *a: solved.append(a) or native(*a))
    f, x = TRANSFORMED["fluid"]
    slope_of(f, x)
    assert len(solved) == 1
    grad(to_number(f))(x)
    assert len(solved) == 2
    vmap(grad(to_number(f)))(torch.stack([x, 0.5 * x]))  # solved anew on the way back
    assert len(solved) == 6


def test_half_precision_is_taken_under_autocast_alone():
    P, index, start = (given(name).bfloat16() for name in ("P", "index", "initial"))
    with pytest.raises(ValueError, match="P: found bfloat16, expected float32 or float64"):
        restive.torch.fluid_value(P, index, start, 1, 0.1, 3)
    with torch.autocast("cpu", torch.bfloat16):
        found = restive.torch.fluid_value(P, index, start, 1, 0.1, 3)
        assert restive.torch.horizon_index(P, 3).dtype == found.dtype == torch.float32
    wide, mass = (x.float() / x.float().sum(-1, keepdim=True) for x in (P, start))
    # masses are scaled in float64
    torch.testing.assert_close(found, restive.torch.fluid_value(wide, index.float(), mass, 1, 0.1, 3), rtol=1e-6, atol=0.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fluid(budget=torch.ones(2)), r"budget: found shape \[2\], expected a number"),
        (lambda: restive.torch.horizon_index(given("P"), 2.5), "horizon: found float, expected a whole number"),
        (lambda: restive.torch.horizon_index(given("P"), 2, ending=1), "ending: found int, expected str"),
        (lambda: restive.torch.horizon_index(given("P"), 0), "horizon"),
        (lambda: fluid(initial=[0, 1, 2, 3]), "initial: arm 3: found 3, expected a state from 0 to 2"),
        (lambda: decomposed(initial=2 * given("initial")), "initial: arm 0"),
        (lambda: plan(budget=-1), "budget"),
    ],
)
def test_what_is_wrong_is_said(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def test_examples_run():
    for module in (restive.torch.horizon, restive.torch.prices, restive.torch.values):
        found = doctest.testmod(module)
        assert found.attempted > 0 and found.failed == 0
