"""Costs and absent arms of JAX's soft top-k: against the native module, against differences, and under transforms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import restive
import restive.jax
from differences import derivative

jax.config.update("jax_enable_x64", True)
ROWS = 40


def problems(random, n, kind):
    """Scores, budgets, temperatures, costs and masks of many problems. Costs in eighths add up without rounding, so that budgets may be their sums."""
    scores = random.normal(size=(ROWS, n)) * 10 ** random.uniform(-1, 1, (ROWS, 1))
    costs = random.uniform(0.2, 3.0, (ROWS, n)) if kind == "any" else random.integers(1, 17, (ROWS, n)) / 8
    if kind == "ties":
        scores = random.integers(-2, 3, (ROWS, n)) * costs
    mask = random.random((ROWS, n)) < random.choice([0.0, 0.5, 0.9, 1.0], (ROWS, 1))
    share, drawn = random.random(ROWS), random.random(ROWS)
    temperature = 10 ** random.uniform(-5, 1, ROWS)
    temperature = np.where(drawn < 0.15, 0.0, np.where(drawn < 0.25, np.inf, np.where(drawn < 0.3, 1e-320, temperature)))
    if kind != "any":
        share = np.where(drawn[::-1] < 0.1, 0.0, np.where(drawn[::-1] < 0.2, 1.0, share))
    return scores, share, temperature, costs, mask


@jax.jit
def both(scores, budget, temperature, options):
    return tuple(restive.jax.soft_top_k(scores, budget, temperature, **options, log_odds=log_odds) for log_odds in (False, True))


@jax.jit
def backs(scores, budget, temperature, costs, options, c):
    """Cotangents of the pulls and of the log-odds."""
    return [
        jax.vjp(lambda x, k, e, costs, way=way: both(x, k, e, {**options, **costs})[way], scores, budget, temperature, costs)[1](c)
        for way in (0, 1)
    ]


@pytest.mark.parametrize("kind", ["any", "ties", "eighths"])
@pytest.mark.parametrize("with_", ["costs", "mask", "both"])
def test_problems_are_those_of_the_native_module(kind, with_):
    random = np.random.default_rng(1)
    for n in (1, 2, 9, 150):
        scores, share, temperature, costs, mask = problems(random, n, kind)
        there = mask if with_ != "costs" else np.ones_like(mask)
        budget = share * np.where(there, costs if with_ != "mask" else 1.0, 0.0).sum(-1)
        budget = budget if kind == "any" else np.round(8 * budget) / 8
        costs = {"costs": costs} if with_ != "mask" else {}
        options = {"mask": mask} if with_ != "costs" else {}
        native = restive.soft_top_k(scores, budget, temperature, **options, **costs)
        pull, z = both(scores, budget, temperature, {**options, **costs})
        np.testing.assert_allclose(pull, native.pull, rtol=0, atol=1e-12)
        np.testing.assert_allclose(z, native.log_odds, rtol=1e-11, atol=1e-11)  # what rounding leaves of the budget, over the slopes
        c = np.where(there, random.normal(size=scores.shape), 0.0)
        for log_odds, found in zip((False, True), backs(scores, budget, temperature, costs, options, c)):
            truth = native.pullback_all(c, log_odds=log_odds)
            for of, ours in zip(("d_scores", "d_budget", "d_temperature", "d_costs"), (*found[:3], found[3].get("costs"))):
                theirs = getattr(truth, of)
                if of == "d_costs" and with_ == "mask":
                    assert ours is theirs is None
                    continue
                ours, theirs = (np.asarray(d).reshape(ROWS, -1) for d in (ours, theirs))
                # a slope over a temperature is rounded where the score is, and one by the budget may be larger than any number
                ours, theirs = (np.where(np.isfinite(d), d, 1e300) for d in (ours, theirs))
                size = abs(theirs).max(-1, keepdims=True) + (1e-5 if of != "d_budget" else 0.0) / np.maximum(temperature, 1e-5)[:, None]
                is_number = (size < 1e200) & (temperature > 1e-300)[:, None] | (of == "d_scores")
                np.testing.assert_allclose(np.where(is_number, (ours - theirs) / (size + 1e-9), 0.0), 0.0, atol=1e-8, err_msg=of)


@pytest.mark.parametrize("log_odds", [False, True])
def test_gradients_equal_finite_differences(log_odds):
    random = np.random.default_rng(2)
    scores, costs, mask = random.normal(size=(2, 3, 8)), random.uniform(0.5, 2.0, 8), random.random((3, 8)) < 0.7
    mask[:, 0] = True
    mask = np.stack([mask, ~mask | (np.arange(8) == 0)])
    point = (scores, random.uniform(0.2, 0.4, (2, 3)), random.uniform(0.2, 1.0, (2, 3)), costs)
    weight = np.where(mask, random.normal(size=scores.shape), 0.0)

    @jax.jit
    def value(scores, budget, temperature, costs):
        answer = restive.jax.soft_top_k(scores, budget, temperature, costs=costs, mask=mask, log_odds=log_odds)
        return jnp.where(mask, answer, 0.0), jnp.sum(jnp.where(mask, answer, 0.0) * weight)

    gradient = jax.jit(jax.grad(lambda *x: value(*x)[1], argnums=(0, 1, 2, 3)))
    directions = [random.normal(size=np.shape(x)) for x in point]
    found = gradient(*point)
    assert (np.asarray(found[0])[~mask] == 0).all()
    for k, d in enumerate(found):
        along = derivative(lambda x, k=k: value(*point[:k], x, *point[k + 1 :])[1], point[k], directions[k])
        assert float(np.sum(d * directions[k])) == pytest.approx(float(along), rel=1e-7, abs=1e-8)
    # forward mode is the same, and derivatives of derivatives are those of the gradient
    _, (_, slope) = jax.jit(lambda *v: jax.jvp(value, point, v))(*directions)
    assert float(slope) == pytest.approx(sum(float(np.sum(d * v)) for d, v in zip(found, directions)), rel=1e-11)
    _, curve = jax.jit(lambda *v: jax.jvp(gradient, point, v))(*directions)
    along = derivative(lambda h: np.concatenate([np.ravel(d) for d in gradient(*(x + h * v for x, v in zip(point, directions)))]), 0.0, 1.0)
    np.testing.assert_allclose(np.concatenate([np.ravel(d) for d in curve]), along, rtol=1e-6, atol=1e-6)


def test_transforms_are_loops_and_what_is_shared_is_summed():
    random = np.random.default_rng(3)
    scores, costs, mask = random.normal(size=(4, 6)), random.uniform(0.5, 2.0, (4, 6)), random.random((4, 6)) < 0.8
    budget, temperature, c = random.uniform(0.3, 1.0, 4), random.uniform(0.1, 1.0, 4), random.normal(size=(4, 6))

    def pull(x, k, e, costs, mask):
        return restive.jax.soft_top_k(x, k, e, costs=costs, mask=mask)

    batch, mapped = pull(scores, budget, temperature, costs, mask), jax.vmap(pull)(scores, budget, temperature, costs, mask)
    for row in range(4):
        one = pull(scores[row], budget[row], temperature[row], costs[row], mask[row])
        np.testing.assert_allclose(batch[row], one, rtol=1e-13, atol=1e-15)
        np.testing.assert_allclose(mapped[row], one, rtol=1e-13, atol=1e-15)
        there = mask[row]
        alone = restive.jax.soft_top_k(scores[row][there], budget[row], temperature[row], costs=costs[row][there])
        np.testing.assert_allclose(one[there], alone, rtol=1e-12, atol=1e-14)
        assert (np.asarray(one)[~there] == 0).all()
    own = jax.vjp(lambda costs: pull(scores, 0.7, 0.3, costs, mask[0]), np.tile(costs[0], (4, 1)))[1](c)[0]
    shared = jax.vjp(lambda costs: pull(scores, 0.7, 0.3, costs, mask[0]), costs[0])[1](c)[0]
    np.testing.assert_allclose(shared, own.sum(0), rtol=1e-12, atol=1e-14)
    assert abs(shared).max() > 0.01


def test_nearly_strict_policies_have_slopes_by_scores_in_forward_mode():
    scores = np.array([0.9, 0.5, 0.1])
    for costs in (None, np.array([1.0, 0.75, 2.0])):
        f = lambda x: restive.jax.soft_top_k(x, 1.0, 1e-6, costs=costs, log_odds=True)  # noqa: B023, E731
        _, slope = jax.jvp(f, (scores,), (np.array([1.0, 0.0, 0.0]),))
        # the threshold lies between the first two and moves half as far
        np.testing.assert_allclose(slope, np.array([0.5, -0.5, -0.5]) / 1e-6, rtol=1e-6)


def test_float32_is_answered_in_float32():
    random = np.random.default_rng(4)
    scores, costs = random.normal(size=200).astype(np.float32), random.uniform(0.3, 2.0, 200).astype(np.float32)
    mask = random.random(200) < 0.8
    for temperature in (0.3, 1e-2):
        exact = restive.soft_top_k(scores, 30.0, float(np.float32(temperature)), costs=costs, mask=mask)
        found = restive.jax.soft_top_k(scores, 30.0, temperature, costs=costs, mask=mask, log_odds=True)
        assert found.dtype == jnp.float32
        # seven digits of the largest log-odds, and of what is left of the budget
        np.testing.assert_allclose(found, exact.log_odds, rtol=1e-5, atol=1e-3)
        spent = (restive.jax.soft_top_k(scores, 30.0, temperature, costs=costs, mask=mask) * costs).sum()
        assert float(spent) == pytest.approx(30.0, rel=1e-5)


@pytest.mark.parametrize(
    "wrong",
    [
        {"costs": np.ones(2)},
        {"costs": [1.0, 0.0, 1.0]},
        {"costs": [1.0, np.nan, 1.0]},
        {"costs": np.full((2, 3), np.inf)},
        {"costs": np.ones(3), "budget": np.inf},
        {"costs": np.ones(3), "budget": -1.0},
        {"mask": [1, 0, 1]},
        {"mask": np.ones((3, 2), dtype=bool)},
        {"mask": [True, False, True], "budget": 3.5},
        {"mask": [False, True, True], "scores": np.array([[np.nan] * 3, [0.0] * 3])},
        {"mask": [False, False, False], "costs": [1.0, -1.0, 1.0]},
        {"budget": np.ones(3)},
        {"temperature": [0.1, -1.0]},
    ],
)
def test_what_is_refused_is_refused_in_the_same_words(wrong):
    given = {"scores": np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]), "budget": 1.0, "temperature": 0.1, **wrong}
    with pytest.raises(ValueError) as native:
        restive.soft_top_k(**given)
    with pytest.raises(ValueError) as ours:
        restive.jax.soft_top_k(**given)
    assert str(ours.value) == str(native.value)


def test_under_jit_a_problem_with_what_is_wrong_is_nan_and_the_others_are_not():
    scores = jnp.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
    f = jax.jit(lambda x, k, c, m: restive.jax.soft_top_k(x, k, 0.1, costs=c, mask=m))
    costs, mask = jnp.ones((2, 3)), jnp.array([[True, True, False]] * 2)
    for x, k, c in [
        (scores, 1.0, costs.at[1, 2].set(0.0)),  # of an absent arm too, as the native module has it
        (scores, jnp.array([1.0, -1.0]), costs),
        (scores.at[1, 0].set(jnp.nan), 1.0, costs),
    ]:
        found = f(x, k, c, mask)
        assert jnp.isfinite(found[0]).all() and jnp.isnan(found[1]).all()
    assert jnp.isfinite(f(scores.at[1, 2].set(jnp.nan), 1.0, costs, mask)).all()  # whatever is written of somebody who is not there
    with pytest.raises(ValueError, match="mask: found dtype .*, expected booleans"):
        f(scores, 1.0, costs, mask.astype(int))
    d = jax.grad(lambda c: jnp.nansum(f(scores.at[1, 0].set(jnp.nan), 1.0, c, mask)[:, 0]))(costs)
    assert jnp.isfinite(d).all() and (d[0, :2] != 0).all() and (d[1] == 0).all()


def test_nobody_there_and_nothing_to_spend():
    scores, nobody = np.array([0.3, 0.1]), np.zeros(2, bool)
    np.testing.assert_array_equal(restive.jax.soft_top_k(scores, 1.0, 0.1, mask=nobody), [0.0, 0.0])
    np.testing.assert_array_equal(restive.jax.soft_top_k(scores, 1.0, 0.1, costs=[1.0, 2.0], mask=nobody, log_odds=True), [-np.inf] * 2)
    np.testing.assert_array_equal(restive.jax.soft_top_k(scores, 0.0, 0.1, costs=[1.0, 2.0]), [0.0, 0.0])
    np.testing.assert_array_equal(restive.jax.soft_top_k(scores, 7.0, 0.1, costs=[1.0, 2.0]), [1.0, 1.0])
    assert restive.jax.soft_top_k(np.zeros((3, 0)), 0.0, 0.1, costs=np.zeros(0), mask=np.zeros(0, bool)).shape == (3, 0)


def test_nothing_calls_back_to_the_host():
    inputs = (np.zeros((2, 3)), 1.0, 0.1, np.ones(3), np.ones((2, 3), bool))
    f = lambda x, k, e, c, m: restive.jax.soft_top_k(x, k, e, costs=c, mask=m)[0, 0]  # noqa: E731
    assert "callback" not in jax.jit(jax.grad(f, argnums=(0, 1, 2, 3))).lower(*inputs).as_text()
