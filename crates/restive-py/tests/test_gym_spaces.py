"""The environment by its name, with numbers for actions and with states that are seen at pulls only."""

import itertools

import gymnasium
import numpy as np
import pytest
import restive
from gymnasium.utils.env_checker import check_env
from restive.gym import ID, RestlessBandit


def arms(n=6, m=3, seed=0):
    return np.random.default_rng(seed).dirichlet(np.ones(m), (n, m, 2))


KINDS = [
    {"actions": "subset"},
    {"observation": "collapsing", "chain": 5},
    {"observation": "collapsing", "chain": 1, "actions": "subset"},
    {"observation": "beliefs"},
    {"observation": "beliefs", "actions": "subset", "initial": [0, 1, 2, 2, 1, 0]},
]


@pytest.mark.parametrize("kind", [{}, *KINDS])
@pytest.mark.filterwarnings("error")
def test_gymnasium_finds_nothing_wrong(kind):
    check_env(RestlessBandit(arms(), 2, **kind), skip_render_check=True)
    env = gymnasium.make(ID, P=arms(), budget=2, horizon=4, **kind)
    seen, _ = env.reset(seed=1)
    for _ in range(4):
        seen, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        assert env.observation_space.contains(seen) and not terminated
    assert truncated and env.unwrapped.horizon == 4


@pytest.mark.parametrize("kind", [{}, *KINDS])
@pytest.mark.parametrize("mode", ["sync", "async"])
def test_many_at_once_are_each_alone(kind, mode):
    envs = gymnasium.make_vec(ID, num_envs=3, vectorization_mode=mode, P=arms(), budget=2, horizon=4, **kind)
    seen, _ = envs.reset(seed=7)
    alone = [RestlessBandit(arms(), 2, horizon=4, **kind) for _ in range(3)]
    starts = [env.reset(seed=7 + k)[0] for k, env in enumerate(alone)]
    np.testing.assert_array_equal(seen, starts)
    envs.action_space.seed(3)
    for _ in range(4):
        action = envs.action_space.sample()
        seen, reward, _, truncated, info = envs.step(action)
        steps = [env.step(one) for env, one in zip(alone, action, strict=True)]
        np.testing.assert_array_equal(seen, [step[0] for step in steps])
        np.testing.assert_array_equal(reward, [step[1] for step in steps])
        np.testing.assert_array_equal(info["pull"], [step[4]["pull"] for step in steps])
    assert truncated.all()
    envs.close()


def test_the_name_brings_the_module_along():
    import subprocess
    import sys

    code = "import gymnasium; print(gymnasium.make('restive.gym:restive/RestlessBandit-v0', P=[[0.2, 0.8, 0.5, 0.5]] * 3, budget=1).action_space)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "MultiBinary(3)\n"


@pytest.mark.parametrize(("n", "k"), [(6, 2), (5, 1), (4, 4), (3, 0), (7, 5)])
def test_an_action_is_one_of_all_subsets(n, k):
    env = RestlessBandit(arms(n), k, actions="subset")
    all_subsets = list(itertools.combinations(range(n), k))
    assert env.action_space.n == len(all_subsets)
    for rank, subset in enumerate(all_subsets):
        pull = env.subset(rank)
        assert tuple(np.flatnonzero(pull)) == subset and env.rank(pull) == rank
    env.reset(seed=1)
    assert env.step(np.int64(0))[4]["pull"].sum() == k


def test_what_is_no_subset_is_said():
    env = RestlessBandit(arms(), 2, actions="subset")
    env.reset()
    for action, message in [(15, "from 0 to 14, got 15"), (-1, "from 0 to 14"), (0.5, "a whole number"), ([1, 0, 0, 0, 0, 1], "a whole number")]:
        with pytest.raises(ValueError, match=f"action: expected .*{message}"):
            env.step(action)
    with pytest.raises(ValueError, match="pull: expected .6. zeros and 2 ones"):
        env.rank([1, 0, 0, 0, 0, 0])
    with pytest.raises(ValueError, match="actions: expected at most 2,147,483,647 subsets of 20 out of 40 arms"):
        RestlessBandit(arms(40), 20, actions="subset")


def test_labels_are_what_the_pulls_saw():
    P, chain = arms(5), 3
    shown, truth = (RestlessBandit(P, 2, horizon=50, initial=[0, 0, 0, 0, 0], **kind) for kind in ({"observation": "collapsing", "chain": chain}, {}))
    label, _ = shown.reset(seed=5)
    last, since = np.zeros(5, dtype=int), np.zeros(5, dtype=int)
    rng = np.random.default_rng(1)
    for _ in range(50):
        assert label.tolist() == (last * chain + since).tolist()
        hidden = shown._state.copy()
        label, reward, _, _, info = shown.step(rng.permutation(5) < 2)
        pull = info["pull"] == 1
        assert reward == pytest.approx((hidden / 2).sum())
        assert info["seen"].tolist() == np.where(pull, hidden, -1).tolist()
        last, since = np.where(pull, hidden, last), np.where(pull, 0, np.minimum(since + 1, chain - 1))
    assert "seen" not in truth.metadata


def test_beliefs_are_the_chances_of_the_states():
    """By the textbook: P1 of the state that was seen, then as many steps of P0."""
    P = arms(4)
    env = RestlessBandit(P, 1, horizon=30, observation="beliefs", initial=[0, 1, 2, 1])
    belief, _ = env.reset(seed=2)
    last, since = np.array([0, 1, 2, 1]), np.zeros(4, dtype=int)
    for t in range(30):
        expected = [P[i, last[i], 1] @ np.linalg.matrix_power(P[i, :, 0], since[i]) for i in range(4)]
        np.testing.assert_allclose(belief, expected, atol=1e-12)
        belief, _, _, _, info = env.step(np.arange(4) == t * t % 4)
        pull = info["pull"] == 1
        last, since = np.where(pull, info["seen"], last), np.where(pull, 0, since + 1)


def test_collapsing_arms_are_worth_what_the_library_says():
    """The same labels at the start and a chain longer than the episode: `restive.simulate` is the same process."""
    P, horizon, episodes, chain = arms(8, 2, seed=4), 5, 4000, 12
    start = np.random.default_rng(2).integers(0, 2, 8) * chain + np.arange(8) % 5
    index = restive.whittle_index(P, observation="collapsing", chain=chain, discount=0.9).index
    env, returns = RestlessBandit(P, 2, horizon=horizon, observation="collapsing", chain=chain, initial=start), []
    env.reset(seed=6)
    for _ in range(episodes):
        label, total = env.reset()[0], 0.0
        for _ in range(horizon):
            pull = np.zeros(8, dtype=int)
            pull[np.argsort(-index[np.arange(8), label], kind="stable")[:2]] = 1
            label, reward, *_ = env.step(pull)
            total += reward
        returns.append(total)
    truth = restive.simulate(P, 2, "strict", index, discount=1.0, horizon=horizon, rollouts=50_000, initial=start, observation="collapsing", chain=chain).values
    noise = np.hypot(np.std(returns) / episodes**0.5, truth.std() / truth.size**0.5)
    assert abs(np.mean(returns) - truth.mean()) < 4 * noise
    assert noise < 0.01 * truth.mean()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"actions": "arm"}, "actions: expected 'binary' or 'subset', got 'arm'"),
        ({"observation": "partial"}, "observation: expected 'full'"),
        ({"observation": "collapsing"}, "chain: expected a whole number of at least 1, got None"),
        ({"observation": "collapsing", "chain": 0}, "chain: expected a whole number"),
        ({"chain": 3}, "chain: expected None where the observation is 'full', got 3"),
        ({"observation": "collapsing", "chain": 2, "initial": [6] * 6}, r"initial: expected \[6\] states from 0 to 5"),
    ],
)
def test_what_is_wrong_is_said(asked, message):
    with pytest.raises(ValueError, match=message):
        RestlessBandit(arms(), 2, **asked)
