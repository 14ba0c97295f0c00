"""One exception for each kind of error, whichever face is asked: ValueError for data and settings that are wrong, TypeError for what is of
another type, with the name of the argument."""

import jax
import numpy as np
import pytest
import restive
import restive.jax
import restive.torch
import torch

jax.config.update("jax_enable_x64", True)
FACES = {
    "numpy": (restive, np.asarray),
    "torch": (restive.torch, torch.as_tensor),
    "jax": (restive.jax, jax.numpy.asarray),
}
ARMS, SCORES, PULL = np.full((3, 4), 0.5), np.array([0.3, 0.2, 0.1]), np.full((2, 2, 3), 0.5)
STATE, ACTION = np.zeros((2, 3, 3), int), np.zeros((2, 2, 3), int)

CASES = [
    # what is called, how, which error, and the argument that it names
    ("whittle_index", lambda f, a: f(a(ARMS), discount=1.5), ValueError, "discount"),
    ("whittle_index", lambda f, a: f(a(ARMS), discount=float("nan")), ValueError, "discount"),
    ("whittle_index", lambda f, a: f(a(ARMS), discount="much"), TypeError, "discount"),
    ("whittle_index", lambda f, a: f(a(ARMS), rewards=[0.0, 1.0, 2.0]), ValueError, "rewards"),
    ("whittle_index", lambda f, a: f(a(ARMS), rewards=[0.0, float("inf")]), ValueError, "reward"),
    ("whittle_index", lambda f, a: f(a(ARMS), rewards=["a", "b"]), ValueError, "rewards"),
    ("whittle_index", lambda f, a: f(a(ARMS + 1.0)), ValueError, "arm 0"),
    ("whittle_index", lambda f, a: f(a(ARMS), layout="other"), ValueError, "layout"),
    ("whittle_index", lambda f, a: f(a(ARMS), algorithm="magic"), ValueError, "algorithm"),
    ("whittle_index", lambda f, a: f(a(ARMS), observation="none"), ValueError, "observation"),
    ("whittle_index", lambda f, a: f(a(ARMS), observation="collapsing"), ValueError, "chain"),
    ("whittle_index", lambda f, a: f(a(ARMS), observation="collapsing", chain="some"), ValueError, "chain"),
    ("whittle_index", lambda f, a: f(a(ARMS), observation="collapsing", chain=0), ValueError, "chain"),
    ("whittle_index", lambda f, a: f(a(ARMS), layout=3), TypeError, "layout"),
    ("whittle_index", lambda f, a: f(a(ARMS), surprise=1), TypeError, "surprise"),
    ("whittle_index", lambda f, a: f(a(np.zeros((2, 3, 3)))), ValueError, "P"),
    ("soft_top_k", lambda f, a: f(a(SCORES), 4, 0.1), ValueError, "budget"),
    ("soft_top_k", lambda f, a: f(a(SCORES), -1, 0.1), ValueError, "budget"),
    ("soft_top_k", lambda f, a: f(a(SCORES), "two", 0.1), TypeError, "budget"),
    ("soft_top_k", lambda f, a: f(a(SCORES), 1, -0.1), ValueError, "temperature"),
    ("soft_top_k", lambda f, a: f(a(SCORES), 1, float("nan")), ValueError, "temperature"),
    ("soft_top_k", lambda f, a: f(a(SCORES), 1, None), TypeError, "temperature"),
    ("soft_top_k", lambda f, a: f(a(SCORES * np.nan), 1, 0.1), ValueError, "scores"),
    ("soft_top_k", lambda f, a: f(a(SCORES), 1), TypeError, "temperature"),
    ("cwpdis", lambda f, a: f(a(PULL + 1.0), STATE, ACTION, [0.0, 1.0], budget=1), ValueError, "pull"),
    ("cwpdis", lambda f, a: f(a(PULL), STATE, ACTION, [0.0, 1.0]), ValueError, "propensity"),
    ("cwpdis", lambda f, a: f(a(PULL), STATE, ACTION, [0.0, 1.0], budget=7), ValueError, "budget"),
    ("cwpdis", lambda f, a: f(a(PULL), STATE, ACTION, [0.0, 1.0], budget=1.5), TypeError, "budget"),
    ("cwpdis", lambda f, a: f(a(PULL), STATE[:, :1], ACTION, [0.0, 1.0], budget=1), ValueError, "state"),
    ("cwpdis", lambda f, a: f(a(PULL), STATE + 5, ACTION, [0.0, 1.0], budget=1), ValueError, "state"),
    ("cwpdis", lambda f, a: f(a(PULL), STATE * 1.0, ACTION, [0.0, 1.0], budget=1), ValueError, "state"),
    ("cwpdis", lambda f, a: f(a(PULL), STATE, ACTION + 3, [0.0, 1.0], budget=1), ValueError, "action"),
    ("cwpdis", lambda f, a: f(a(PULL), STATE, ACTION, [0.0, 1.0], budget=1, discount=2.0), ValueError, "discount"),
    ("cwpdis", lambda f, a: f(a(PULL), STATE, ACTION, [0.0, 1.0], budget=1, ratio_up_to="never"), ValueError, "ratio_up_to"),
    ("cwpdis", lambda f, a: f(a(PULL), STATE, ACTION, [0.0, 1.0], budget=1, surprise=1), TypeError, "surprise"),
]


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize(("name", "call", "error", "argument"), CASES)
def test_every_face_says_the_same_kind_of_error_and_names_the_argument(face, name, call, error, argument):
    module, array = FACES[face]
    with pytest.raises(error, match=argument) as found:
        call(getattr(module, name), array)
    assert type(found.value) is error


@pytest.mark.parametrize("seed", [2**63, 2**64 - 1])
def test_seeds_have_64_bits(seed):
    found = restive.strict_top_k(np.zeros(50), 5, seed=seed).pull
    assert found.sum() == 5 and not np.array_equal(found, restive.strict_top_k(np.zeros(50), 5, seed=seed - 1).pull)
    run = restive.simulate(ARMS, 1, "random", seed=seed, rollouts=5).values
    assert not np.array_equal(run, restive.simulate(ARMS, 1, "random", seed=seed - 2**63, rollouts=5).values)
    for function in (lambda s: restive.strict_top_k(SCORES, 1, seed=s), lambda s: restive.simulate(ARMS, 1, "random", seed=s)):
        for wrong in (2**64, -1):
            with pytest.raises(ValueError, match="seed"):
                function(wrong)
