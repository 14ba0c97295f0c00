"""From indices to an off-policy value, through soft top-k, against numbers computed with 150 and more digits.

At low temperatures a strict policy's chance of doing what was logged is e^-1000 and less. Log-odds carry it through NumPy, PyTorch
and JAX, in double and in single precision.
"""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import restive.jax
import restive.torch
import torch
from golden import cases

import restive

CASES = cases("importance_sampling")
jax.config.update("jax_enable_x64", True)


class Problem:
    """A case: indices, the log, and what is true of it."""

    def __init__(self, case, dtype):
        self.temperature, self.budget = case["temperature"], case["k"]
        self.index = np.array(case["index"], dtype=dtype)
        self.state, self.action = np.array(case["state"]), np.array(case["action"])
        self.arms = np.arange(len(self.index))
        self.log = {
            "state": self.state, "action": self.action, "rewards": np.array(case["reward"], dtype=float),
            "propensity": np.array(case["propensity"]), "discount": 0.9, "log_odds": True,
        }  # fmt: skip
        # log-odds reach 5/temperature and are rounded: that moves a chance by as much, relatively; slopes are over the temperature
        unit = np.finfo(dtype).eps
        self.rounding = 60 * unit * (1 + 1 / self.temperature)
        self.slope_rounding = 60 * unit / self.temperature

    def check(self, truth, value, d_index, d_temperature=None):
        d_truth = np.array(truth["d_index"])
        np.testing.assert_allclose(float(value), truth["value"], rtol=0, atol=3 * self.rounding)
        allowed = self.rounding * np.abs(d_truth).max() + self.slope_rounding
        np.testing.assert_allclose(d_index, d_truth, rtol=0, atol=allowed)
        if d_temperature is not None:
            allowed = self.rounding * abs(truth["d_temperature"]) + self.slope_rounding * (1 + 1 / self.temperature)
            assert abs(d_temperature - truth["d_temperature"]) < 10 * allowed


def either(least):
    """The cases from some temperature on."""
    return [pytest.param(case, id=f"{case['temperature']}-{case['k']}") for case in CASES if case["temperature"] >= least]


@pytest.mark.parametrize("case", either(1e-3))
def test_numpy(case):
    problem = Problem(case, np.float64)
    soft = restive.soft_top_k(problem.index[problem.arms, problem.state], problem.budget, problem.temperature)
    judges = {
        "this_step": lambda z: restive.cwpdis(z, **problem.log),
        "previous_step": lambda z: restive.cwpdis(z, **problem.log, ratio_up_to="previous-step"),
        "segmented": lambda z: restive.segmented(z, **problem.log),
    }
    for name, judge in judges.items():
        judged = judge(soft.log_odds)
        d_scores, d_temperature = soft.pullback(judged.pullback(), log_odds=True)
        d_index = np.zeros_like(problem.index)
        np.add.at(d_index, (np.broadcast_to(problem.arms, problem.state.shape), problem.state), d_scores)
        problem.check(case[name], judged.value, d_index, d_temperature)


@pytest.mark.parametrize(
    ("case", "dtype"),
    [pytest.param(*case.values, torch.float64, id=case.id) for case in either(1e-3)]
    + [pytest.param(*case.values, torch.float32, id=f"{case.id}-float32") for case in either(1e-2)],
)
def test_torch(case, dtype):
    problem = Problem(case, {torch.float32: np.float32, torch.float64: np.float64}[dtype])
    index = torch.tensor(problem.index, requires_grad=True)
    scores = index[torch.tensor(problem.arms), torch.tensor(problem.state)]
    log_odds = restive.torch.SoftTopK(problem.budget, problem.temperature, log_odds=True)(scores)
    judged = restive.torch.Cwpdis(**problem.log, full=True)(log_odds)
    assert log_odds.dtype == judged.value.dtype == dtype
    assert judged.effective_sample_size >= 1 and judged.dropped == 0
    judged.value.backward()
    problem.check(case["this_step"], judged.value.detach(), index.grad)


@pytest.mark.parametrize(
    ("case", "dtype"),
    [pytest.param(*case.values, jnp.float64, id=case.id) for case in either(1e-3)]
    + [pytest.param(*case.values, jnp.float32, id=f"{case.id}-float32") for case in either(1e-2)],
)
def test_jax(case, dtype):
    problem = Problem(case, dtype)

    def value(index):
        scores = index[problem.arms, problem.state]
        log_odds = restive.jax.soft_top_k(scores, problem.budget, problem.temperature, log_odds=True)
        judged = restive.jax.cwpdis(log_odds, **problem.log, full=True)
        return judged.value, judged

    (found, judged), d_index = jax.jit(jax.value_and_grad(value, has_aux=True))(jnp.asarray(problem.index, dtype=dtype))
    assert found.dtype == dtype and judged.effective_sample_size >= 1 and judged.dropped == 0
    problem.check(case["this_step"], found, d_index)


def test_pulls_that_have_lost_their_digits_are_warned_of():
    problem = Problem(CASES[1], np.float64)
    index = torch.tensor(problem.index, requires_grad=True)
    scores = index[torch.tensor(problem.arms), torch.tensor(problem.state)]
    log = {**problem.log, "log_odds": False}
    with pytest.warns(UserWarning, match="hand on log-odds instead"):
        restive.torch.cwpdis(restive.torch.soft_top_k(scores, 2, 0.01), **log)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        restive.torch.cwpdis(restive.torch.soft_top_k(scores, 2, 1.0), **log)
        restive.torch.cwpdis(restive.torch.soft_top_k(scores.detach(), 2, 0.0), **log)  # strict, and no gradient is asked for


def test_a_log_in_which_nothing_was_seen_answers_that_nothing_is_known():
    state, action = np.full((3, 4, 2), -1), np.zeros((3, 3, 2), int)
    action[..., 0] = 1
    judged = restive.cwpdis(np.full((3, 3, 2), 0.5), state, action, [0.0, 1.0], budget=1)
    assert np.isnan(judged.value) and judged.effective_sample_size == 0 and judged.dropped == 6
    assert "nothing known" in repr(judged) and not judged.pullback().any()
    judged = restive.segmented(np.full((3, 3, 2), 0.5), state, action, [0.0, 1.0], budget=1)
    assert np.isnan(judged.value) and judged.effective_sample_size == 0 and "nothing known" in repr(judged)
    judged = restive.torch.cwpdis(torch.full((3, 3, 2), 0.5), state, action, [0.0, 1.0], budget=1, full=True)
    assert judged.value.isnan() and judged.effective_sample_size == 0 and judged.dropped == 6


def test_log_odds_are_checked():
    log = {"state": np.zeros((1, 2, 2), int), "action": [[[1, 0]]], "rewards": [0.0, 1.0], "budget": 1}
    strict = restive.cwpdis([[[np.inf, -np.inf]]], **log, log_odds=True)
    assert strict.value == 0.0 and strict.dropped == 0
    with pytest.raises(ValueError, match="pull: trajectory 0, step 0, arm 1: found NaN, expected log-odds"):
        restive.cwpdis([[[0.0, np.nan]]], **log, log_odds=True)
