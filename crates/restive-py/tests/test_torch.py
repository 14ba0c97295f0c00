"""Layers for PyTorch: their gradients against finite differences, their types, and what they refuse.

Differences are gradcheck's (steps of 1e-6 in float64, 1e-5 absolute, 1e-3 relative), taken behind a softmax, because only
directions that keep the rows of P on the simplex mean anything.
"""

import copy
import pickle

import numpy as np
import pytest
import restive
import restive.torch as layers
import torch
from restive.torch import _border
from torch.autograd import gradcheck


def logits(*shape):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(7)).requires_grad_()


FULL = [
    (2, {}),
    (3, {}),
    (5, {}),
    (3, {"discount": 1.0}),
    (2, {"rewards": [[0.0, 0.3], [1.0, 0.8]]}),
    (4, {"rewards": [0.0, 2.0, 1.0, 3.0]}),
]
COLLAPSING = [(2, {"chain": 4}), (3, {"chain": 3}), (2, {"chain": "infinite", "beliefs": 6})]


@pytest.mark.parametrize(("m", "settings"), FULL)
def test_index_passes_gradcheck_behind_a_softmax(m, settings):
    assert gradcheck(lambda x: layers.whittle_index(x.softmax(-1), **settings), (logits(6, m, 2, m),))


@pytest.mark.parametrize(("m", "settings"), COLLAPSING)
def test_index_of_collapsing_arms_passes_gradcheck_behind_a_softmax(m, settings):
    layer = layers.WhittleIndex(observation="collapsing", discount=0.9, **settings)
    assert gradcheck(lambda x: layer(x.softmax(-1)), (logits(5, m, 2, m),))


def test_index_of_compact_arms_passes_gradcheck_behind_a_sigmoid():
    assert gradcheck(lambda x: layers.whittle_index(x.sigmoid()), (logits(8, 4),))


def test_index_in_the_other_layout_is_the_same_index():
    P = logits(4, 3, 2, 3).softmax(-1)
    assert gradcheck(lambda x: layers.whittle_index(x.softmax(-1), layout="nass"), (logits(4, 2, 3, 3),))
    torch.testing.assert_close(layers.whittle_index(P.transpose(1, 2), layout="nass"), layers.whittle_index(P))


@pytest.mark.parametrize("m", [2, 3, 5])
def test_rows_of_the_gradient_sum_to_zero(m):
    P = logits(6, m, 2, m).softmax(-1).detach().requires_grad_()
    layers.whittle_index(P).sin().sum().backward()
    assert P.grad.abs().max() > 0.01
    assert P.grad.sum(-1).abs().max() < 1e-12 * P.grad.abs().max()  # rounding


def test_soft_top_k_passes_gradcheck_in_scores_and_temperature():
    temperature = torch.tensor(0.4, dtype=torch.float64, requires_grad=True)
    assert gradcheck(lambda x, e: layers.soft_top_k(x, 2.5, e), (logits(2, 3, 7), temperature))
    assert gradcheck(lambda x: layers.SoftTopK(2, 0.3)(x), (logits(7),))


@pytest.mark.parametrize("log_odds", [False, True])
def test_soft_top_k_passes_gradcheck_in_budgets_and_temperatures_of_each_problem(log_odds):
    budget = (6 * logits(2, 3).sigmoid()).detach().requires_grad_()
    temperature = logits(2, 3).exp().detach().requires_grad_()
    assert gradcheck(lambda x, k, e: layers.soft_top_k(x, k, e, log_odds=log_odds), (logits(2, 3, 7), budget, temperature))
    one = torch.tensor(2.5, dtype=torch.float64, requires_grad=True)
    assert gradcheck(lambda k: layers.soft_top_k(logits(2, 3, 7).detach(), k, 0.4, log_odds=log_odds), (one,))
    together = layers.soft_top_k(logits(2, 3, 7), budget, temperature, log_odds=log_odds)
    for k in np.ndindex(2, 3):
        alone = layers.soft_top_k(logits(2, 3, 7)[k], budget[k].item(), temperature[k].item(), log_odds=log_odds)
        torch.testing.assert_close(together[k], alone, rtol=1e-14, atol=0)


REWARDS = {
    "[M]": (lambda n: logits(2), (5,)),
    "[M,2]": (lambda n: logits(2, 2), (5,)),
    "[N,M]": (lambda n: logits(n, 2), (5,)),
    "[N,M,2]": (lambda n: logits(n, 2, 2), (5,)),
    "[2,N,M,2]": (lambda n: logits(2, n, 2, 2), (2, 5)),
}


@pytest.mark.parametrize("form", ["compact", "full", "nass"])
@pytest.mark.parametrize("shape", REWARDS)
def test_index_of_two_states_passes_gradcheck_in_rewards_and_discount(form, shape):
    rewards, axes = REWARDS[shape]
    rewards = rewards(5)
    layout = "nass" if form == "nass" else "nsas"
    p = logits(*axes, 4).sigmoid() if form == "compact" else logits(*axes, 2, 2, 2).softmax(-1)
    p = p.detach()
    for discount in (torch.tensor(0.8), logits(*axes).sigmoid().detach()):
        discount = discount.double().requires_grad_()
        index = lambda r, g: layers.whittle_index(p, r, g, layout=layout)  # noqa: B023, E731
        assert gradcheck(index, (rewards, discount))
        loop = [
            layers.whittle_index(
                p[k][None],
                rewards if len(shape) < 6 and "N" not in shape else rewards[k],
                discount if not discount.dim() else discount[k],
                layout=layout,
            )[0]
            for k in np.ndindex(*axes)
        ]
        torch.testing.assert_close(index(rewards, discount).flatten(0, -2), torch.stack(loop), rtol=1e-14, atol=0)


@pytest.mark.parametrize("settings", [{}, {"observation": "collapsing", "chain": 3}])
@pytest.mark.parametrize("shape", [(3,), (3, 2), (4, 3), (4, 3, 2)])
def test_index_of_more_states_passes_gradcheck_in_rewards_and_discount(shape, settings):
    P, rewards = logits(4, 3, 2, 3).softmax(-1).detach(), logits(*shape)
    for discount in (torch.tensor(0.8), logits(4).sigmoid().detach()):
        discount = discount.double().requires_grad_()
        assert gradcheck(lambda r, g: layers.whittle_index(P, r, g, **settings), (rewards, discount))


def test_cwpdis_passes_gradcheck_in_rewards_and_discount():
    state, action, reward = log_of(3, 5)
    z, discount = logits(4, 3, 5).detach(), torch.tensor(0.8, dtype=torch.float64, requires_grad=True)
    state[0, 1, 2], action[1, 1, 3] = -1, -1
    for rewards in (logits(3), logits(3, 2), torch.tensor(reward, requires_grad=True)):
        if rewards.dim() == 2:
            action[1, 1, 3] = 0  # with R(s,a) an action that is not known leaves the reward open
        for up_to in ("this-step", "previous-step"):
            judge = lambda r, g: layers.cwpdis(z, state, action, r, budget=2, discount=g, ratio_up_to=up_to, log_odds=True)  # noqa: B023, E731
            assert gradcheck(judge, (rewards, discount))
    layer = layers.Cwpdis(state, action, torch.nn.Parameter(torch.rand(3)), budget=2, log_odds=True)
    layer(z.float()).backward()
    (rewards,) = layer.parameters()
    assert rewards.grad.dtype == torch.float32 and rewards.grad.abs().max() > 0


def test_leading_axes_are_more_arms():
    P = logits(2, 3, 4, 3, 2, 3).softmax(-1)
    index = layers.whittle_index(P)
    assert index.shape == (2, 3, 4, 3)
    torch.testing.assert_close(index.flatten(0, 2), layers.whittle_index(P.flatten(0, 2)), rtol=0, atol=0)
    P, c = P.detach(), logits(2, 3, 4, 3).detach()
    index, d_P = layers.whittle_index_and_pullback(P, c)
    assert index.shape == c.shape and d_P.shape == P.shape
    P.requires_grad_()
    layers.whittle_index(P).backward(c)
    torch.testing.assert_close(P.grad, d_P, rtol=0, atol=0)


@pytest.mark.parametrize("half", [torch.bfloat16, torch.float16])
def test_half_precision_is_answered_in_float32_under_autocast_only(half):
    x = logits(6, 3, 2, 3).detach().to(half).requires_grad_()
    with pytest.raises(ValueError, match="scores: found .*float16, expected float32 or float64"):
        layers.soft_top_k(x[:, 0, 0, 0], 2, 0.1)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        P = x.exp() / x.exp().sum(-1, keepdim=True)  # rows that sum to 1 within the rounding of half precision
        assert P.dtype == half
        index = layers.whittle_index(P)
        pull = layers.soft_top_k(index[:, 0], 2, 0.1)
        assert index.dtype == pull.dtype == torch.float32
        wide = P.double()
        torch.testing.assert_close(index.double(), layers.whittle_index(wide / wide.sum(-1, keepdim=True)), rtol=1e-5, atol=1e-6)
        pull[0].backward()
        assert x.grad.dtype == half and x.grad.abs().max() > 0
        with pytest.raises(ValueError, match="arm 0, state 0, passive: found a sum of 0.9"):
            layers.whittle_index(torch.full((1, 3, 2, 3), 0.3, dtype=half))
        assert layers.soft_top_k(logits(5), 2, 0.1).dtype == torch.float64
        z = layers.soft_top_k(logits(4, 3, 5).to(half), 2, 0.1, log_odds=True)
        assert layers.cwpdis(z.to(half), *log_of(2, 5)[:2], [0.0, 1.0], budget=2, log_odds=True).dtype == torch.float32


def log_of(labels, n, j=4, h=3):
    """Logged labels [J,H+1,N], actions [J,H,N] with two of the arms pulled at random, and rewards that were earned [J,H,N]."""
    rng = np.random.default_rng(3)
    action = np.zeros((j, h, n), dtype=np.int64)
    np.put_along_axis(action, rng.random((j, h, n)).argsort(-1)[..., :2], 1, -1)
    return rng.integers(0, labels, (j, h + 1, n)), action, rng.random((j, h, n))


def test_cwpdis_passes_gradcheck():
    state, action, reward = log_of(2, 5)
    assert gradcheck(lambda x: layers.cwpdis(x.sigmoid(), state, action, [0.0, 1.0], budget=2), (logits(4, 3, 5),))
    propensity = np.where(action == 1, 0.4, 0.6)
    layer = layers.Cwpdis(state, action, torch.tensor(reward), propensity=propensity, discount=0.9)
    assert gradcheck(lambda x: layer(x.sigmoid()), (logits(4, 3, 5),))


@pytest.mark.parametrize(
    ("m", "settings"), [*FULL[:3], (2, {"observation": "collapsing", "chain": 4}), (3, {"observation": "collapsing", "chain": 3})]
)
def test_the_whole_chain_passes_gradcheck(m, settings):
    """softmax -> index -> soft top-k in the logged states -> importance sampling, with the published temperature."""
    state, action, reward = log_of(m * settings.get("chain", 1), 5)
    arm, logged = torch.arange(5), torch.tensor(state[:, :-1])
    judge = layers.Cwpdis(state, action, reward, budget=2)

    def value(x):
        index = layers.whittle_index(x.softmax(-1), **settings)
        temperature = 0.05 * torch.maximum(index**2, (index + 1) ** 2).max()
        return judge(layers.soft_top_k(index[arm, logged], 2, temperature))

    assert gradcheck(value, (logits(5, m, 2, m),))


def test_float32_is_answered_in_float32():
    x = logits(6, 3, 2, 3).detach()
    grads = []
    for dtype in (torch.float32, torch.float64):
        P = x.to(dtype).softmax(-1).requires_grad_()
        index = layers.whittle_index(P)
        pull = layers.soft_top_k(index[:, 0], 2, 0.1)
        assert index.dtype == pull.dtype == dtype
        pull[0].backward()
        assert P.grad.dtype == dtype
        grads.append(P.grad.double())
    # single precision has 24 bits, and a few operations lose some
    torch.testing.assert_close(grads[0], grads[1], rtol=1e-4, atol=1e-5)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a graphics processor")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_tensors_on_a_graphics_processor_are_answered_there(dtype):
    state, action, reward = log_of(3, 5)
    found = {}
    for device in ("cpu", "cuda"):
        x = logits(5, 3, 2, 3).detach().to(device, dtype).requires_grad_()
        logged = torch.tensor(state[:, :-1], device=device)
        index = layers.WhittleIndex()(x.softmax(-1))
        pull = layers.soft_top_k(index[torch.arange(5, device=device), logged], 2, 0.2 * index.std())
        value = layers.Cwpdis(torch.tensor(state, device=device), action, torch.tensor(reward, device=device), budget=2)(pull)
        value.backward()
        for tensor in (index, pull, value, x.grad):
            assert tensor.device.type == device and tensor.dtype == dtype
        found[device] = x.grad.cpu()
    # single precision has 24 bits, and the two softmaxes differ in the last
    rtol = 1e-3 if dtype == torch.float32 else 1e-9
    torch.testing.assert_close(found["cuda"], found["cpu"], rtol=rtol, atol=rtol * 1e-2)


def test_contiguous_float64_is_read_where_it_lies():
    P = logits(6, 3, 2, 3).softmax(-1)
    assert np.shares_memory(_border.array(P), P.detach().numpy())
    index = restive.whittle_index(P.detach().numpy()).index
    assert np.shares_memory(torch.as_tensor(index).numpy(), index)


def test_tensors_that_are_not_contiguous_give_the_same_answers():
    P = logits(3, 3, 2, 6).softmax(1).permute(3, 0, 2, 1)
    assert not P.is_contiguous()
    torch.testing.assert_close(layers.whittle_index(P), layers.whittle_index(P.contiguous()))
    scores = logits(5, 4).T
    torch.testing.assert_close(layers.soft_top_k(scores, 2, 0.1), layers.soft_top_k(scores.contiguous(), 2, 0.1))
    layers.soft_top_k(scores, 2, 0.1).sum().backward()  # an expanded cotangent


def test_only_what_needs_a_gradient_gets_one():
    scores, temperature = logits(5), torch.tensor(0.4, dtype=torch.float64, requires_grad=True)
    layers.soft_top_k(scores.detach(), 2, temperature)[0].backward()
    assert scores.grad is None and temperature.grad is not None
    with torch.no_grad():
        assert not layers.whittle_index(logits(2, 4).sigmoid()).requires_grad
    assert not layers.whittle_index(logits(2, 4).sigmoid().detach()).requires_grad


def test_a_temperature_can_be_learnt():
    layer = layers.SoftTopK(2, torch.nn.Parameter(torch.tensor(0.4)))
    layer(logits(5))[0].backward()
    (temperature,) = layer.parameters()
    assert temperature.grad.dtype == torch.float32 and temperature.grad.abs() > 0


def test_a_second_derivative_is_refused():
    x = logits(5)
    (d,) = torch.autograd.grad(layers.soft_top_k(x, 2, 0.5)[0], x, create_graph=True)
    with pytest.raises(RuntimeError, match="first derivatives only"):
        d.sum().backward()


def test_overwriting_the_input_before_the_way_back_is_noticed():
    P = logits(3, 4).sigmoid()
    index = layers.whittle_index(P)
    P.detach().mul_(0.5)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        index.sum().backward()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: layers.whittle_index(np.zeros((2, 4))), TypeError, "P: found ndarray, expected a torch.Tensor"),
        (
            lambda: layers.whittle_index(torch.zeros(2, 4, dtype=torch.int64)),
            ValueError,
            "P: found int64, expected float32 or float64",
        ),
        (lambda: layers.whittle_index(torch.zeros(2, 4, dtype=torch.bfloat16)), ValueError, "found bfloat16, .*under torch.autocast"),
        (lambda: layers.whittle_index(torch.eye(4).to_sparse()), ValueError, "P: found torch.sparse_coo, expected a dense tensor"),
        (
            lambda: layers.whittle_index(torch.full((2, 3, 2, 3), 0.3)),
            ValueError,
            "arm 0, state 0, passive: found a sum of 0.9",
        ),
        (lambda: layers.whittle_index(torch.full((2, 4), torch.nan)), ValueError, "arm 0"),
        (lambda: layers.whittle_index(torch.full((3, 4), 0.5), rewards=[0.0]), ValueError, r"rewards: found shape \[1\], expected"),
        (lambda: layers.whittle_index(torch.full((2, 4), 0.5), torch.eye(2)), ValueError, r"rewards: .*expand it to \[N,M,2\]"),
        (lambda: layers.whittle_index(torch.full((3, 4), 0.5), discount=[0.5, 0.5]), ValueError, r"discount: found shape \[2\]"),
        (lambda: layers.whittle_index(torch.full((2, 4), 0.5), out=np.zeros((2, 2))), ValueError, "out: found an array, expected none for tensors"),
        (lambda: layers.WhittleIndex(discount=2.0)(torch.full((2, 4), 0.5)), ValueError, "discount"),
        (lambda: layers.cwpdis(torch.ones(2, 2), *log_of(2, 5), budget=2), ValueError, "pull"),
        (
            lambda: layers.cwpdis(torch.full((4, 3, 5), 0.5), *log_of(2, 5), propensity=logits(4, 3, 5)),
            ValueError,
            "propensity: .*requires a gradient, and none goes through it",
        ),
        (lambda: layers.soft_top_k(torch.zeros(3), 4, 0.1), ValueError, "budget: found .*expected a number from 0 to 3"),
        (
            lambda: layers.soft_top_k(torch.zeros(3), 1, torch.ones(2)),
            ValueError,
            r"temperature: found shape \[2\], expected a number, or \[\], one for each problem",
        ),
        (lambda: layers.soft_top_k(torch.zeros(3), 1, -1.0), ValueError, "temperature: found .*expected a number of at least 0"),
    ],
)
def test_what_is_wrong_is_said(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_modules_can_be_copied_printed_and_pickled():
    chain = torch.nn.Sequential(layers.WhittleIndex(discount=0.9), torch.nn.Flatten(0), layers.SoftTopK(2, 0.1))
    x = torch.rand(5, 4)
    for other in (copy.deepcopy(chain), pickle.loads(pickle.dumps(chain))):
        assert torch.equal(chain(x), other(x))
    assert "discount=0.9" in repr(chain) and "budget=2, temperature=0.1" in repr(chain)


def test_settings_can_be_tensors_and_logs_are_copies():
    scores = torch.tensor([1.0, 0.5, 0.0], dtype=torch.float64)
    pull = layers.soft_top_k(scores, torch.tensor(2.0), 0.1)
    assert torch.equal(pull, layers.soft_top_k(scores, 2.0, 0.1))
    state, action = torch.ones(2, 4, 3, dtype=torch.int64), torch.zeros(2, 3, 3, dtype=torch.int64)
    layer = layers.Cwpdis(state, action, [0.0, 1.0], budget=1)
    with pytest.warns(DeprecationWarning, match="CWPDIS is called restive.torch.Cwpdis now"):
        assert layers.CWPDIS is layers.Cwpdis
    policy = torch.full((2, 3, 3), 0.5, dtype=torch.float64)
    before = layer(policy)
    state.zero_()
    assert before != 0 and torch.equal(layer(policy), before)
