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
        (lambda: layers.whittle_index(np.zeros((2, 4))), TypeError, "P: expected a torch.Tensor, got ndarray"),
        (
            lambda: layers.whittle_index(torch.zeros(2, 4, dtype=torch.int64)),
            ValueError,
            "P: expected float32 or float64, got int64",
        ),
        (lambda: layers.whittle_index(torch.zeros(2, 4, dtype=torch.bfloat16)), ValueError, "got bfloat16"),
        (lambda: layers.whittle_index(torch.eye(4).to_sparse()), ValueError, "P: expected a dense tensor"),
        (
            lambda: layers.whittle_index(torch.full((2, 3, 2, 3), 0.3)),
            ValueError,
            "arm 0, state 0, passive: found a sum of 0.9",
        ),
        (lambda: layers.whittle_index(torch.full((2, 4), torch.nan)), ValueError, "arm 0"),
        (
            lambda: layers.whittle_index(torch.full((2, 4), 0.5), rewards=logits(2)),
            ValueError,
            "rewards: no gradient goes through it",
        ),
        (lambda: layers.whittle_index(torch.full((2, 4), 0.5), out=np.zeros((2, 2))), ValueError, "out: not for tensors"),
        (lambda: layers.WhittleIndex(discount=2.0)(torch.full((2, 4), 0.5)), ValueError, "discount"),
        (lambda: layers.cwpdis(torch.ones(2, 2), *log_of(2, 5), budget=2), ValueError, "pull"),
        (
            lambda: layers.cwpdis(torch.full((4, 3, 5), 0.5), *log_of(2, 5)[:2], logits(2), budget=2),
            ValueError,
            "rewards: no gradient goes through it",
        ),
        (lambda: layers.soft_top_k(torch.zeros(3), 4, 0.1), ValueError, "budget: found .*expected a number from 0 to 3"),
        (
            lambda: layers.soft_top_k(torch.zeros(3), 1, torch.ones(2)),
            ValueError,
            r"temperature: expected a single number, got shape \[2\]",
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


def test_constants_take_no_gradient_and_logs_are_copies():
    scores = torch.tensor([1.0, 0.5, 0.0], dtype=torch.float64)
    with pytest.raises(ValueError, match="budget: no gradient goes through it"):
        layers.soft_top_k(scores, torch.tensor(2.0, requires_grad=True), 0.1)
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
