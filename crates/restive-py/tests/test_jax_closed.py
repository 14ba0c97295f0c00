"""JAX's own operations against the native module, which is compiled from other code, against differences, and without host callbacks."""

import doctest
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import restive
import restive.jax
from differences import derivative
from jax.test_util import check_grads

jax.config.update("jax_enable_x64", True)
RNG = np.random.default_rng(11)
# rounding of some tens of operations
CLOSE = {"rtol": 1e-12, "atol": 1e-13}


def arms(n, form):
    p = RNG.random((n, 4))
    return p if form == "compact" else np.stack([1.0 - p, p], -1).reshape(n, 2, 2, 2)


@pytest.mark.parametrize("form", ["compact", "full"])
@pytest.mark.parametrize("discount", [0.0, 0.5, 0.99, 1.0])
def test_two_states_are_those_of_the_native_module(form, discount):
    P, rewards, c = arms(500, form), RNG.normal(size=(2, 2)), RNG.normal(size=(500, 2))
    native = restive.whittle_index(P, rewards, discount)
    index, pull_back = jax.vjp(lambda P: restive.jax.whittle_index(P, rewards, discount), P)
    np.testing.assert_allclose(index, native.index, **CLOSE)
    np.testing.assert_allclose(pull_back(c)[0], native.pullback(c), rtol=1e-11, atol=1e-11)  # slopes reach 100
    other = np.swapaxes(P, 1, 2) if form == "full" else P
    np.testing.assert_allclose(restive.jax.whittle_index(other, rewards, discount, layout="nass"), index, **CLOSE)


def test_two_states_have_slopes_by_rewards_and_discount_of_each_arm():
    P, rewards, discount = arms(6, "compact").reshape(2, 3, 4), RNG.normal(size=(2, 3, 2, 2)), RNG.random((2, 3)) * 0.9
    found = jax.jit(restive.jax.whittle_index)(P, rewards, discount)
    for k in np.ndindex(2, 3):
        np.testing.assert_allclose(found[k], restive.whittle_index(P[k][None], rewards[k], discount[k]).index[0], **CLOSE)
    check_grads(restive.jax.whittle_index, (P, rewards, discount), order=1, rtol=1e-6, atol=1e-6)
    check_grads(lambda r, g: restive.jax.whittle_index(P, r, g), (rewards[0, 0, :, 0], 0.7), order=1, rtol=1e-6, atol=1e-6)


def test_an_arm_that_never_moves_has_no_average_and_no_gradient():
    P = jnp.array([[0.2, 0.8, 0.5, 0.5], [0.0, 0.0, 1.0, 1.0]])
    index, pull_back = jax.vjp(lambda P: restive.jax.whittle_index(P, discount=1.0), P)
    assert jnp.isnan(index[1]).all() and jnp.isfinite(index[0]).all()
    (d,) = pull_back(jnp.ones((2, 2)))
    assert (d[1] == 0).all() and jnp.isfinite(d).all() and abs(d[0]).max() > 0


SOFT = [(7, 2.5, 0.4), (500, 100, 0.3), (300, 20, 0.01), (9, 3, 1e-3), (200, 3.25, 1e-4), (40, 1, 0.2), (5, 4.5, 10.0), (30, 29, 1e-6)]
ENDS = [(4, 0, 0.1), (4, 4, 0.1), (4, 2, 0.0), (4, 1.5, 0.0), (4, 2, 1e-320), (4, 1.5, np.inf)]


@pytest.mark.parametrize(("n", "budget", "temperature"), [*SOFT, *ENDS])
@pytest.mark.parametrize("log_odds", [False, True])
def test_soft_top_k_is_that_of_the_native_module(n, budget, temperature, log_odds):
    x = RNG.normal(size=(2, n)) if (n, budget, temperature) in SOFT else np.array([[3.0, 1.0, 1.0, -2.0], [0.5, 0.5, 0.5, 0.1]])
    c = RNG.normal(size=x.shape)
    native = restive.soft_top_k(x, budget, temperature)
    # a pull of e^-10,000 has the rounding of its log-odds
    answer, pull_back = jax.vjp(lambda x, e: restive.jax.soft_top_k(x, float(budget), e, log_odds=log_odds), x, temperature)
    np.testing.assert_allclose(answer, native.log_odds if log_odds else native.pull, rtol=1e-12 if log_odds else 1e-9, atol=1e-12)
    d_x, d_e = pull_back(c)
    truth, d_truth = native.pullback(c, log_odds=log_odds)
    # slopes follow the threshold, which is rounded once over the temperature
    np.testing.assert_allclose(d_x, truth, rtol=1e-10, atol=1e-11 * abs(truth).max() + 1e-15 / max(temperature, 1e-4))
    np.testing.assert_allclose(d_e, d_truth, rtol=1e-8, atol=1e-11)


def test_soft_top_k_has_slopes_by_budget_and_temperature_of_each_problem():
    x, budget, temperature = RNG.normal(size=(2, 3, 6)), RNG.uniform(0.5, 5.5, (2, 3)), RNG.uniform(0.1, 2.0, (2, 3))
    for log_odds in (False, True):
        f = lambda *a: restive.jax.soft_top_k(*a, log_odds=log_odds)  # noqa: B023, E731
        check_grads(f, (x, budget, temperature), order=1, rtol=1e-5, atol=1e-6)
        check_grads(f, (x, 2.5, 0.7), order=2, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(restive.jax.soft_top_k(x, budget, temperature).sum(-1), budget, rtol=1e-12)
    together = jax.jit(jax.vmap(restive.jax.soft_top_k))(x.reshape(6, 6), budget.reshape(6), temperature.reshape(6))
    np.testing.assert_allclose(together.reshape(x.shape), restive.jax.soft_top_k(x, budget, temperature), **CLOSE)


def test_soft_top_k_in_float32_keeps_its_digits():
    x = (1e3 + RNG.normal(size=300)).astype(np.float32)
    for budget, temperature in ((20, 0.3), (20.5, 0.01), (20, 1e-3)):
        exact = restive.soft_top_k(x.astype(np.float64), budget, float(np.float32(temperature)))
        found = restive.jax.soft_top_k(x, budget, np.float32(temperature), log_odds=True)
        assert found.dtype == jnp.float32
        # a few roundings of the largest log-odds
        np.testing.assert_allclose(found, exact.log_odds, rtol=2e-6, atol=1e-5)
        np.testing.assert_allclose(restive.jax.soft_top_k(x, budget, np.float32(temperature)).sum(), budget, rtol=1e-5)


def log_of(j, h, n):
    state, action = RNG.integers(-1, 3, (j, h + 1, n)), RNG.integers(-1, 2, (j, h, n))
    return state, action


@pytest.mark.parametrize("up_to", ["this-step", "previous-step"])
@pytest.mark.parametrize("kind", ["log-odds", "pulls", "certain pulls"])
@pytest.mark.parametrize("rewards", [[0.0, 0.4, 1.0], [[0.0, 0.1], [0.4, 0.4], [1.0, 0.7]], "logged"])
def test_values_are_those_of_the_native_module(kind, up_to, rewards):
    state, action = log_of(5, 4, 6)
    pull = RNG.normal(size=(5, 4, 6)) * 30 if kind == "log-odds" else RNG.random((5, 4, 6))
    if kind == "certain pulls":
        pull[pull < 0.2], pull[pull > 0.85] = 0.0, 1.0
    if rewards == "logged":
        rewards = RNG.random((5, 4, 6))
        rewards[RNG.random(rewards.shape) < 0.1] = np.nan
    how = {"budget": 2, "discount": 0.9, "ratio_up_to": up_to, "log_odds": kind == "log-odds"}
    native = restive.cwpdis(pull, state, action, rewards, **how)
    found = jax.jit(lambda pull: restive.jax.cwpdis(pull, state, action, rewards, full=True, **how))(pull)
    np.testing.assert_allclose(found.value, native.value, rtol=1e-12)
    np.testing.assert_allclose(found.effective_sample_size, native.effective_sample_size, rtol=1e-12)
    assert found.dropped == native.dropped
    gradient = jax.grad(lambda pull: restive.jax.cwpdis(pull, state, action, rewards, **how))(pull)
    np.testing.assert_allclose(gradient, native.pullback(), rtol=1e-10, atol=1e-12)


def test_values_have_slopes_by_rewards_propensity_and_discount():
    state, action = log_of(5, 3, 4)
    z, table, logged = RNG.normal(size=(5, 3, 4)), RNG.random((3, 2)), RNG.random((5, 3, 4))
    propensity = RNG.uniform(0.2, 0.8, (5, 3, 4))

    def native(table, discount, propensity, rewards=None):
        return restive.cwpdis(z, state, action, table if rewards is None else rewards, None, propensity, float(discount), log_odds=True).value

    def ours(table, discount, propensity):
        return restive.jax.cwpdis(z, state, action, table, None, propensity, discount, log_odds=True)

    for values in ((table[:, 0], 0.8, propensity), (logged, 0.8, propensity)):
        found = jax.jit(jax.grad(ours, argnums=(0, 1, 2)))(*values)
        for k in range(3):
            direction = RNG.normal(size=np.shape(values[k]))
            f = lambda x: native(*values[:k], x, *values[k + 1 :])  # noqa: B023, E731
            np.testing.assert_allclose((found[k] * direction).sum(), derivative(f, np.asarray(values[k]), direction), rtol=1e-7, atol=1e-9)


def test_values_in_float32_of_nearly_strict_targets_do_not_drop_terms():
    state, action = RNG.integers(0, 2, (4, 3, 5)), RNG.integers(0, 2, (4, 3, 5))
    z = (RNG.normal(size=(4, 3, 5)) * 300).astype(np.float32)
    how = {"budget": 2, "log_odds": True}
    native = restive.cwpdis(z.astype(np.float64), state, action, [0.0, 1.0], **how)
    found = restive.jax.cwpdis(z, state, action, [0.0, 1.0], full=True, **how)
    assert found.dropped == native.dropped == 0 and found.value.dtype == jnp.float32
    np.testing.assert_allclose(found.value, native.value, rtol=1e-4)  # ratios of e^300 carry seven digits of their exponent


def test_examples_run():
    for module in (restive.jax, restive.jax.evaluation, restive.jax.index, restive.jax.policy):
        found = doctest.testmod(module)
        assert found.attempted > 0 and found.failed == 0


def test_nothing_calls_back_to_the_host():
    state, action = RNG.integers(0, 2, (2, 3, 4)), RNG.integers(0, 2, (2, 3, 4))

    def value(P, rewards, discount, budget, temperature):
        index = restive.jax.whittle_index(P, rewards, discount)
        z = restive.jax.soft_top_k(index[jnp.arange(4), state], budget, temperature, log_odds=True)
        return restive.jax.cwpdis(z, state, action, rewards, budget=2, discount=discount, log_odds=True)

    inputs = (arms(4, "compact"), np.array([0.0, 1.0]), 0.9, 1.5, 0.3)
    step = jax.jit(jax.grad(value, argnums=(0, 1, 2, 3, 4)))
    assert "callback" not in str(step.lower(*inputs).as_text())
    for found, x in zip(step(*inputs), inputs):
        assert found.shape == np.shape(x) and jnp.isfinite(found).all() and abs(found).max() > 0
    check_grads(value, inputs, order=1, modes=["rev"], rtol=1e-4, atol=1e-5)


def test_without_x64_the_whole_chain_is_float32():
    code = (
        "import numpy as np, jax, restive.jax as r; "
        "f = lambda P, g, k, e: r.soft_top_k(r.whittle_index(P, discount=g)[:, 0], k, e).sum(); "
        "print({str(x.dtype) for x in jax.jit(jax.grad(f, argnums=(0, 1, 2, 3)))(np.full((3, 4), 0.5), 0.9, 1.0, 0.1)})"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "{'float32'}\n"
