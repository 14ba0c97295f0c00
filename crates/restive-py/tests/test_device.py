"""The kernels of a graphics processor, through the public functions: against slow float64 references of their own (tests/device.py),
gradcheck, and, where it is installed, the native module. And the way past them, which is tested everywhere.

Without a CUDA device the kernels are skipped, unless TRITON_INTERPRET=1 asks Triton to interpret them on the CPU. Where the native
module is not built, the Python files are used as they lie in the tree.
"""

import importlib
import os
import pathlib
import subprocess
import sys
import types
import warnings

import pytest
import torch
from device import arms_of, cwpdis_by_formula, index_by_bisection, log_odds_by_bisection, log_of, rewards_of
from torch.autograd import gradcheck

try:
    import restive

    IS_NATIVE = True
except ImportError:
    restive = types.ModuleType("restive")
    restive.__path__ = [str(pathlib.Path(__file__).parents[1] / "python" / "restive")]
    sys.modules["restive"], IS_NATIVE = restive, False

layers = importlib.import_module("restive.torch")
kernels = importlib.import_module("restive._device")

IS_INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1" and kernels.has_triton()
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
on_device = pytest.mark.skipif(
    not (torch.cuda.is_available() and kernels.has_triton()) and not IS_INTERPRETED, reason="needs a CUDA device and Triton"
)
beside_native = pytest.mark.skipif(not IS_NATIVE, reason="needs the native module to compare with")
# rounding of some tens of operations, amplified by 1/(1 - discount)
CLOSE = {"rtol": 1e-12, "atol": 1e-12}


@pytest.fixture(autouse=True)
def _nothing_goes_through_the_cpu(request):
    """A copy through the CPU where there is a kernel fails the test."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*copied to the CPU and back")
        yield


def logits(*shape, seed=7):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)).to(DEVICE).requires_grad_()


def compact_of(P):
    return P[..., 1].reshape(-1, 4).contiguous()


# ---- indices ------------------------------------------------------------------------------------------------------------------------


@on_device
@pytest.mark.parametrize("states", [1, 2, 3, 4, 5])
def test_indices_are_those_of_bisection(states):
    P, rewards = arms_of(40, states), rewards_of(states)
    found = layers.whittle_index(P.to(DEVICE), rewards, discount=0.9)
    assert found.device.type == DEVICE
    torch.testing.assert_close(found.cpu(), index_by_bisection(P, rewards, 0.9), rtol=1e-12, atol=1e-11)  # of bisection in values of 10


@on_device
def test_compact_arms_have_the_indices_of_full_ones_and_the_sweep_those_of_the_closed_form():
    P, rewards = arms_of(700, 2).to(DEVICE), rewards_of(2)
    full = layers.whittle_index(P, rewards)
    torch.testing.assert_close(layers.whittle_index(compact_of(P), rewards), full, rtol=0, atol=0)
    torch.testing.assert_close(layers.whittle_index(P, rewards, algorithm="general"), full, rtol=1e-11, atol=1e-11)
    torch.testing.assert_close(layers.whittle_index(P.transpose(1, 2), rewards, layout="nass"), full, rtol=0, atol=0)


@on_device
@pytest.mark.parametrize(("states", "settings"), [(2, {}), (3, {}), (5, {"discount": 0.9}), (3, {"discount": 1.0}), (2, {"algorithm": "general"})])
def test_indices_pass_gradcheck_behind_a_softmax(states, settings):
    settings = {"rewards": rewards_of(states), **settings}
    assert gradcheck(lambda x: layers.whittle_index(x.softmax(-1), **settings), (logits(3, states, 2, states),))


@on_device
def test_indices_of_compact_arms_pass_gradcheck_and_both_passes_in_one_are_both_passes():
    assert gradcheck(lambda x: layers.whittle_index(x.sigmoid()), (logits(5, 4),))
    for form, states in ((compact_of, 2), (lambda P: P, 2), (lambda P: P, 3)):
        P, c = form(arms_of(300, states)).to(DEVICE).requires_grad_(), logits(300, states).detach()
        index = layers.whittle_index(P)
        index.backward(c)
        for validate in (True, False):
            both = layers.whittle_index_and_pullback(P, c, validate=validate)
            torch.testing.assert_close(both[0], index.detach(), rtol=0, atol=0)
            torch.testing.assert_close(both[1], P.grad, rtol=0, atol=0)


@on_device
@pytest.mark.parametrize("rest", [0.4, 3e-9, 1e-12])
def test_budgets_just_below_a_whole_number_leave_just_that_much_out(rest):
    scores = torch.stack([torch.zeros(3), torch.tensor([3.0, -1.0, 0.5])]).double().to(DEVICE)
    for temperature in (1.0, 0.1):
        odds = layers.soft_top_k(scores, 3.0 - rest, temperature, log_odds=True)
        torch.testing.assert_close((-odds).sigmoid().sum(-1), torch.full((2,), 3.0 - (3.0 - rest), dtype=torch.float64).to(odds), rtol=1e-12, atol=0.0)


@on_device
def test_arms_that_are_none_are_nan_where_nothing_is_waited_for():
    P, c = arms_of(40, 2).to(DEVICE), logits(40, 2).detach()
    P[7, 0, 1, 0] += 0.5
    index, d_P = layers.whittle_index_and_pullback(P, c, validate=False)
    assert index[7].isnan().all() and not index[[k for k in range(40) if k != 7]].isnan().any() and d_P.isfinite().all()
    with pytest.raises(ValueError, match="arm 7"):
        layers.whittle_index_and_pullback(P, c)


@on_device
@pytest.mark.parametrize("states", [2, 3])
def test_float32_is_widened_and_answered_in_float32(states):
    P = arms_of(50, states).float().to(DEVICE).requires_grad_()
    index = layers.whittle_index(P)
    index.sum().backward()
    wide = P.detach().double()
    wide = (wide / wide.sum(-1, keepdim=True)).requires_grad_()
    truth = layers.whittle_index(wide)
    truth.sum().backward()
    assert index.dtype == P.grad.dtype == torch.float32
    torch.testing.assert_close(index, truth.float(), rtol=2e-7, atol=1e-7)  # one rounding
    torch.testing.assert_close(P.grad, wide.grad.float(), rtol=2e-7, atol=1e-5)


@on_device
@pytest.mark.parametrize("states", [2, 3])
def test_arms_that_never_move_have_no_average_and_no_gradient(states):
    P = arms_of(4, states).to(DEVICE)
    P[1] = torch.eye(states)[:, None, :]
    P.requires_grad_()
    index = layers.whittle_index(P, discount=1.0)
    assert index[1].isnan().all() and index[[0, 2, 3]].isfinite().all()
    index.nansum().backward()
    assert (P.grad[1] == 0).all() and P.grad[0].abs().max() > 0


@on_device
def test_inert_arms_have_index_0_and_one_that_is_not_indexable_has_its_first_crossing():
    general = importlib.import_module("restive._device.general")
    P = arms_of(3, 4)
    P[:, :, 1] = P[:, :, 0]
    found = general.solve(P.to(DEVICE), [[r, r] for r in (0.0, 0.3, 0.1, 1.0)], 0.95, True)
    assert found.index.abs().max() < 1e-12 and found.is_indexable.all()
    # found by search: passive sets that shrink; judged by the advantage, which changes sign more than once
    random = torch.Generator().manual_seed(1)
    P = torch.rand(4000, 3, 2, 3, dtype=torch.float64, generator=random) ** 6
    P, rewards = P / P.sum(-1, keepdim=True), [[0.5, 0.1], [0.9, 0.6], [0.2, 0.7]]
    found = general.solve(P.to(DEVICE), rewards, 0.99, False)
    differs = ((found.last - found.index).abs() > 1e-9).any(-1)
    assert torch.equal(differs.cpu(), (found.is_indexable == 0).cpu())
    assert (found.last >= found.index - 1e-9).all() and found.residual.max() < 1e-9


@on_device
@beside_native
@pytest.mark.parametrize(("states", "discount"), [(2, 0.99), (3, 0.99), (3, 1.0), (7, 0.95), (16, 0.99)])
def test_indices_and_gradients_are_those_of_the_native_module(states, discount):
    P, rewards = arms_of(30, states, seed=9), rewards_of(states)
    P[3] = torch.eye(states)[:, None, :]
    c = logits(30, states).detach().cpu()
    native = restive.whittle_index(P.numpy(), rewards, discount=discount)
    index, d_P = layers.whittle_index_and_pullback(P.to(DEVICE), c.to(DEVICE), rewards, discount=discount)
    scale = c.abs().max() * abs(torch.tensor(native.pullback(c.numpy()))).max()
    torch.testing.assert_close(index.cpu(), torch.tensor(native.index), equal_nan=True, **CLOSE)
    torch.testing.assert_close(d_P.cpu(), torch.tensor(native.pullback(c.numpy())), rtol=1e-12, atol=1e-12 * float(scale))
    if states > 2:
        general = importlib.import_module("restive._device.general")
        found = general.solve(P.to(DEVICE), rewards, discount, False)
        assert found.is_indexable.cpu().bool().tolist() == native.is_indexable.tolist()


@on_device
@pytest.mark.parametrize("form", [compact_of, lambda P: P])
def test_arms_have_rewards_and_discounts_of_their_own(form):
    P = arms_of(7, 2)
    rewards = torch.rand(7, 2, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    discount = torch.linspace(0.1, 0.95, 7, dtype=torch.float64)
    truth = torch.cat([index_by_bisection(P[k : k + 1], rewards[k].tolist(), discount[k].item()) for k in range(7)])
    settings = [x.to(DEVICE).requires_grad_() for x in (rewards, discount)]
    arms = form(P).to(DEVICE)
    torch.testing.assert_close(layers.whittle_index(arms, *settings).detach().cpu(), truth, rtol=1e-12, atol=1e-11)
    assert gradcheck(lambda r, g: layers.whittle_index(arms, r, g), settings)
    assert gradcheck(lambda x: layers.whittle_index(x.sigmoid(), *(x.detach() for x in settings)), (logits(7, 4),))


@on_device
@pytest.mark.parametrize(("states", "discount"), [(2, 0.8), (3, 0.8), (4, 1e-9)])
def test_rewards_and_discount_that_are_shared_pass_gradcheck(states, discount):
    P, rewards = arms_of(5, states).to(DEVICE), torch.tensor(rewards_of(states), dtype=torch.float64, requires_grad=True)
    assert gradcheck(lambda r: layers.whittle_index(P, r, discount), (rewards,))
    if discount > 0.1:
        g = torch.tensor(discount, dtype=torch.float64, requires_grad=True)
        assert gradcheck(lambda g: layers.whittle_index(P, rewards.detach(), g), (g,))


# ---- soft top-k ---------------------------------------------------------------------------------------------------------------------

SOFT = [(3, 7, 2.5, 0.4), (2, 5000, 1000, 0.3), (1, 3000, 20, 0.01), (4, 9, 3, 1e-3), (2, 2000, 3.25, 1e-4), (3, 40, 1, 0.2)]


@on_device
@pytest.mark.parametrize(("rows", "n", "budget", "temperature"), SOFT)
def test_soft_top_k_is_that_of_bisection(rows, n, budget, temperature):
    scores = logits(rows, n).detach()
    truth = log_odds_by_bisection(scores.cpu(), budget, temperature)
    found = layers.soft_top_k(scores, budget, temperature, log_odds=True).cpu()
    torch.testing.assert_close(found, truth, rtol=1e-12, atol=1e-11)  # thresholds over small temperatures are large
    pull = layers.soft_top_k(scores, budget, temperature).cpu()
    torch.testing.assert_close(pull, found.sigmoid(), rtol=1e-11, atol=1e-15)
    torch.testing.assert_close(pull.sum(-1), torch.full((rows,), float(budget), dtype=torch.float64), **CLOSE)


@on_device
@pytest.mark.parametrize("log_odds", [False, True])
def test_soft_top_k_passes_gradcheck_in_scores_and_temperature(log_odds):
    for where in (DEVICE, "cpu"):
        temperature = torch.tensor(0.4, dtype=torch.float64, device=where, requires_grad=True)
        inputs = (logits(2, 3, 7), temperature)
        assert gradcheck(lambda x, e: layers.soft_top_k(x, 2.5, e, log_odds=log_odds), inputs)
    assert gradcheck(lambda x: layers.soft_top_k(x, 2, 0.02, log_odds=True), (logits(7),), eps=1e-8, rtol=1e-4)  # nearly strict


@on_device
@pytest.mark.parametrize("where", ["device", "cpu"])
def test_problems_have_budgets_and_temperatures_of_their_own(where):
    scores, where = logits(6, 9), DEVICE if where == "device" else "cpu"
    budget = torch.tensor([2.5, 0.0, 9.0, 3.0, 1.0, 7.25], dtype=torch.float64, device=where, requires_grad=True)
    temperature = torch.tensor([0.4, 0.1, 0.1, 1e-3, 2.0, 0.05], dtype=torch.float64, device=where, requires_grad=True)
    found = layers.soft_top_k(scores, budget, temperature, log_odds=True)
    for k in range(6):
        alone = layers.soft_top_k(scores[k], budget[k].item(), temperature[k].item(), log_odds=True)
        torch.testing.assert_close(found[k], alone, rtol=1e-13, atol=1e-13)
    smooth = [0, 4, 5]
    settings = [x.detach()[smooth].requires_grad_() for x in (budget, temperature)]
    for log_odds in (False, True):
        f = lambda x, k, e: layers.soft_top_k(x, k, e, log_odds=log_odds)  # noqa: B023, E731
        assert gradcheck(f, (scores.detach()[smooth].requires_grad_(), *settings))


@on_device
def test_budgets_and_temperatures_at_their_ends():
    scores = torch.tensor([[3.0, 1.0, 1.0, -2.0]], dtype=torch.float64, device=DEVICE, requires_grad=True)
    for budget, temperature, truth in [
        (0, 0.1, [0, 0, 0, 0]),
        (4, 0.1, [1, 1, 1, 1]),
        (2, 0.0, [1, 0.5, 0.5, 0]),
        (2, 1e-320, [1, 0.5, 0.5, 0]),
        (1.5, float("inf"), [0.375] * 4),
    ]:
        pull = layers.soft_top_k(scores, budget, temperature)
        assert pull.tolist() == [truth]
        (d,) = torch.autograd.grad(pull[0, 0], scores)
        assert (d == 0).all()
    assert layers.soft_top_k(scores, 0, 0.1, log_odds=True).tolist() == [[-float("inf")] * 4]
    assert layers.soft_top_k(scores[:, :0], 0, 0.1).shape == (1, 0)


@on_device
@beside_native
@pytest.mark.parametrize(("rows", "n", "budget", "temperature"), [*SOFT, (3, 9, 2, 0.0)])
@pytest.mark.parametrize("log_odds", [False, True])
def test_soft_top_k_is_that_of_the_native_module(rows, n, budget, temperature, log_odds):
    scores, c = logits(rows, n), logits(rows, n, seed=8).detach()
    native = restive.soft_top_k(scores.detach().cpu().numpy(), budget, temperature)
    e = torch.tensor(temperature, dtype=torch.float64, device=DEVICE, requires_grad=True)
    found = layers.soft_top_k(scores, budget, e, log_odds=log_odds)
    torch.testing.assert_close(found.detach().cpu(), torch.tensor(native.log_odds if log_odds else native.pull), **CLOSE)
    d_scores, d_e = torch.autograd.grad(found, (scores, e), c)
    truth, d_truth = native.pullback(c.cpu().numpy(), log_odds=log_odds)
    truth = torch.tensor(truth)
    # slopes follow the threshold, which is rounded once over the temperature
    torch.testing.assert_close(d_scores.cpu(), truth, rtol=1e-11, atol=1e-12 * float(truth.abs().max()))
    assert d_e.item() == pytest.approx(d_truth, rel=1e-9, abs=1e-12)


@on_device
@beside_native
@pytest.mark.parametrize("log_odds", [False, True])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_absent_arms_stay_on_the_device_and_are_those_of_the_native_module(log_odds, dtype):
    n, random = 40, torch.Generator().manual_seed(3)
    scores, c = logits(10, n).detach().to(dtype), logits(10, n, seed=8).detach()
    # usual ones, nearly strict ones, strict ones, even ones, nobody, everybody who is there, more than those, all but a few
    budget = torch.tensor([7.5, 3.0, 3.0, 3.0, 0.0, 30.0, 40.0, 19.999, 1e-9, 2.0], dtype=torch.float64)
    temperature = torch.tensor([0.4, 1e-3, 0.0, torch.inf, 0.1, 0.1, 0.1, 0.1, 0.1, 5.0], dtype=torch.float64)
    mask = torch.rand(10, n, generator=random) < 0.6
    mask[5], mask[7], mask[9] = torch.arange(n) < 30, torch.arange(n) >= 20, False
    scores[~mask.to(DEVICE)] = torch.nan
    native = restive.soft_top_k(scores.cpu().double().numpy(), budget.numpy(), temperature.numpy(), mask=mask.numpy())
    truth = torch.tensor(native.log_odds if log_odds else native.pull)
    settings = [x.to(DEVICE).requires_grad_() for x in (budget, temperature)]
    scores.requires_grad_()
    found = layers.soft_top_k(scores, *settings, mask=mask, log_odds=log_odds)
    assert found.device.type == DEVICE and found.dtype == dtype
    close = CLOSE if dtype == torch.float64 else {"rtol": 2e-7, "atol": 1e-7}
    torch.testing.assert_close(found.detach().cpu().double(), truth, **close)
    d = torch.autograd.grad(found, (scores, *settings), c.to(dtype))
    back = native.pullback_all(c.to(dtype).double().cpu().numpy(), log_odds=log_odds)
    for one, other in zip(d, (back.d_scores, back.d_budget, back.d_temperature), strict=True):
        other = torch.tensor(other)
        scale = other.abs().amax(-1, keepdim=True).expand_as(other)
        # slopes follow the threshold, which is rounded once over the temperature; budgets have those of the nearest arms
        assert ((one.cpu().double() - other).abs() <= (1e-9 if dtype == torch.float64 else 1e-5) * (1.0 + scale)).all()
    alone = layers.soft_top_k(scores.detach()[0], 7.5, 0.4, mask=mask[0], log_odds=log_odds)
    torch.testing.assert_close(alone, found.detach()[0], **close)


@on_device
def test_absent_arms_pass_gradcheck():
    mask = torch.tensor([[True, False, True, True, False, True], [True] * 6, [False, True, True, False, True, True]], device=DEVICE)
    settings = [torch.tensor(x, dtype=torch.float64, device=DEVICE, requires_grad=True) for x in ([1.5, 2.0, 0.7], [0.4, 0.3, 1.0])]
    for log_odds in (False, True):
        f = lambda *x: torch.where(mask, layers.soft_top_k(*x, mask=mask, log_odds=log_odds), 0.0)  # noqa: B023, E731
        assert gradcheck(f, (logits(3, 6), *settings))


# ---- importance sampling -------------------------------------------------------------------------------------------------------------


@on_device
@pytest.mark.parametrize("log_odds", [False, True])
@pytest.mark.parametrize("up_to", ["this-step", "previous-step"])
@pytest.mark.parametrize(("j", "h", "n"), [(20, 3, 5), (300, 2, 6)])
def test_cwpdis_is_the_formula_and_its_gradient_that_of_autograd(j, h, n, up_to, log_odds):
    state, action = log_of(j, h, n)
    x = torch.randn(j, h, n, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    pull = (x if log_odds else x.sigmoid()).requires_grad_()
    truth, size = cwpdis_by_formula(pull, state, action, [0.0, 0.4, 1.0], 2, 0.9, up_to == "previous-step", log_odds)
    (d_truth,) = torch.autograd.grad(1.7 * truth, pull)
    moved = pull.detach().to(DEVICE).requires_grad_()
    settings = {"budget": 2, "discount": 0.9, "ratio_up_to": up_to, "log_odds": log_odds}
    found = layers.cwpdis(moved, state.to(DEVICE), action.to(DEVICE), [0.0, 0.4, 1.0], full=True, **settings)
    (d_found,) = torch.autograd.grad(1.7 * found.value, moved)
    assert found.value.device.type == DEVICE and found.dropped == 0
    torch.testing.assert_close(found.value.detach().cpu(), truth.detach(), **CLOSE)
    torch.testing.assert_close(d_found.cpu(), d_truth, rtol=1e-11, atol=1e-12)
    assert found.effective_sample_size == pytest.approx(size.item(), rel=1e-12)
    layer = layers.Cwpdis(state, action, [0.0, 0.4, 1.0], **settings)
    assert torch.equal(layer(moved), found.value) and torch.equal(layer(moved), found.value)


@on_device
def test_cwpdis_passes_gradcheck_with_logged_rewards_and_propensities():
    state, action = log_of(4, 3, 5)
    random = torch.Generator().manual_seed(4)
    reward = torch.rand(4, 3, 5, dtype=torch.float64, generator=random)
    reward[0, 1, 2] = float("nan")
    propensity = torch.rand(4, 3, 5, dtype=torch.float64, generator=random) * 0.8 + 0.1
    layer = layers.Cwpdis(state, action, reward, propensity=propensity, discount=0.9)
    assert gradcheck(lambda x: layer(x.sigmoid()), (logits(4, 3, 5),))
    layer = layers.Cwpdis(state, action, reward, propensity=propensity, log_odds=True)
    assert gradcheck(lambda x: layer(3 * x), (logits(4, 3, 5),))


@on_device
@beside_native
@pytest.mark.parametrize("up_to", ["this-step", "previous-step"])
def test_cwpdis_is_that_of_the_native_module_with_certain_pulls_and_dropped_terms(up_to):
    state, action = log_of(3, 4, 9)
    pull = torch.rand(3, 4, 9, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    pull[pull < 0.25], pull[pull > 0.8] = 0.0, 1.0
    rewards = [[0.0, 0.1], [0.4, 0.4], [1.0, 0.7]]
    native = restive.cwpdis(pull.numpy(), state.numpy(), action.numpy(), rewards, budget=3, ratio_up_to=up_to)
    moved = pull.to(DEVICE).requires_grad_()
    with pytest.warns(UserWarning, match="some pulls are 0 or 1"):
        found = layers.cwpdis(moved, state, action, rewards, budget=3, ratio_up_to=up_to, full=True)
    assert found.dropped == native.dropped > 0
    assert found.value.item() == pytest.approx(native.value, rel=1e-12)
    assert found.effective_sample_size == pytest.approx(native.effective_sample_size, rel=1e-12)
    (d,) = torch.autograd.grad(found.value, moved)
    torch.testing.assert_close(d.cpu(), torch.tensor(native.pullback()), rtol=1e-11, atol=1e-12)
    nothing = restive.cwpdis([[[0.0]]], [[[0]]], [[[1]]], [0.0, 1.0], propensity=[[[0.5]]])
    assert nothing.dropped == 1
    target = torch.zeros(1, 1, 1, dtype=torch.float64, device=DEVICE)
    assert layers.cwpdis(target, [[[0]]], [[[1]]], [0.0, 1.0], propensity=[[[0.5]]]).isnan()


@on_device
@beside_native
@pytest.mark.parametrize("shared", ["log", "nothing"])
def test_many_problems_are_judged_on_the_device_as_by_the_native_module(shared):
    random = torch.Generator().manual_seed(6)
    x = torch.randn(2, 3, 6, 4, 5, dtype=torch.float64, generator=random)
    logs = [log_of(6, 4, 5, seed=seed) if shared == "nothing" else log_of(6, 4, 5) for seed in range(6)]
    state, action = (torch.stack(part).reshape(2, 3, *part[0].shape) for part in zip(*logs))
    discount = torch.rand(2, 3, dtype=torch.float64, generator=random)
    budget = torch.tensor([[1, 2, 3], [4, 3, 2]])
    if shared == "log":
        state, action, discount, budget = state[0, 0], action[0, 0], discount[0, 0], budget[0, 1]
    plain = [v.numpy() if v.dim() else v.item() for v in (budget, discount)]
    native = restive.cwpdis(x.numpy(), state.numpy(), action.numpy(), [0.0, 0.4, 1.0], plain[0], discount=plain[1], log_odds=True)
    rewards = torch.tensor([0.0, 0.4, 1.0], dtype=torch.float64, requires_grad=True)
    moved, discount = x.to(DEVICE).requires_grad_(), discount.requires_grad_()
    layer = layers.Cwpdis(state, action, rewards.detach(), budget=budget, discount=discount, log_odds=True, full=True)
    asked = {"budget": budget, "discount": discount, "log_odds": True, "full": True}
    weight = torch.randn(2, 3, dtype=torch.float64, generator=random)
    for judge in (layer, layer, lambda x: layers.cwpdis(x, state.to(DEVICE), action, rewards, **asked)):
        found = judge(moved)
        assert found.value.device.type == DEVICE and found.value.shape == (2, 3)
        for name in ("value", "effective_sample_size", "dropped"):
            torch.testing.assert_close(getattr(found, name).detach().cpu(), torch.tensor(getattr(native, name)), **CLOSE)
    d = torch.autograd.grad(found.value, (moved, rewards, discount), weight.to(DEVICE))
    for one, other in zip(d, native.pullback_all(weight.numpy()), strict=True):
        torch.testing.assert_close(one.cpu(), torch.tensor(other, dtype=torch.float64), rtol=1e-11, atol=1e-12)


@on_device
def test_rewards_that_are_learnt_are_not_those_of_the_first_call():
    state, action = log_of(6, 3, 5)
    layer = layers.Cwpdis(state, action, torch.nn.Parameter(torch.tensor([0.0, 0.4, 1.0]).double()), budget=2, log_odds=True)
    x = logits(6, 3, 5).detach()
    before = layer(x)
    with torch.no_grad():
        layer.rewards *= 2.0
    torch.testing.assert_close(layer(x), 2.0 * before, **CLOSE)


@beside_native
@pytest.mark.parametrize("up_to", ["this-step", "previous-step"])
def test_slopes_by_rewards_and_discount_are_those_of_the_native_module(up_to):
    earned = importlib.import_module("restive._device.earned")
    logs = importlib.import_module("restive.torch._log")
    state, action = log_of(6, 4, 5)
    x = logits(6, 4, 5).detach().cpu()
    state[0, 1, 2], action[1, 1, 3] = -1, -1
    by_decision = torch.rand(6, 4, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    for rewards in (torch.tensor([0.0, 0.4, 1.0]).double(), torch.tensor([[0.0, 0.1], [0.4, 0.4], [1.0, 0.7]]).double(), by_decision):
        log = logs.log_of(state, action, rewards, 2, discount=0.9, ratio_up_to=up_to, log_odds=True)
        native = log.judge(x).pullback_all(1.7)
        for one, other in zip(earned.slopes(torch.tensor(1.7, dtype=torch.float64), x, log), native[1:], strict=True):
            torch.testing.assert_close(one, torch.tensor(other, dtype=torch.float64), **CLOSE)


# ---- what is wrong, and what goes another way -----------------------------------------------------------------------------------------


@on_device
def test_the_whole_chain_stays_on_the_device_and_passes_gradcheck():
    state, action = log_of(6, 3, 5)
    arm, seen = torch.arange(5, device=DEVICE), state[:, :-1].clamp_min(0).to(DEVICE)
    judge = layers.Cwpdis(state, action, [0.0, 0.4, 1.0], budget=2, log_odds=True)

    def value(x):
        index = layers.whittle_index(x.softmax(-1))
        return judge(layers.soft_top_k(index[arm, seen], 2, 0.2 * index.std(), log_odds=True))

    assert gradcheck(value, (logits(5, 3, 2, 3),))


@on_device
def test_a_second_derivative_is_refused_and_an_overwritten_input_noticed():
    x = logits(5)
    (d,) = torch.autograd.grad(layers.soft_top_k(x, 2, 0.5)[0], x, create_graph=True)
    with pytest.raises(RuntimeError, match="first derivatives only"):
        d.sum().backward()
    P = logits(3, 4).sigmoid()
    index = layers.whittle_index(P)
    P.detach().mul_(0.5)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        index.sum().backward()


@on_device
@beside_native
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: layers.whittle_index(x(2, 3, 2, 3) + 0.3), "arm 0, state 0, passive: found a sum of 0.[89]"),
        (lambda x: layers.whittle_index(x(2, 2, 2, 2) + 0.3), "arm 0, state 0, passive: found a sum of 0.6"),
        (lambda x: layers.whittle_index(x(2, 4) + torch.nan), "arm 0"),
        (lambda x: layers.whittle_index(x(2, 4) + 1.1), "arm 0"),
        (lambda x: layers.whittle_index(x(2, 4) + 0.5, discount=2.0), "discount"),
        (lambda x: layers.soft_top_k(x(3), 4, 0.1), "budget: found .*expected a number from 0 to 3"),
        (lambda x: layers.soft_top_k(x(3), 1, -1.0), "temperature: found .*expected a number of at least 0"),
        (lambda x: layers.soft_top_k(x(3) + torch.inf, 1, 0.1), "scores"),
        (lambda x: layers.soft_top_k(x(2, 5000) + torch.nan, 1, 0.1), "scores"),
        (lambda x: layers.soft_top_k(x(3) + torch.nan, 1, 0.1, mask=[False, False, True]), r"scores: entry \[2\]: found NaN"),
        (lambda x: layers.soft_top_k(x(3), 4, 0.1, mask=[False, True, True]), "budget: found 4, expected a number from 0 to 3"),
        (lambda x: layers.cwpdis(x(2, 4, 3, 5), *log_of(4, 3, 5), [0.0, 0.4, 1.0], budget=[1, 2, 3]), r"budget: found shape \[3\]"),
        (lambda x: layers.cwpdis(x(4, 3, 5) + 2, *log_of(4, 3, 5), [0.0, 0.4, 1.0], budget=2), "a probability from 0 to 1"),
        (lambda x: layers.cwpdis(x(4, 3, 5), *log_of(4, 3, 5), [0.0, 0.4], budget=2), "a state below 2"),
        (lambda x: layers.cwpdis(x(4, 3, 5), *log_of(4, 3, 6), [0.0, 0.4, 1.0], budget=2), "state"),
    ],
)
def test_what_is_wrong_is_said_as_on_the_cpu(call, message):
    with pytest.raises(ValueError, match=message):
        call(lambda *shape: torch.zeros(*shape, dtype=torch.float64, device=DEVICE))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@beside_native
def test_what_has_no_kernel_goes_through_the_cpu_and_is_said_once(monkeypatch):
    monkeypatch.setattr(kernels, "_said", set())
    warnings.simplefilter("default")
    P = arms_of(2, 2).to(DEVICE)
    with pytest.warns(UserWarning, match="restive.torch.whittle_index: .* no kernel for collapsing observation"):
        assert layers.whittle_index(P, observation="collapsing", chain=3).device.type == "cuda"
    with pytest.warns(UserWarning, match="restive.torch.soft_top_k: .* no kernel for costs"):
        assert layers.soft_top_k(logits(5), 2, 0.1, costs=[1.0, 2.0, 1.0, 2.0, 1.0]).device.type == "cuda"
    with pytest.warns(UserWarning, match="restive.torch.cwpdis: .* no kernel for masks"):
        value = layers.cwpdis(logits(4, 3, 5), *log_of(4, 3, 5), [0.0, 0.4, 1.0], budget=2, mask=torch.ones(5, dtype=torch.bool), log_odds=True)
    torch.testing.assert_close(value, layers.cwpdis(logits(4, 3, 5), *log_of(4, 3, 5), [0.0, 0.4, 1.0], budget=2, log_odds=True), **CLOSE)


def test_a_copy_is_said_once_for_each_function(monkeypatch):
    monkeypatch.setattr(kernels, "_said", set())
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for function in ("whittle_index", "whittle_index", "cwpdis"):
            kernels.say_copy(f"restive.torch.{function}", "this")
    assert [str(w.message).split(":")[0] for w in said] == ["restive.torch.whittle_index", "restive.torch.cwpdis"]


def test_what_has_no_kernel_is_named():
    index = importlib.import_module("restive._device.index")
    P = arms_of(2, 2)
    for settings, reason in [
        ({"observation": "collapsing", "chain": 3}, "collapsing"),
        ({"algorithm": "bisection"}, "bisection"),
        ({"discount": 1.5}, "discount"),
        ({"rewards": [0.0, 1.0, 2.0]}, "rewards"),
        ({"layout": "other"}, "shape"),
        ({"surprise": 1}, "settings"),
    ]:
        assert reason in index.arms(P, **settings)
    assert "17 states" in index.arms(arms_of(1, 17))
    assert not isinstance(index.arms(P, rewards=[0.0, 1.0], discount=0.5), str)
    assert index.arms(P).rewards == [[0.0, 0.0], [1.0, 1.0]]


@pytest.mark.skipif(IS_INTERPRETED, reason="the interpreter takes tensors of the CPU")
@beside_native
def test_tensors_of_the_cpu_take_the_native_way_and_need_no_triton():
    assert not kernels.takes(torch.zeros(1))
    P, c = arms_of(5, 3), logits(5, 3).detach().cpu()
    index, d_P = layers.whittle_index_and_pullback(P, c)
    native = restive.whittle_index(P.numpy())
    assert torch.equal(index, torch.tensor(native.index)) and torch.equal(d_P, torch.tensor(native.pullback(c.numpy())))
    code = (
        "import sys, torch, restive.torch as layers; P = torch.full((2, 4), 0.5).requires_grad_(); "
        "layers.soft_top_k(layers.whittle_index(P)[:, 0], 1, 0.1)[0].backward(); "
        "assert not any(name.startswith('restive._device.') for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=pathlib.Path(sys.prefix))
