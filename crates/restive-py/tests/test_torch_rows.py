"""Soft top-k of tensors with costs and with absent arms: against the native module bit for bit, against differences, and under everything that
PyTorch does to operators. (Backend "aot_eager": see test_transforms.py.)"""


import numpy as np
import pytest
import restive

torch = pytest.importorskip("torch")
import restive.torch as layers  # noqa: E402
from torch.autograd import gradcheck  # noqa: E402
from torch.func import vmap  # noqa: E402
from transforms import (  # noqa: E402
    compiled_exported_and_checkpointed_is_eager,
    gradients_are_those_of_autograd,
    second_derivatives_and_forward_mode_are_refused,
    vmap_is_a_loop,
)

RANDOM = np.random.default_rng(5)
SHAPE = (2, 3, 7)
SCORES, COSTS = torch.tensor(RANDOM.normal(size=SHAPE)), torch.tensor(RANDOM.uniform(0.3, 2.0, SHAPE))
BUDGET, TEMPERATURE = torch.tensor(RANDOM.uniform(0.4, 2.5, SHAPE[:-1])), torch.tensor(RANDOM.uniform(0.2, 1.0, SHAPE[:-1]))
MASK = torch.tensor(RANDOM.random(SHAPE) < 0.7)
MASK[..., :2] = True

SHARES = {
    "all of each": (BUDGET, TEMPERATURE, COSTS, MASK),
    "all shared": (torch.tensor(1.5).double(), torch.tensor(0.4).double(), COSTS[0, 0], MASK[0, 1]),
    "costs shared": (BUDGET, TEMPERATURE, COSTS[0, 0], MASK),
    "no mask": (BUDGET, TEMPERATURE, COSTS, None),
    "no costs": (BUDGET, TEMPERATURE, None, MASK),
    "no costs, all shared": (torch.tensor(1.5).double(), torch.tensor(0.4).double(), None, MASK[0, 1]),
}
shares = pytest.mark.parametrize("name", SHARES)
both = pytest.mark.parametrize("log_odds", [False, True])


def numbers(x):
    return None if x is None else x.detach().numpy() if x.dim() else x.item()


def shown(pull, mask):
    """What absent arms have is not finite as log-odds, and has no gradient."""
    return pull if mask is None else torch.where(mask, pull, 0.0)


@shares
@both
def test_answers_and_gradients_are_those_of_the_native_module(name, log_odds):
    budget, temperature, costs, mask = SHARES[name]
    truth = restive.soft_top_k(numbers(SCORES), numbers(budget), numbers(temperature), costs=numbers(costs), mask=numbers(mask))
    inputs = [None if x is None else x.clone().requires_grad_() for x in (SCORES, budget, temperature, costs)]
    pull = layers.soft_top_k(*inputs[:3], costs=inputs[3], mask=mask, log_odds=log_odds)
    assert torch.equal(pull, torch.tensor(truth.log_odds if log_odds else truth.pull))
    weight = torch.tensor(RANDOM.normal(size=SHAPE))
    pull.backward(weight)
    for x, d in zip(inputs, truth.pullback_all(weight.numpy(), log_odds=log_odds), strict=True):
        assert (x is None) == (d is None)
        if x is not None:
            assert torch.equal(x.grad, torch.as_tensor(np.asarray(d))) and x.grad.abs().max() > 0
    if mask is not None:
        absent = ~mask.expand(SHAPE)
        assert (pull[absent] == (-torch.inf if log_odds else 0.0)).all() and (inputs[0].grad[absent] == 0).all()


@shares
@both
def test_gradients_are_those_of_differences(name, log_odds):
    *inputs, mask = (SCORES, *SHARES[name])
    given = [x.clone().requires_grad_() for x in inputs if x is not None]

    def pulled(scores, budget, temperature, costs=None):
        return shown(layers.soft_top_k(scores, budget, temperature, costs=costs, mask=mask, log_odds=log_odds), mask)

    assert gradcheck(pulled, given)


def test_only_what_is_wanted_comes_back():
    for wanted in range(4):
        inputs = [x.clone().requires_grad_(k == wanted) for k, x in enumerate((SCORES, BUDGET, TEMPERATURE, COSTS))]
        layers.soft_top_k(*inputs[:3], costs=inputs[3], mask=MASK)[..., 0].sum().backward()
        assert [x.grad is not None for x in inputs] == [k == wanted for k in range(4)]


def test_float32_is_answered_in_float32():
    scores, costs = SCORES.float().requires_grad_(), COSTS.float().requires_grad_()
    pull = layers.soft_top_k(scores, 1.5, 0.4, costs=costs, mask=MASK)
    pull[..., 0].sum().backward()
    assert pull.dtype == scores.grad.dtype == costs.grad.dtype == torch.float32
    torch.testing.assert_close(pull.double(), layers.soft_top_k(SCORES, 1.5, 0.4, costs=COSTS, mask=MASK), rtol=1e-5, atol=1e-6)
    with torch.autocast("cpu", torch.bfloat16):
        half = layers.soft_top_k(scores.bfloat16(), 1.5, 0.4, costs=costs.bfloat16(), mask=MASK)
    assert half.dtype == torch.float32
    torch.testing.assert_close(half, pull, rtol=0.1, atol=0.05)  # half precision has eight bits


def test_settings_may_be_arrays_and_modules_keep_them():
    found = layers.soft_top_k(SCORES, 1.5, 0.4, costs=COSTS[0, 0].tolist(), mask=MASK.numpy())
    assert torch.equal(found, layers.soft_top_k(SCORES, 1.5, 0.4, costs=COSTS[0, 0], mask=MASK))
    layer = layers.SoftTopK(1.5, 0.4, costs=torch.nn.Parameter(COSTS[0, 0].clone()), mask=MASK, log_odds=True)
    found = layer(SCORES)
    assert torch.equal(found, layers.soft_top_k(SCORES, 1.5, 0.4, costs=COSTS[0, 0], mask=MASK, log_odds=True))
    found[MASK].sum().backward()
    (costs,) = layer.parameters()
    assert costs.grad.abs().max() > 0 and "costs=Parameter" in repr(layer) and "mask=tensor" in repr(layer)


def test_nobody_is_pulled_where_nobody_is_there_and_all_where_the_budget_pays_for_all():
    mask = torch.tensor([[False, False, False], [True, False, True]])
    scores = torch.tensor([[torch.nan, 1.0, 2.0], [3.0, torch.inf, 1.0]], dtype=torch.float64, requires_grad=True)
    for budget, costs in ((3, None), (4.5, [1.0, 2.0, 3.0])):
        pull = layers.soft_top_k(scores, budget, 0.1, costs=costs, mask=mask)
        (d,) = torch.autograd.grad(pull.sum(), scores)
        assert (d == 0).all() and pull.tolist() == [[0, 0, 0], [1, 0, 1]]


# ---- transforms -------------------------------------------------------------------------------------------------------------------------

# functions of one tensor, and an input
FUNCTIONS = {
    "scores": (lambda x: layers.soft_top_k(x, BUDGET, 0.4, costs=COSTS, mask=MASK), SCORES),
    "one problem": (lambda x: shown(layers.soft_top_k(x, 1.5, 0.4, costs=COSTS[0, 0], mask=MASK[0, 0], log_odds=True), MASK[0, 0]), SCORES[0, 0]),
    "masked": (lambda x: layers.soft_top_k(x, 1.5, TEMPERATURE, mask=MASK), SCORES),
    "costs": (lambda x: layers.soft_top_k(SCORES, BUDGET, 0.4, costs=x.exp(), mask=MASK), COSTS.log()),
    "shared costs": (lambda x: layers.soft_top_k(SCORES, BUDGET, 0.4, costs=x.exp(), mask=MASK), COSTS[0, 0].log()),
    "budget": (lambda x: layers.soft_top_k(SCORES, x.exp(), 0.4, costs=COSTS[0, 0]), BUDGET.log()),
    "shared temperature": (lambda x: layers.soft_top_k(SCORES, BUDGET, x.exp(), costs=COSTS, mask=MASK[0, 0]), torch.tensor(-1.0).double()),
}
named = pytest.mark.parametrize("name", FUNCTIONS)


@named
def test_gradients_of_functorch_are_those_of_autograd(name):
    gradients_are_those_of_autograd(*FUNCTIONS[name], is_exact=True)


@named
@pytest.mark.parametrize("axis", [0, -1])
def test_vmap_is_a_loop(name, axis):
    vmap_is_a_loop(*FUNCTIONS[name], axis, other=-1, is_exact=True)


@named
def test_second_derivatives_and_forward_mode_are_refused_and_not_zero(name):
    second_derivatives_and_forward_mode_are_refused(*FUNCTIONS[name])


@named
def test_compiled_exported_and_checkpointed_is_eager(name):
    compiled_exported_and_checkpointed_is_eager(*FUNCTIONS[name], is_inside=False)


def test_vmap_over_everything_there_is_is_one_call_and_a_loop(monkeypatch):
    calls, native = [], restive.soft_top_k
    monkeypatch.setattr(restive, "soft_top_k", lambda *a, **k: calls.append(a[0].shape) or native(*a, **k))
    f = lambda x, k, e, c, m: layers.soft_top_k(x, k, e, costs=c, mask=m)  # noqa: E731
    found = vmap(vmap(f))(SCORES, BUDGET, TEMPERATURE, COSTS, MASK)
    assert calls == [SHAPE]
    assert torch.equal(found, f(SCORES, BUDGET, TEMPERATURE, COSTS, MASK))
    found = vmap(f, in_dims=(None, None, None, 0, 0))(SCORES[0], BUDGET[0], 0.4, COSTS[:, 0], MASK[:, 0])
    for k in range(2):
        assert torch.equal(found[k], f(SCORES[0], BUDGET[0], 0.4, COSTS[k, 0], MASK[k, 0]))
    # a mask alone
    found = vmap(lambda m: layers.soft_top_k(SCORES[0, 0], 1.5, 0.4, mask=m))(MASK[0])
    for k in range(3):
        assert torch.equal(found[k], layers.soft_top_k(SCORES[0, 0], 1.5, 0.4, mask=MASK[0, k]))


def test_operators_pass_opcheck():
    blank = torch.empty(0, dtype=torch.uint8)
    for beside in SHARES.values():
        for log_odds in (False, True):
            tensors = [x.clone().requires_grad_() if x is not None and x.is_floating_point() else x for x in (SCORES, *beside)]
            torch.library.opcheck(torch.ops.restive.soft_top_k.default, (*tensors, log_odds))
        wants = [True, True, True, beside[2] is not None]
        given = (torch.ones(SHAPE, dtype=torch.float64), SCORES, *beside, blank, False, wants)
        torch.library.opcheck(torch.ops.restive.soft_top_k_pullback.default, given)


# ---- what is wrong ------------------------------------------------------------------------------------------------------------------------

WRONG = {
    "costs of too few": {"costs": np.ones(2)},
    "costs of other problems": {"costs": np.ones((3, 3))},
    "a cost of nothing": {"costs": np.array([1.0, 0.0, 1.0])},
    "a cost that is no number": {"costs": np.array([[1.0, 1.0, 1.0], [1.0, np.nan, 1.0]])},
    "costs without a number": {"costs": np.ones(3, dtype=complex)},
    "a mask of whole numbers": {"mask": np.array([1, 0, 1])},
    "a mask of numbers": {"mask": np.array([1.0, 0.0, 1.0])},
    "a mask of another shape": {"mask": np.ones((3, 2), dtype=bool)},
    "a score that is no number": {"scores": np.array([[0.1, 0.2, 0.3], [np.nan, np.inf, 0.6]]), "mask": np.array([False, True, True])},
    "a budget below nothing": {"budget": -1.0, "costs": np.ones(3)},
    "a budget of more than there are": {"budget": 4.0, "mask": np.ones(3, dtype=bool)},
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("form", ["tensors", "arrays"])
def test_what_is_wrong_is_said_in_the_words_of_the_native_module(name, form):
    given = {"scores": np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]), "budget": 1.0, "temperature": 0.1, **WRONG[name]}
    with pytest.raises(ValueError) as truth:
        restive.soft_top_k(**given)
    as_given = {key: torch.tensor(x) if form == "tensors" and isinstance(x, np.ndarray) else x for key, x in given.items()}
    with pytest.raises(ValueError) as found:
        layers.soft_top_k(**{**as_given, "scores": torch.tensor(given["scores"])})
    if name != "costs without a number":  # that is said as of any setting
        assert str(found.value) == str(truth.value)
    assert str(found.value).split(":")[0] == str(truth.value).split(":")[0]


def test_the_words_for_one_problem_are_those_of_one_problem():
    for given in ({"costs": np.ones(2)}, {"mask": np.ones((1, 3), dtype=bool)}, {"costs": np.array([1.0, 1.0, -1.0])}):
        with pytest.raises(ValueError) as truth:
            restive.soft_top_k(np.zeros(3), 1, 0.1, **given)
        with pytest.raises(ValueError) as found:
            layers.soft_top_k(torch.zeros(3), 1, 0.1, **given)
        assert str(found.value) == str(truth.value)
    with pytest.raises(ValueError, match=r"costs: found shape \[2\], expected shape \[3\], that of the scores$"):
        vmap(lambda x: layers.soft_top_k(x, 1, 0.1, costs=np.ones(2)))(torch.zeros(4, 3))
