"""The border: wrong arrays are a ValueError that says what and where, whatever they hold; nothing panics."""

import multiprocessing
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import restive

GOOD = np.array([[0.2, 0.8, 0.5, 0.5], [0.1, 0.3, 0.6, 0.9]])
FULL = np.stack([1 - GOOD, GOOD], axis=-1).reshape(2, 2, 2, 2)


def changed(array, at, value):
    array = array.copy()
    array[at] = value
    return array


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: restive.whittle_index(np.zeros(4)), r"P: found shape \[4\], expected \[N, M, 2, M\]"),
        (lambda: restive.whittle_index(np.zeros((3, 2, 5, 5))), 'did you mean layout="nass"'),
        (lambda: restive.whittle_index(np.zeros((3, 5, 2, 5)), layout="nass"), 'did you mean layout="nsas"'),
        (lambda: restive.whittle_index(GOOD, layout="sasn"), "layout: found .*expected 'nsas' or 'nass'"),
        (lambda: restive.whittle_index(changed(GOOD, (1, 2), np.nan)), "arm 1, state 1, passive, next state 1: found NaN"),
        (lambda: restive.whittle_index(changed(GOOD, (1, 3), 1.5)), "arm 1, state 1, active, next state 1: found 1.5"),
        (lambda: restive.whittle_index(changed(GOOD, (0, 0), -0.1)), "arm 0, state 0, passive"),
        (lambda: restive.whittle_index(changed(FULL, (1, 0, 1, 0), 0.9)), "arm 1, state 0, active: found a sum of"),
        (lambda: restive.whittle_index(changed(FULL, (1, 0, 1, 0), np.inf)), "arm 1, state 0, active, next state 0: found inf"),
        (lambda: restive.whittle_index(changed(np.full((2, 3, 2, 3), 1 / 3), (1, 2, 0, 1), np.nan)), "arm 1, state 2, passive"),
        (lambda: restive.whittle_index(GOOD.astype(complex)), "P: found .*dtype complex128, expected real numbers"),
        (lambda: restive.whittle_index(GOOD.astype(str)), "P: found .*expected real numbers"),
        (lambda: restive.whittle_index(GOOD.astype(object)), "P: found .*expected real numbers"),
        (lambda: restive.whittle_index([[0.1, 0.2], [0.3]]), "P: found .*expected an array"),
        (lambda: restive.whittle_index(np.ma.masked_less(GOOD, 0.3)), "P: found .*expected an array without masked entries"),
        (lambda: restive.whittle_index(GOOD, [0.0, 1.0, 2.0]), r"rewards: found .*expected \[2\] or \[2, 2\]"),
        (lambda: restive.whittle_index(GOOD, [0.0, np.nan]), r"rewards: entry \[1\]: found NaN"),
        (lambda: restive.whittle_index(GOOD, discount=1.1), "discount: found 1.1, expected a number from 0 to 1"),
        (lambda: restive.whittle_index(GOOD, discount=np.nan), "discount"),
        (lambda: restive.whittle_index(GOOD, discount=10**400), "discount.*inf"),
        (lambda: restive.whittle_index(GOOD, algorithm="fast"), "algorithm: found .*expected 'auto'"),
        (lambda: restive.whittle_index(np.full((1, 3, 2, 3), 1 / 3), algorithm="two-state"), "states: found .*expected 2"),
        (lambda: restive.whittle_index(GOOD, discount=1.0, algorithm="bisection"), "below 1 for bisection"),
        (lambda: restive.whittle_index(GOOD, observation="collapsing"), "chain: found .*expected a number of beliefs"),
        (lambda: restive.whittle_index(GOOD, observation="collapsing", chain=0), "chain: found .*expected a number from 1"),
        (lambda: restive.whittle_index(GOOD, observation="collapsing", chain="long"), "chain: found .*expected"),
        (lambda: restive.whittle_index(GOOD, observation="none"), "observation: found .*expected 'full' or 'collapsing'"),
        (lambda: restive.whittle_index(GOOD, chain=3), "chain: found .*expected None for full observation"),
        (lambda: restive.whittle_index(GOOD, beliefs=3), "beliefs: found .*expected None for full observation"),
        (
            lambda: restive.whittle_index(np.full((1, 3, 2, 3), 1 / 3), observation="collapsing", chain="infinite"),
            "states: found .*expected 2",
        ),
        (lambda: restive.whittle_index(GOOD, out=np.zeros((2, 3))), r"out: found shape \[2, 3\], expected shape \[2, 2\]"),
        (lambda: restive.whittle_index(GOOD, out=np.zeros((2, 2), np.float32)), "out: found .*expected float64"),
        (lambda: restive.whittle_index(GOOD, out=np.zeros((2, 2), order="F")), "out: found .*expected a contiguous"),
        (lambda: restive.whittle_index(GOOD, out=np.broadcast_to(0.0, (2, 2))), "out: found .*expected a contiguous"),
        (lambda: restive.whittle_index(GOOD, out=frozen((2, 2))), "out: found .*expected an array that can be written to"),
        (lambda: restive.whittle_index(GOOD).pullback(np.zeros((2, 3))), r"d_index: found .*expected shape \[2, 2\]"),
        (lambda: restive.whittle_index(GOOD).pullback(GOOD[:, :2], out=GOOD), "out: found .*expected memory of its own"),
        (lambda: restive.soft_top_k([1.0, 2.0], 3, 0.1), "budget: found .*expected a number from 0 to 2"),
        (lambda: restive.soft_top_k([1.0, 2.0], -1, 0.1), "budget: found .*expected a number from 0 to 2"),
        (lambda: restive.soft_top_k([1.0, 2.0], 1, -0.1), "temperature: found .*expected a number of at least 0"),
        (lambda: restive.soft_top_k([1.0, 2.0], 1, np.nan), "temperature"),
        (lambda: restive.soft_top_k([[1.0, 2.0], [np.inf, 0.0]], 1, 0.1), r"scores: entry \[1, 0\]: found inf"),
        (lambda: restive.soft_top_k(np.array(1.0), 1, 0.1), "scores: found .*expected an array with the arms"),
        (lambda: restive.strict_top_k([1.0, np.nan], 1), r"scores: entry \[1\]: found NaN"),
        (lambda: restive.strict_top_k([1.0, 2.0], 3), "budget: found .*expected a number from 0 to 2"),
        (lambda: restive.strict_top_k([1.0, 2.0], 10**30), "budget: found .*expected a number from 0 to 2"),
        (lambda: restive.strict_top_k([1.0, 2.0], 1, seed=-1), r"seed: found -1, expected a whole number from 0 to 2\^64 - 1"),
        (lambda: restive.strict_top_k([1.0, 2.0], 1, seed=2**64), r"seed: found 18446744073709551616, expected a whole number"),
        (lambda: evaluate(pull=np.full((1, 1, 2), 1.5)), "pull: trajectory 0, step 0, arm 0: found .*expected a probability"),
        (lambda: evaluate(state=[[[0, 7], [0, 0]]]), "state: trajectory 0, step 0, arm 1: found 7, expected a state below 2"),
        (lambda: evaluate(state=[[[0, -2], [0, 0]]]), "state: trajectory 0, step 0, arm 1: found -2"),
        (lambda: evaluate(state=[[[0.0, 1.0], [0.0, 0.0]]]), "state: found .*expected integers"),
        (lambda: evaluate(action=[[[0, 2]]]), "action: trajectory 0, step 0, arm 1: found 2, expected 0, 1"),
        (lambda: evaluate(action=[[[0, 1, 1]]]), r"action: found .*expected \[1, 2, 2\] or \[1, 1, 2\]"),
        (lambda: evaluate(budget=None), "propensity: found .*expected an array, or budget"),
        (lambda: evaluate(propensity=np.full((1, 1, 2), 0.5)), "budget: found .*expected None where propensity is given"),
        (lambda: evaluate(budget=None, propensity=np.zeros((1, 1, 2))), "propensity: trajectory 0, step 0, arm 0"),
        (lambda: evaluate(budget=3), "budget: found .*expected a number from 0 to 2"),
        (lambda: evaluate(budget=0), "propensity: trajectory 0, step 0, arm 0.*above 0"),
        (lambda: evaluate(rewards=[]), "rewards: found .*expected"),
        (lambda: evaluate(ratio_up_to="all"), "ratio_up_to: found .*expected"),
        (lambda: restive.simulate(GOOD, 3, "random"), "budget: found .*expected a number from 0 to 2"),
        (lambda: restive.simulate(GOOD, 1, "best"), "policy: found .*expected 'strict'"),
        (lambda: restive.simulate(GOOD, 1, "strict"), r"index: found .*expected an array \[2, 2\]"),
        (lambda: restive.simulate(GOOD, 1, "random", np.zeros((2, 2))), "index: found .*expected None"),
        (lambda: restive.simulate(GOOD, 1, "soft", np.zeros((2, 2))), "temperature: found .*expected a number"),
        (lambda: restive.simulate(GOOD, 1, "strict", np.full((2, 2), np.nan)), r"index: entry \[0, 0\]: found NaN"),
        (lambda: restive.simulate(GOOD, 1, "random", initial=[0, 2]), "initial: rollout 0, arm 1: found .*expected a state from 0 to 1"),
        (lambda: restive.simulate(GOOD, 1, "random", horizon=0), "horizon: found .*expected a number from 1"),
        (lambda: restive.simulate(GOOD[:0], 0, "random"), "P: found .*expected at least one arm"),
        (lambda: restive.set_threads(0), "threads: found .*expected a number from 1 to 1024"),
    ],
)
def test_what_is_wrong_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def frozen(shape):
    array = np.zeros(shape)
    array.flags.writeable = False
    return array


def evaluate(**options):
    given = {
        "pull": np.full((1, 1, 2), 0.5),
        "state": [[[0, 1], [0, 0]]],
        "action": [[[1, 0]]],
        "rewards": [0.0, 1.0],
        "budget": 1,
    }
    return restive.cwpdis(**{**given, **options})


@pytest.mark.parametrize("wrong", [np.nan, -1e-9, 1.5, np.inf, -np.inf])
def test_a_fault_is_found_wherever_it_is(wrong):
    random = np.random.default_rng(1)
    for n in (1, 2, 3, 7, 9):
        compact = random.random((n, 4))
        for arms in (compact, np.stack([1 - compact, compact], axis=-1).reshape(n, 2, 2, 2)):
            restive.whittle_index(arms)
            for at in np.ndindex(arms.shape):
                with pytest.raises(ValueError, match=f"transition: arm {at[0]}, "):
                    restive.whittle_index(changed(arms, at, wrong))


@pytest.mark.parametrize("what", [None, 3, "P", {}, object(), {1: 2}])
def test_what_is_no_array_is_a_type_error(what):
    with pytest.raises(TypeError, match="P: found .*, expected an array"):
        restive.whittle_index(what)
    with pytest.raises(TypeError, match="out: found .*, expected an array"):
        restive.whittle_index(GOOD, out=[[0.0, 0.0]])


def test_arrays_that_do_not_start_at_a_number_are_copied():
    raw = np.zeros(GOOD.nbytes + 1, np.uint8)
    raw[1:] = np.frombuffer(GOOD.tobytes(), np.uint8)
    unaligned = raw[1:].view(np.float64).reshape(GOOD.shape)
    np.testing.assert_array_equal(restive.whittle_index(unaligned).index, restive.whittle_index(GOOD).index)


SHAPES = arrays.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=4)
KINDS = st.one_of(
    arrays.floating_dtypes(),
    arrays.integer_dtypes(),
    arrays.unsigned_integer_dtypes(),
    arrays.boolean_dtypes(),
    arrays.complex_number_dtypes(),
    arrays.datetime64_dtypes(),
    arrays.unicode_string_dtypes(max_len=3),
    arrays.array_dtypes(max_size=2),
)
LIKELY = st.sampled_from([(2, 4), (1, 2, 2, 2), (2, 3, 2, 3), (2, 2, 3, 3), (0, 4), (1, 1, 2, 1)])
ANYTHING = arrays.arrays(KINDS, st.one_of(SHAPES, LIKELY))
NUMBERS = arrays.arrays(np.float64, st.one_of(SHAPES, LIKELY), elements=st.floats(width=64))
NEARLY = arrays.arrays(np.float64, LIKELY, elements=st.sampled_from([0.0, 0.5, 1.0, 0.25, 1 / 3, 1e-300, -0.0]))
ROWS = st.builds(lambda p: p / np.where(p.sum(axis=-1, keepdims=True) > 0, p.sum(axis=-1, keepdims=True), 1), NEARLY)
VIEWS = st.builds(
    lambda a, cut: a[cut] if a.ndim else a,
    NUMBERS | NEARLY,
    st.sampled_from([slice(0), slice(None, None, -1), slice(None, None, 2), np.newaxis, (Ellipsis, slice(None, None, -1))]),
)
ARRAYS = st.one_of(ANYTHING, VIEWS, NUMBERS, NEARLY, ROWS, st.none(), st.text(max_size=3), st.lists(st.integers(), max_size=3))
SCALARS = st.one_of(st.integers(-2, 5), st.integers(), st.floats(), st.none(), st.text(max_size=2))
FUZZ = settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))


def tried(call):
    """The answer, or None where it was refused as it should be; any other exception is a bug."""
    try:
        return call()
    except (ValueError, TypeError, MemoryError):
        return None


@FUZZ
@given(
    ARRAYS,
    st.one_of(st.none(), ARRAYS),
    st.one_of(st.floats(0, 1), SCALARS),
    st.sampled_from(["nsas", "nass"]),
    st.sampled_from(["auto", "two-state", "general", "bisection"]),
    st.one_of(st.none(), ARRAYS),
    ARRAYS,
    st.booleans(),
)
def test_whittle_index_survives_anything(p, rewards, discount, layout, algorithm, out, d_index, differentiable):
    if algorithm == "bisection" and isinstance(discount, float) and discount > 0.99:
        discount = 0.9  # bisection takes 1/(1 - discount) sweeps
    found = tried(
        lambda: restive.whittle_index(p, rewards, discount, layout, algorithm=algorithm, out=out, differentiable=differentiable)
    )
    if found is not None:
        assert len(found.status) == len(found.residual) == len(found.is_indexable) == len(found.index)
        tried(lambda: found.pullback(d_index))
        assert found.pullback(np.ones_like(found.index)).shape == np.shape(p)


@FUZZ
@given(
    ARRAYS,
    st.one_of(st.floats(0, 1), SCALARS),
    st.one_of(st.integers(-1, 6), st.just("infinite"), SCALARS.filter(lambda x: not isinstance(x, int))),
    st.one_of(st.none(), st.integers(-1, 4)),
)
def test_collapsing_indices_survive_anything(p, discount, chain, beliefs):
    found = tried(lambda: restive.whittle_index(p, None, discount, observation="collapsing", chain=chain, beliefs=beliefs))
    if found is not None:
        assert found.pullback(np.ones_like(found.index)).shape == np.shape(p)


@FUZZ
@given(ARRAYS, SCALARS, SCALARS, ARRAYS)
def test_policies_survive_anything(scores, k, number, d_pull):
    soft = tried(lambda: restive.soft_top_k(scores, k, number))
    if soft is not None:
        assert ((soft.pull >= 0) & (soft.pull <= 1)).all()
        tried(lambda: soft.pullback(d_pull))
    strict = tried(lambda: restive.strict_top_k(scores, k, number))
    if strict is not None and strict.pull.size:
        assert (strict.pull.sum(axis=-1) == k).all()


LOGS = st.one_of(ARRAYS, arrays.arrays(np.int64, st.sampled_from([(1, 2, 2), (1, 1, 2), (2, 3, 1), (2, 1, 1, 2)]), elements=st.integers(-2, 3)))
PULLS = st.one_of(ARRAYS, arrays.arrays(np.float64, st.sampled_from([(1, 1, 2), (2, 2, 1), (2, 1, 1, 2)]), elements=st.floats(-0.1, 1.1)))
MASKS = st.one_of(ARRAYS, arrays.arrays(bool, st.sampled_from([(1,), (2,), (1, 1, 2), (2, 1, 1, 1)])))


@FUZZ
@given(
    PULLS,
    LOGS,
    LOGS,
    st.one_of(ARRAYS, st.just([0.0, 1.0])),
    st.one_of(st.none(), SCALARS),
    st.one_of(st.none(), PULLS),
    st.one_of(st.just(0.9), SCALARS),
    st.one_of(st.none(), MASKS),
    st.one_of(SCALARS, ARRAYS),
)
def test_estimators_survive_anything(pull, state, action, reward, k, propensity, discount, mask, d_value):
    for estimator in (restive.cwpdis, restive.segmented):
        found = tried(lambda: estimator(pull, state, action, reward, k, propensity, discount))
        if found is not None:
            assert found.pullback().shape == np.shape(pull)
    found = tried(lambda: restive.cwpdis(pull, state, action, reward, k, propensity, discount, mask=mask))
    if found is not None:
        d = found.pullback_all()
        assert d.d_pull.shape == np.shape(pull) and d.d_rewards.shape == np.shape(reward)
        tried(lambda: found.pullback_all(d_value))
    loss = tried(lambda: restive.negative_log_likelihood(reward, state, action))
    if loss is not None:
        loss.pullback(1.0)


@FUZZ
@given(
    ARRAYS,
    SCALARS,
    st.sampled_from(["strict", "soft", "random", "round-robin", "no-action"]),
    st.one_of(st.none(), ARRAYS),
    st.one_of(st.none(), SCALARS),
    st.one_of(st.none(), LOGS),
    st.integers(-1, 3),
    st.integers(-1, 3),
    st.one_of(st.integers(0, 3), SCALARS),
    st.booleans(),
)
def test_simulations_survive_anything(p, k, policy, index, temperature, initial, horizon, rollouts, seed, keep):
    tried(
        lambda: restive.simulate(
            p,
            k,
            policy,
            index,
            temperature,
            initial=initial,
            horizon=horizon,
            rollouts=rollouts,
            seed=seed,
            keep_trajectories=keep,
        )
    )


@FUZZ
@given(
    st.sampled_from(["two-state", "five-state", "collapsing", "maternal", ""]),
    SCALARS,
    st.dictionaries(
        st.sampled_from(
            [
                "states",
                "instances",
                "arms",
                "budget",
                "horizon",
                "trajectories",
                "people",
                "weeks",
                "groups",
                "chain",
                "beliefs",
                "features_kept",
            ]
        ),
        st.integers(-1, 4) | st.none() | st.text(max_size=1),
        max_size=6,
    ),
    st.dictionaries(st.sampled_from(["margin", "feature_noise", "discount", "effect", "stay_engaged"]), st.floats(), max_size=2),
)
def test_domains_survive_anything(domain, seed, sizes, numbers):
    small = (
        {"groups": 1, "people": 5, "budget": 1}
        if domain == "maternal"
        else {"instances": 1, "arms": 3, "budget": 1, "trajectories": 2}
    )
    tried(lambda: restive.generate(domain, seed, **{**small, **sizes, **numbers}))


def test_what_does_not_fit_in_memory_is_refused():
    with pytest.raises(MemoryError):
        restive.whittle_index(GOOD, observation="collapsing", chain=2**31 - 1)
    with pytest.raises(MemoryError):
        restive.simulate(GOOD, 1, "random", horizon=2**32 - 1, rollouts=2**32 - 1, keep_trajectories=True)


def _indices_in_a_child(queue):
    queue.put(restive.whittle_index(np.tile(GOOD, (50_000, 1))).index.sum())


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
def test_a_forked_child_has_threads_of_its_own():
    truth = restive.whittle_index(np.tile(GOOD, (50_000, 1))).index.sum()  # the parent's pool exists
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_indices_in_a_child, args=(queue,))
    child.start()
    assert queue.get(timeout=60) == truth
    child.join()


def test_importing_restive_imports_nothing_heavy():
    heavy = ["torch", "jax", "pandas", "polars", "pyarrow", "sklearn", "gymnasium"]
    code = f"import sys, restive; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


@pytest.mark.parametrize("chain", [1, 2, 5])
@pytest.mark.parametrize("differentiable", [False, True])
def test_an_arm_without_an_index_has_no_gradient(chain, differentiable):
    found = restive.whittle_index(GOOD, discount=1.0, observation="collapsing", chain=chain, differentiable=differentiable)
    assert np.isnan(found.index).all() and set(found.status) == {"undetermined"}
    assert (found.pullback(np.ones(found.index.shape)) == 0).all()


def test_numbers_beyond_int64_are_no_unseen_states():
    state = np.zeros((3, 4, 3), "u8")
    state[0, 0, 0] = 2**64 - 1
    with pytest.raises(ValueError, match="state: found 18446744073709551615, expected integers of at most 63 bits"):
        restive.cwpdis(np.full((3, 3, 3), 0.5), state, np.zeros((3, 3, 3), int), [0.0, 1.0], budget=1)


def test_a_propensity_without_an_action_may_be_missing():
    pull, state, action = np.full((3, 3, 3), 0.5), np.ones((3, 4, 3), int), np.zeros((3, 3, 3), int)
    action[0, 0, 0] = -1
    propensity = np.full((3, 3, 3), 0.5)
    expected = restive.cwpdis(pull, state, action, [0.0, 1.0], propensity=propensity).value
    propensity[0, 0, 0] = np.nan
    assert restive.cwpdis(pull, state, action, [0.0, 1.0], propensity=propensity).value == expected
    propensity[0, 0, 1] = np.nan
    with pytest.raises(ValueError, match="propensity"):
        restive.cwpdis(pull, state, action, [0.0, 1.0], propensity=propensity)


def test_rewards_and_threads_are_named_as_they_were_given():
    with pytest.raises(ValueError, match=r"rewards: entry \[2\]: found NaN"):
        restive.whittle_index(np.full((1, 3, 2, 3), 1 / 3), [0, 1, np.nan])
    with pytest.raises(ValueError, match="found 'bisection'|found \"bisection\""):
        restive.whittle_index(GOOD, observation="collapsing", chain=2, algorithm="bisection")
    with pytest.raises(ValueError, match="threads: found -1, expected a number from 1 to 1024"):
        restive.set_threads(-1)


def test_seeds_have_64_bits():
    """Those from 2^63 on are as different as any others."""
    seeds = [0, 2**63 - 1, 2**63, 2**64 - 1]
    drawn = {restive.strict_top_k(np.zeros(200), 100, seed=seed).pull.tobytes() for seed in seeds}
    assert len(drawn) == len(seeds)
    small = {"instances": 1, "arms": 20, "budget": 2, "trajectories": 2}
    assert len({restive.generate("two-state", seed, **small)[0].P.tobytes() for seed in seeds}) == len(seeds)
    arm = np.full((30, 4), 0.5)
    assert len({restive.simulate(arm, 3, "random", seed=seed).values.tobytes() for seed in seeds}) == len(seeds)


def test_an_absurd_number_of_threads_is_refused_wherever_it_comes_from(monkeypatch):
    before = restive.threads()
    with pytest.raises(ValueError, match="threads: found 1025, expected a number from 1 to 1024"):
        restive.set_threads(1025)
    monkeypatch.setenv("RAYON_NUM_THREADS", "5000")
    with pytest.raises(ValueError, match="^RAYON_NUM_THREADS: found 5000, expected at most 1024 threads$"):
        restive.set_threads(None)
    assert restive.threads() == before
