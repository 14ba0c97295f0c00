"""The environment: what Gymnasium asks of one, the budget, and the library's own simulation as the truth."""

import gymnasium
import numpy as np
import pytest
import restive
from gymnasium.utils.env_checker import check_env
from restive.gym import RestlessBandit


def arms(n=6, m=3, seed=0):
    return np.random.default_rng(seed).dirichlet(np.ones(m), (n, m, 2))


@pytest.mark.parametrize(
    "env", [RestlessBandit(arms(), 2), RestlessBandit([[0.2, 0.8, 0.5, 0.5]] * 4, 0, horizon=2), RestlessBandit(arms(1, 5), 1)]
)
@pytest.mark.filterwarnings("error")
def test_gymnasium_finds_nothing_wrong(env):
    check_env(env, skip_render_check=True)


def test_no_more_arms_than_the_budget_are_pulled():
    """Pulled arms go to state 1 and others to state 0, so states tell who was pulled."""
    P = np.zeros((5, 2, 2, 2))
    P[:, :, 0, 0] = P[:, :, 1, 1] = 1.0
    env = RestlessBandit(P, budget=2, horizon=50)
    env.reset(seed=3)
    for _ in range(50):
        action = env.action_space.sample()
        state, _, _, _, info = env.step(action)
        expected = np.zeros(5, dtype=int)
        expected[np.flatnonzero(action)[:2]] = 1
        assert state.tolist() == expected.tolist() == info["pull"].tolist()
        assert info["refused"] == max(0, action.sum() - 2)


def test_rewards_are_those_of_the_states_just_seen_and_of_what_was_pulled():
    rewards = np.array([[0.0, -0.5], [1.0, 0.25], [4.0, 3.0]])
    env = RestlessBandit(arms(), 2, rewards=rewards, horizon=20)
    state, _ = env.reset(seed=1)
    for _ in range(20):
        before = state
        state, reward, terminated, truncated, info = env.step(np.array([0, 1, 0, 1, 1, 0]))
        assert reward == pytest.approx(sum(rewards[s, a] for s, a in zip(before, info["pull"], strict=True)))
        assert not terminated
    assert truncated
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(np.zeros(6, dtype=int))


@pytest.mark.parametrize("kind", [{}, {"observation": "collapsing", "chain": 3}, {"observation": "beliefs"}, {"actions": "subset"}])
@pytest.mark.parametrize(("m", "shape"), [(3, (6, 3)), (3, (6, 3, 2)), (2, (6, 2)), (2, (6, 2, 2))])
def test_arms_with_rewards_of_their_own_earn_those(kind, m, shape):
    rewards = np.random.default_rng(2).normal(size=shape)
    env = RestlessBandit(arms(6, m), 2, rewards=rewards, horizon=20, **kind)
    env.reset(seed=1)
    env.action_space.seed(4)
    for _ in range(20):
        state = env._state.copy()  # the true ones, whatever is shown
        _, reward, _, _, info = env.step(env.action_space.sample())
        each = [rewards[i][s] if len(shape) == 2 else rewards[i][s][a] for i, (s, a) in enumerate(zip(state, info["pull"], strict=True))]
        assert reward == pytest.approx(sum(each))


def test_everybody_in_state_1_earns_what_each_is_worth_there():
    R = np.array([[0, 1], [0, 10], [0, 100], [0, 1000.0]])
    for rewards in (R, np.stack([R, R], axis=2)):
        env = RestlessBandit([[0.2, 0.8, 0.5, 0.5]] * 4, 1, rewards=rewards, initial=[1] * 4)
        env.reset()
        assert env.step(np.zeros(4, dtype=int))[1] == 1111.0


def test_options_of_a_reset_that_nobody_knows_are_refused():
    with pytest.raises(ValueError, match="options: found 'sttate', expected nothing but 'state'"):
        RestlessBandit(arms(), 1).reset(options={"sttate": [0] * 6})


def test_a_seed_repeats_an_episode_and_another_one_does_not():
    def episode(seed):
        env = RestlessBandit(arms(20), 3, horizon=10)
        states = [env.reset(seed=seed)[0]]
        return [*states, *(env.step(np.arange(20) < 3)[0] for _ in range(10))]

    np.testing.assert_array_equal(episode(1), episode(1))
    assert not np.array_equal(episode(1), episode(2))


def test_episodes_begin_where_they_are_told_to():
    env = RestlessBandit(arms(), 1, initial=[0, 1, 2, 0, 1, 2])
    assert env.reset()[0].tolist() == [0, 1, 2, 0, 1, 2]
    assert env.reset(options={"state": [2] * 6})[0].tolist() == [2] * 6
    assert env.reset()[0].tolist() == [0, 1, 2, 0, 1, 2]


def test_random_pulls_are_worth_what_the_library_says():
    P, horizon, episodes = arms(8, 3, seed=4), 6, 3000
    env, rng, returns = RestlessBandit(P, 3, horizon=horizon), np.random.default_rng(5), []
    env.reset(seed=6)
    for _ in range(episodes):
        env.reset()
        returns.append(sum(env.step(rng.permutation(8) < 3)[1] for _ in range(horizon)))
    truth = restive.simulate(P, 3, "random", discount=1.0, horizon=horizon, rollouts=100_000).values
    noise = np.hypot(np.std(returns) / episodes**0.5, truth.std() / truth.size**0.5)
    assert abs(np.mean(returns) - truth.mean()) < 4 * noise
    assert noise < 0.003 * truth.mean()  # a pull more or less would show: it is worth some 3 %


def test_arms_move_as_their_rows_say():
    """10,000 copies of an arm, one step: frequencies within 4 standard errors."""
    row = arms(1, 4, seed=8)
    env = RestlessBandit(np.repeat(row, 10_000, axis=0), 10_000, initial=np.full(10_000, 2))
    for a in (0, 1):
        env.reset(seed=a)
        state = env.step(np.full(10_000, a))[0]
        p = row[0, 2, a]
        assert (np.abs(np.bincount(state, minlength=4) / 1e4 - p) < 4 * np.sqrt(p * (1 - p) / 1e4)).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"P": np.full((2, 2, 2, 2), 0.4), "budget": 1}, "arm 0, state 0, passive: found a sum of 0.8"),
        ({"P": np.zeros((0, 4)), "budget": 0}, "P: expected at least one arm"),
        ({"P": arms(), "budget": 7}, "budget: expected a whole number from 0 to 6, the number of arms, got 7"),
        ({"P": arms(), "budget": 1.5}, "budget"),
        ({"P": arms(), "budget": 1, "horizon": 0}, "horizon"),
        ({"P": arms(), "budget": 1, "rewards": [1.0]}, "rewards"),
        ({"P": arms(2, 2), "budget": 1, "rewards": np.eye(2)}, r"rewards: found shape \[2, 2\], expected \[2, 2, 2\]"),
        ({"P": arms(), "budget": 1, "rewards": np.zeros((5, 3))}, r"rewards: found shape \[5, 3\], expected .*\[6, 3\]"),
        ({"P": np.stack([arms(), arms()]), "budget": 1}, r"P: found shape \[2, 6, 3, 2, 3\], expected .*one problem"),
        ({"P": arms(), "budget": 1, "initial": [3] * 6}, r"initial: expected \[6\] states from 0 to 2"),
    ],
)
def test_what_is_wrong_is_said(arguments, message):
    with pytest.raises(ValueError, match=message):
        RestlessBandit(**arguments)


@pytest.mark.parametrize("action", [np.zeros(5, dtype=int), np.full(6, 2), np.full(6, 0.5)])
def test_what_is_wrong_with_an_action_is_said(action):
    env = RestlessBandit(arms(), 1)
    env.reset()
    with pytest.raises(ValueError, match=r"action: expected \[6\] zeros and ones"):
        env.step(action)


def test_what_the_library_refuses_is_no_environment():
    good = np.array([[0.2, 0.8, 0.5, 0.5]])
    for wrong in [np.ma.masked_array(good, good > 0.7), good.astype(complex), good.astype(str)]:
        with pytest.raises(ValueError, match="P: found .*expected"):
            RestlessBandit(wrong, budget=1)
