"""The operators of `restive.torch.time`: what PyTorch asks of operators, gradients against differences, graphs that are captured whole."""

import numpy as np
import pytest
import restive
from differences import arms

torch = pytest.importorskip("torch")
import restive.torch  # noqa: E402, F811


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


FUNCTIONS = {
    "horizon_index": (("P", "rewards", "discount"), lambda P, r, g: restive.torch.horizon_index(P, 5, r, g, "state")),
    "plan_prices": (
        ("P", "initial", "rewards"),
        lambda P, start, r: restive.torch.plan_prices(P, start, 1.4, 4, r, 0.9, "state").advantage,
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


@pytest.mark.parametrize("name", ["horizon_index", "fluid_value", "decomposed_value"])
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


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_operators_are_what_pytorch_asks_for(name):
    given = world()
    P, initial, rewards, g, k, e = (given[x] for x in ("P", "initial", "rewards", "discount", "budget", "temperature"))
    inputs = {
        "horizon_index": (P, rewards, g, 5, "state"),
        "plan_prices": (P, initial, k, rewards, g, 4, "state"),
        "fluid_value": (P, given["index"], initial, k, e, rewards, g, 4),
        "decomposed_value": (P, given["index"], initial, k, e, given["charge"], given["occupancy"], rewards, g),
    }[name]
    torch.library.opcheck(getattr(torch.ops.restive, name).default, inputs)


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
