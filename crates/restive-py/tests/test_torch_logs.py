"""Many problems of importance sampling at once, of tensors, and absent arms: against the native module bit for bit, against differences, and
under transforms, which become one call where the native module has an axis for them. (Backend "aot_eager": see test_transforms.py.)"""

import copy
import pickle
import warnings

import numpy as np
import pytest
import restive

torch = pytest.importorskip("torch")
import restive.torch as layers  # noqa: E402
from torch.autograd import gradcheck  # noqa: E402
from torch.func import grad, jacrev, vmap  # noqa: E402
from transforms import (  # noqa: E402
    compiled_exported_and_checkpointed_is_eager,
    gradients_are_those_of_autograd,
    second_derivatives_and_forward_mode_are_refused,
    vmap_is_a_loop,
)

AXES, J, H, N = (2, 3), 5, 3, 4
RANDOM = np.random.default_rng(8)
ODDS = torch.tensor(RANDOM.normal(size=(*AXES, J, H, N)))
STATE, ACTION = torch.tensor(RANDOM.integers(0, 3, (*AXES, J, H + 1, N))), torch.tensor(RANDOM.integers(0, 2, (*AXES, J, H, N)))
STATE[0, 1, 2, 1, 3], ACTION[1, 2, 0, 1, 2] = -1, -1
PROPENSITY, EARNED = torch.tensor(RANDOM.uniform(0.2, 0.9, (*AXES, J, H, N))), torch.tensor(RANDOM.random((*AXES, J, H, N)))
EARNED[1, 1, 0, 2, 0] = torch.nan
TABLE, BY_ACTION = torch.tensor(RANDOM.random(3)), torch.tensor(RANDOM.random((3, 2)))
DISCOUNT, BUDGET = torch.tensor(RANDOM.uniform(0.5, 1.0, AXES)), torch.tensor([[1, 2, 2], [2, 2, 1]])
MASK = torch.arange(N) != torch.tensor(RANDOM.integers(0, N + 1, (*AXES, J, H, 1)))  # one is absent, or nobody
ONE = torch.tensor(0.9, dtype=torch.float64)

LOGS = {
    "logs of their own": {"state": STATE, "action": ACTION, "rewards": TABLE, "propensity": PROPENSITY, "discount": DISCOUNT},
    "targets on one log": {"state": STATE[1, 0], "action": ACTION[1, 0], "rewards": BY_ACTION, "budget": 2, "discount": ONE},
    "rewards of their own": {"state": STATE[1, 0], "action": ACTION[1, 0], "rewards": EARNED, "propensity": PROPENSITY, "discount": ONE},
    "rewards as logged": {"state": STATE, "action": ACTION, "rewards": EARNED[0, 0], "budget": BUDGET, "discount": DISCOUNT},
    "absent arms": {"state": STATE, "action": ACTION, "rewards": TABLE, "budget": BUDGET, "discount": ONE, "mask": MASK},
    "an absent arm": {"state": STATE, "action": ACTION, "rewards": EARNED, "propensity": PROPENSITY, "discount": DISCOUNT, "mask": [True, False, True, True]},
}  # fmt: skip
logs = pytest.mark.parametrize("name", LOGS)


def numbers(x):
    return x if not isinstance(x, torch.Tensor) else x.detach().numpy() if x.dim() else x.item()


@logs
@pytest.mark.parametrize("ratio_up_to", ["this-step", "previous-step"])
@pytest.mark.parametrize("log_odds", [False, True])
def test_answers_and_gradients_are_those_of_the_native_module(name, ratio_up_to, log_odds):
    how = {"ratio_up_to": ratio_up_to, "log_odds": log_odds}
    pull = (ODDS if log_odds else ODDS.sigmoid()).clone().requires_grad_()
    truth = restive.cwpdis(numbers(pull), **{key: numbers(x) for key, x in LOGS[name].items()}, **how)
    log = {**LOGS[name], **{key: LOGS[name][key].clone().requires_grad_() for key in ("rewards", "discount")}}
    found = layers.cwpdis(pull, **log, **how, full=True)
    for name in ("value", "effective_sample_size", "dropped"):
        answer = getattr(found, name)
        assert answer.shape == AXES and torch.equal(answer.detach(), torch.as_tensor(np.asarray(getattr(truth, name)))), name
    assert found.dropped.dtype == torch.int64
    d_value = torch.tensor(RANDOM.normal(size=AXES))
    found.value.backward(d_value)
    for x, d in zip((pull, log["rewards"], log["discount"]), truth.pullback_all(d_value.numpy()), strict=True):
        assert torch.equal(x.grad, torch.as_tensor(np.asarray(d))) and x.grad.abs().max() > 0
    layer = layers.Cwpdis(**log, **how, full=True)
    assert torch.equal(layer(pull).value, found.value)


@logs
def test_problems_are_judged_one_by_one(name):
    log = LOGS[name]
    found = layers.cwpdis(ODDS, **log, log_odds=True)
    tails = {"state": 3, "action": 3, "propensity": 3, "discount": 0, "budget": 0, "mask": 3, "rewards": 3}
    for at in np.ndindex(AXES):
        own = {key: x[at] if isinstance(x, torch.Tensor) and x.dim() > tails[key] else x for key, x in log.items()}
        assert torch.equal(found[at], layers.cwpdis(ODDS[at], **own, log_odds=True))


@logs
def test_gradients_are_those_of_differences(name):
    log = LOGS[name]
    known = log["rewards"].nan_to_num(0.3)  # what is not known cannot be moved
    inputs = [x.clone().requires_grad_() for x in (ODDS, known, log["discount"])]
    mean = lambda r: r.mean(-1, keepdim=True).expand(3, 2) if r.shape == (3, 2) else r  # noqa: E731

    def value(odds, rewards, discount):
        # without an action a reward is known where both are the same
        return layers.cwpdis(odds, **{**log, "rewards": mean(rewards), "discount": discount}, log_odds=True)

    assert gradcheck(value, inputs)
    assert gradcheck(lambda odds: layers.cwpdis(odds.sigmoid(), **log), (inputs[0],))


def test_float32_is_answered_in_float32_and_settings_keep_their_type():
    pull, rewards = ODDS.sigmoid().float().requires_grad_(), TABLE.clone().requires_grad_()
    discount = DISCOUNT.float().requires_grad_()
    value = layers.cwpdis(pull, STATE, ACTION, rewards, propensity=PROPENSITY, discount=discount)
    value.sum().backward()
    assert value.dtype == pull.grad.dtype == discount.grad.dtype == torch.float32 and rewards.grad.dtype == torch.float64
    wide = layers.cwpdis(ODDS.sigmoid(), STATE, ACTION, TABLE, propensity=PROPENSITY, discount=DISCOUNT)
    torch.testing.assert_close(value.double(), wide, rtol=1e-5, atol=1e-6)  # of 24 bits
    with torch.autocast("cpu", torch.bfloat16):
        assert layers.cwpdis(ODDS.bfloat16(), STATE, ACTION, TABLE, propensity=PROPENSITY, log_odds=True).dtype == torch.float32


def test_modules_keep_logs_with_masks_and_can_be_copied_and_pickled():
    log = {**LOGS["absent arms"], "rewards": torch.nn.Parameter(TABLE.clone()), "discount": DISCOUNT, "mask": MASK.clone()}
    layer = layers.Cwpdis(**log, log_odds=True)
    value = layer(ODDS)
    for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert torch.equal(other(ODDS), value)
    assert "budget=[[1, 2, 2], [2, 2, 1]]" in repr(layer) and "discount=[[0." in repr(layer)
    log["mask"].zero_()  # that of the layer is a copy
    assert torch.equal(layer(ODDS), value)
    with torch.no_grad():
        layer.rewards += 1.0
    assert not torch.isclose(layer(ODDS), value).any()
    assert "budget=2, ratio_up_to='this-step', log_odds=False, discount=0.9" in repr(layers.Cwpdis(**LOGS["targets on one log"]))


# ---- transforms -------------------------------------------------------------------------------------------------------------------------


def judged(pull=ODDS[0], state=STATE[0], action=ACTION[0], rewards=TABLE, discount=ONE, **how):
    how = {"propensity": PROPENSITY[0], **how} if "budget" not in how else how
    return layers.cwpdis(pull, state, action, rewards, discount=discount, log_odds=True, **how)


# functions of one tensor, and an input
FUNCTIONS = {
    "pulls": (lambda x: judged(x), ODDS[0]),
    "one target": (lambda x: judged(x, STATE[1, 1], ACTION[1, 1], propensity=PROPENSITY[1, 1]), ODDS[0, 0]),
    "masked": (lambda x: judged(x, mask=MASK[0], budget=BUDGET[0]), ODDS[0]),
    "an arm masked": (lambda x: judged(x, mask=MASK[0, 0, 0, 0]), ODDS[0]),
    "table": (lambda x: judged(rewards=x), TABLE),
    "table of actions": (lambda x: judged(rewards=x), BY_ACTION),
    "earned by each": (lambda x: judged(rewards=x), EARNED[0]),
    "earned by all": (lambda x: judged(rewards=x), EARNED[0, 0]),
    "earned, one target": (lambda x: judged(ODDS[1, 1], STATE[1, 1], ACTION[1, 1], x, budget=2), EARNED[0, 0]),
    "discounts": (lambda x: judged(discount=x.sigmoid()), torch.tensor([1.0, 2.0, 3.0]).double()),
    "a discount": (lambda x: judged(discount=x.sigmoid()), torch.tensor(2.0).double()),
}
named = pytest.mark.parametrize("name", FUNCTIONS)


@named
def test_gradients_of_functorch_are_those_of_autograd(name):
    gradients_are_those_of_autograd(*FUNCTIONS[name], is_exact=True)


@named
@pytest.mark.parametrize("axis", [0, -1])
def test_vmap_is_a_loop(name, axis):
    vmap_is_a_loop(*FUNCTIONS[name], axis, is_exact=True)


@named
def test_second_derivatives_and_forward_mode_are_refused_and_not_zero(name):
    second_derivatives_and_forward_mode_are_refused(*FUNCTIONS[name])


@named
def test_compiled_exported_and_checkpointed_is_eager(name):
    compiled_exported_and_checkpointed_is_eager(*FUNCTIONS[name], is_inside=False)


@pytest.fixture
def calls(monkeypatch):
    """The shapes of the pulls that the native module was given."""
    given, native = [], restive.cwpdis
    monkeypatch.setattr(restive, "cwpdis", lambda *a, **k: given.append(a[0].shape) or native(*a, **k))
    return given


def test_batches_are_one_call_there_and_none_more_back(calls):
    whole, alone = (*AXES, J, H, N), (J, H, N)
    # targets on one log, and many logs
    vmap(grad(lambda x: judged(x).sum()))(ODDS)
    assert calls == [whole]
    calls.clear()
    vmap(vmap(grad(lambda x, s, a, p: layers.cwpdis(x, s, a, TABLE, propensity=p, log_odds=True))))(ODDS, STATE, ACTION, PROPENSITY)
    assert calls == [whole]
    calls.clear()
    # what one target earned, and its discount: by each of the batch, so that the way back is another call
    vmap(grad(lambda r, g: layers.cwpdis(ODDS[0, 0], STATE[0, 0], ACTION[0, 0], r, budget=2, discount=g, log_odds=True)))(EARNED[0], DISCOUNT[0])
    assert calls == [(3, *alone)]
    calls.clear()
    # a loop where a call has but one table
    vmap(lambda r: judged(ODDS[0, 0], STATE[0, 0], ACTION[0, 0], r, propensity=PROPENSITY[0, 0]))(torch.stack([TABLE, 0.5 * TABLE]))
    assert calls == [alone, alone]
    calls.clear()
    # cotangents of one judgement
    jacrev(lambda x: judged(x))(ODDS[0])
    assert calls == [(3, *alone)]


def test_vmap_over_everything_at_once_is_a_loop(calls):
    def value(x, s, a, r, p, g, m):
        return layers.cwpdis(x, s, a, r, propensity=p, discount=g, mask=m, log_odds=True, full=True)

    inputs = (ODDS, STATE, ACTION, EARNED, PROPENSITY, DISCOUNT, MASK)
    found = vmap(vmap(value))(*inputs)
    assert calls == [(*AXES, J, H, N)]
    truth = value(*inputs)
    assert all(torch.equal(one, other) for one, other in zip(found, truth, strict=True))
    # masks that broadcast, budgets, and what is shared, in any order of axes
    found = vmap(lambda m, k: judged(mask=m, budget=k), in_dims=(1, 0))(MASK[0, 0, 0].T, BUDGET[0])
    for k in range(3):
        assert torch.equal(found[k], judged(mask=MASK[0, 0, 0, k], budget=BUDGET[0, k]))
    found = vmap(lambda g: judged(discount=g), in_dims=1)(DISCOUNT.T)
    for k in range(2):
        assert torch.equal(found[k], judged(discount=DISCOUNT[k]))


@logs
def test_operators_pass_opcheck(name):
    log = LOGS[name]
    budget, mask = log.get("budget"), log.get("mask")
    budget = None if budget is None else torch.as_tensor(budget)
    mask = None if mask is None else torch.as_tensor(mask)
    tensors = (log["state"], log["action"], log["rewards"].nan_to_num(0.3), log.get("propensity"), log["discount"], budget, mask)
    leaf = lambda x: x.clone().requires_grad_()  # noqa: E731
    given = (leaf(ODDS), None, *tensors[:2], leaf(tensors[2]), tensors[3], leaf(tensors[4]), *tensors[5:], "this-step", True)
    torch.library.opcheck(torch.ops.restive.cwpdis.default, given)
    blank = torch.empty(0, dtype=torch.uint8)
    for wants in ([True, True, True], [True, False, False], [False, True, False]):
        given = (torch.ones(AXES, dtype=torch.float64), ODDS, *tensors, blank, "previous-step", True, wants)
        torch.library.opcheck(torch.ops.restive.cwpdis_pullback.default, given)


# ---- what is wrong ------------------------------------------------------------------------------------------------------------------------

BAD_STATE = STATE.numpy().copy()
BAD_STATE[0, 1, 2, 3, 1] = 7
BAD_PULL = ODDS.sigmoid().numpy().copy()
BAD_PULL[1, 2, 3, 0, 2] = np.nan
WRONG = {
    "pulls of two axes": {"pull": np.zeros((4, 5))},
    "a pull that is none": {"pull": BAD_PULL},
    "states of other problems": {"state": STATE.numpy()[:, 0]},
    "a state that is none": {"state": BAD_STATE},
    "propensities of other arms": {"propensity": np.ones((*AXES, J, H, N + 1))},
    "rewards of other arms": {"rewards": np.ones((*AXES, J, H, N + 1))},
    "a mask of too few": {"mask": np.ones(3, dtype=bool)},
    "a mask of numbers": {"mask": np.ones(4)},
    "a mask of whole numbers": {"mask": np.ones((J, H, N), dtype=np.int64)},
    "discounts of other problems": {"discount": np.full(3, 0.9)},
    "a discount above 1": {"discount": np.array([[0.9, 0.9, 0.9], [0.9, 1.5, 0.9]])},
    "a budget of more than there are": {"propensity": None, "budget": np.array([[1, 2, 3], [5, 1, 1]])},
    "a budget that is not whole": {"propensity": None, "budget": np.array([[1, 2, 3], [1.5, 1, 1]])},
    "budgets of other problems": {"propensity": None, "budget": np.array([1, 2, 3])},
    "budget and propensity": {"budget": 2},
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_in_the_words_of_the_native_module(name):
    given = {"pull": ODDS.sigmoid(), "state": STATE, "action": ACTION, "rewards": TABLE, "propensity": PROPENSITY}
    given = {**{key: numbers(x) for key, x in given.items()}, **WRONG[name]}
    with pytest.raises(ValueError) as truth:
        restive.cwpdis(**given)
    for form in ("tensors", "arrays"):
        as_given = {key: torch.tensor(x) if form == "tensors" and isinstance(x, np.ndarray) else x for key, x in given.items()}
        with pytest.raises(ValueError) as found:
            layers.cwpdis(**{**as_given, "pull": torch.tensor(given["pull"])})
        assert str(found.value) == str(truth.value)


def test_batches_of_what_does_not_fit_say_so_too():
    with pytest.raises(ValueError, match=r"state: found shape \[2, 5, 4, 4\], expected \[5, 4, 4\] or \[5, 3, 4\]"):
        vmap(lambda x: judged(x, STATE[:, 0]))(ODDS)
    with pytest.raises(TypeError, match="budget: found float, expected a whole number"):
        judged(budget=1.5)


def test_without_any_arm_nothing_is_earned_and_without_problems_nothing_said():
    found = layers.cwpdis(ODDS[0, 0], **{**LOGS["targets on one log"], "mask": np.zeros(N, dtype=bool)}, log_odds=True, full=True)
    assert (found.value.item(), found.effective_sample_size, found.dropped) == (0.0, 0.0, 0)
    none = ODDS[:0].clone().requires_grad_()
    value = layers.cwpdis(none, **LOGS["targets on one log"], log_odds=True)
    value.sum().backward()
    assert value.shape == (0, 3) and none.grad.shape == none.shape


def test_arms_that_are_absent_are_not_pulled_for_certain():
    pull = layers.soft_top_k(ODDS, 1.5, 0.4, mask=MASK).requires_grad_()
    log = LOGS["absent arms"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        layers.cwpdis(pull, **log)
    with pytest.warns(UserWarning, match="some pulls are 0 or 1"):
        layers.cwpdis(pull, **{**log, "mask": None})
