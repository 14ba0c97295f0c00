"""Logs to and from others: what goes out comes back, and whoever computes the same thing gets the same number.

OBP, SCOPE-RL and d3rlpy pin packages that do not go together with what is tested here: their estimates are written out, and their own
code runs where it is installed. Minari is used itself.
"""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import restive
from restive import convert

WAYS = {
    "obp": (convert.to_obp, convert.from_obp),
    "scope_rl": (convert.to_scope_rl, convert.from_scope_rl),
}


def made(domain="two-state", **sizes):
    return restive.generate(domain, 5, **{**dict(instances=1, arms=4, budget=2, horizon=5, trajectories=3), **sizes})[0]


def same(one, other, *but):
    for name in {"features", "state", "action", "propensity", "reward", "rewards"} - set(but):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)


def known(one):
    return dict(states=len(one.rewards), budget=one.budget, discount=one.discount, rewards=one.rewards, chain=one.chain)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("one", [made(), made("five-state"), made("collapsing", chain=3)], ids=["two", "five", "collapsing"])
@pytest.mark.filterwarnings("error")
def test_what_goes_out_comes_back(way, one):
    out, back = WAYS[way]
    found = back(out(one), **known(one))
    same(one, found)
    study = restive.Study.from_arrays([found])
    np.testing.assert_array_equal(study.to_arrays()[0].state, one.state)


def gaps():
    """Unseen states, steps without an action, an arm that joined late."""
    one = made()
    state, action = one.state.copy(), one.action.copy()
    state[0, 2, 1] = state[1, 5, 2] = -1
    action[0, 3, 0] = -1
    action[2, :2, 3] = -1
    reward = np.where(action < 0, np.nan, np.arange(60.0).reshape(action.shape))
    return restive.Instance(**{**vars(one), "state": state, "action": action, "reward": reward, "propensity": np.where(action < 0, 1.0, one.propensity)})


def test_gaps_are_kept_where_the_format_has_room_for_them():
    one = gaps()
    found = convert.from_obp(convert.to_obp(one), **known(one))
    same(one, found, "state")
    # a state that is neither decided upon nor the outcome of a decision is lost
    is_lost = (one.state >= 0) & (found.state < 0)
    assert is_lost.sum() == 2 and is_lost[2, :2, 3].all()
    assert (found.state == np.where(is_lost, -1, one.state)).all()
    with pytest.raises(ValueError, match="action: trajectory 0, arm 0: found 3 decisions, expected 5: trajectories of one length"):
        convert.to_scope_rl(one)


def test_a_round_is_a_decision_of_an_arm():
    one = made()
    out = convert.to_obp(one)
    where = out["restive"]
    at = (where["trajectory"], where["step"], where["arm"])
    assert out["n_rounds"] == 60 and len(set(zip(*at))) == 60
    np.testing.assert_array_equal(out["context"][:, :2].argmax(axis=1), one.state[at])
    np.testing.assert_array_equal(out["context"][:, 2:], one.features[at[2]])
    np.testing.assert_array_equal(out["reward"], one.state[at])
    np.testing.assert_array_equal(out["pi_b"][np.arange(60), out["action"], 0], out["pscore"])
    np.testing.assert_allclose(out["pi_b"].sum(axis=1), 1)


def target(one, seed=1):
    return np.random.default_rng(seed).uniform(0.2, 0.8, one.action.shape)


def snipw(out, rounds, chosen):
    """OBP's self-normalised estimate, its formula written out: the mean of w r over the mean of w."""
    w = chosen / out["pscore"][rounds]
    return (w * out["reward"][rounds]).mean() / w.mean()


def test_ours_is_obps_estimate_where_there_is_one_decision():
    one = made(horizon=1, trajectories=50)
    pull, out = target(one), convert.to_obp(one)
    ours = restive.cwpdis(pull, one.state, one.action, one.rewards, propensity=one.propensity)
    for arm in range(4):
        rounds = out["restive"]["arm"] == arm
        chance = pull[out["restive"]["trajectory"][rounds], 0, arm]
        chosen = np.where(out["action"][rounds] == 1, chance, 1 - chance)
        assert ours.arm_value[arm] == pytest.approx(snipw(out, rounds, chosen), rel=1e-12)
    obp = pytest.importorskip("obp.ope")  # not pinned: it asks for Python below 3.11
    both = np.stack([1 - chance, chance], axis=1)[:, :, None]
    theirs = obp.SelfNormalizedInverseProbabilityWeighting().estimate_policy_value(
        reward=out["reward"][rounds], action=out["action"][rounds], pscore=out["pscore"][rounds], action_dist=both
    )
    assert ours.arm_value[3] == pytest.approx(theirs, rel=1e-12)


def test_ours_is_scope_rls_estimate_of_one_arm():
    """Self-normalised per-decision importance sampling: at every step the mean of w r over the mean of w, discounted."""
    one = made(arms=1, budget=0, trajectories=40)
    one = restive.Instance(**{**vars(one), "action": (np.random.default_rng(2).random(one.action.shape) < 0.4).astype(np.int8), "propensity": None})
    one = restive.Instance(**{**vars(one), "propensity": np.where(one.action == 1, 0.4, 0.6)})
    pull, out = target(one), convert.to_scope_rl(one)
    ours = restive.cwpdis(pull, one.state, one.action, one.rewards, propensity=one.propensity, discount=0.9).value
    shape = (out["n_trajectories"], out["step_per_trajectory"])
    assert shape == (40, 5)
    action, reward, pscore = (out[name].reshape(shape) for name in ("action", "reward", "pscore"))
    chance = pull[out["info"]["trajectory"], np.tile(np.arange(5), 40), out["info"]["arm"]].reshape(shape)
    w = np.cumprod(np.where(action == 1, chance, 1 - chance) / pscore, axis=1)
    assert ours == pytest.approx((0.9 ** np.arange(5) * (w * reward).mean(axis=0) / w.mean(axis=0)).sum(), rel=1e-12)
    scope = pytest.importorskip("scope_rl.ope.discrete")  # not pinned: it asks for d3rlpy, which asks for one old Gymnasium
    both = np.stack([1 - chance, chance], axis=-1).reshape(-1, 2)
    theirs = scope.SelfNormalizedPDIS().estimate_policy_value(
        step_per_trajectory=5, action=out["action"], reward=out["reward"], pscore=out["pscore"], evaluation_policy_action_dist=both, gamma=0.9
    )
    assert ours == pytest.approx(theirs, rel=1e-9)  # it adds 1e-10 to what it divides by


def episodes_of(arrays):
    """What d3rlpy's EpisodeGenerator makes of the arrays of an MDPDataset."""
    ends = np.flatnonzero(arrays["terminals"] + arrays["timeouts"]) + 1
    cut = lambda name, a, b: arrays[name][a:b].reshape(b - a, -1)
    return SimpleNamespace(
        episodes=[
            SimpleNamespace(**{name: cut(name, a, b) for name in ("observations", "actions", "rewards")}, terminated=bool(arrays["terminals"][b - 1]))
            for a, b in zip(np.r_[0, ends[:-1]], ends)
        ]
    )


@pytest.mark.parametrize("one", [made(), made("five-state")], ids=["two", "five"])
def test_d3rlpy_gets_episodes_and_gives_them_back(one):
    arrays = convert.to_mdp(one)
    assert len(arrays["rewards"]) == 3 * 4 * 6 and arrays["timeouts"].sum() == 12 and not arrays["terminals"].any()
    assert {array.dtype for name, array in arrays.items() if name != "actions"} == {np.dtype(np.float32)}
    found = convert.from_d3rlpy(episodes_of(arrays), arms=4, **{**known(one), "rewards": one.rewards.astype(np.float32)})
    same(one, found, "features", "propensity", "rewards")
    np.testing.assert_array_equal(found.features, one.features.astype(np.float32))
    assert found.propensity is None
    # each an arm of its own where nothing is said
    assert convert.from_d3rlpy(episodes_of(arrays), **known(one)).state.shape == (1, 6, 12)
    ended = {**arrays, "terminals": arrays["timeouts"], "timeouts": arrays["terminals"]}
    assert (convert.from_d3rlpy(episodes_of(ended), arms=4, **known(one)).state[:, -1] == -1).all()
    d3rlpy = pytest.importorskip("d3rlpy")  # not pinned: it asks for one old Gymnasium
    dataset = convert.to_d3rlpy(one)
    assert dataset.dataset_info.action_size == 2 and dataset.transition_count == 60
    assert dataset.dataset_info.action_space == d3rlpy.ActionSpace.DISCRETE
    same(found, convert.from_d3rlpy(dataset, arms=4, **{**known(one), "rewards": one.rewards.astype(np.float32)}))


@pytest.mark.parametrize("one", [made(), made("collapsing", chain=3), gaps()], ids=["two", "collapsing", "gaps"])
def test_minari_keeps_it_all(one, tmp_path, monkeypatch):
    pytest.importorskip("minari")
    pytest.importorskip("h5py")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Minari's own, about authors and environments
        dataset = convert.to_minari(one, "restive/log-v0", author="the tests")
    import minari

    assert dataset.total_steps == (one.action >= 0).sum()
    for log in (dataset, minari.load_dataset("restive/log-v0"), list(dataset.iterate_episodes())):
        found = convert.from_minari(log, **known(one))
        same(one, found, "state")
        lost = (one.state >= 0) & (found.state < 0)
        assert (found.state == np.where(lost, -1, one.state)).all() and lost.sum() <= 2


def test_logs_of_others_become_arms():
    rng = np.random.default_rng(3)
    feedback = {
        "n_rounds": 12, "n_actions": 2, "context": rng.normal(size=(12, 3)), "action": rng.integers(0, 2, 12), "position": None,
        "reward": rng.normal(size=12), "pscore": np.full(12, 0.5),
    }  # fmt: skip
    none = lambda context: np.zeros(len(context), dtype=int)
    one = convert.from_obp(feedback, states=2, budget=3, state=none)
    assert one.state.shape == (1, 2, 12) and (one.state[:, 0] == 0).all() and (one.state[:, 1] == -1).all()
    np.testing.assert_array_equal(one.features, feedback["context"])
    np.testing.assert_array_equal(one.reward[0, 0], feedback["reward"])
    with pytest.warns(UserWarning, match="features differ between the steps of an arm"):
        four = convert.from_obp(feedback, states=2, budget=1, state=none, arms=4)
    assert four.state.shape == (3, 2, 4) and four.action[2, 0, 1] == feedback["action"][9]
    # self-normalised over everybody, as one arm: OBP's estimate of the whole log
    with pytest.warns(UserWarning, match="features differ"):
        alone = convert.from_obp(feedback, states=2, budget=1, state=none, arms=1)
    pull = np.full((12, 1, 1), 0.8)
    w = np.where(feedback["action"] == 1, 0.8, 0.2) / 0.5
    found = restive.cwpdis(pull, alone.state, alone.action, alone.reward, propensity=alone.propensity).value
    assert found == pytest.approx((w * feedback["reward"]).sum() / w.sum(), rel=1e-12)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_actions": 3}, "n_actions: found 3, expected 2"),
        ({"position": np.ones(60)}, "position: found several"),
        ({"action": np.full(60, 2)}, "action: found .*expected 0 .passive. and 1 .pull."),
        ({"context": np.full((60, 18), 0.5)}, "observations: found 18 columns of which the first 2 are no indicators"),
        ({"context": np.zeros((60, 1)), "restive": None}, "observations: found 1 columns"),
        ({"reward": np.zeros(3)}, r"reward: found shape \[3\], expected 60 rows, one for each action"),
        ({"reward": np.zeros(61), "restive": None}, r"reward: found shape \[61\], expected 60 rows"),
        ({"context": np.zeros((3, 18))}, r"context: found shape \[3, 18\], expected 60 rows"),
        ({"pscore": np.ones(3)}, r"pscore: found shape \[3\], expected 60 rows"),
        ({"action": np.zeros(40)}, r"context: found shape \[60, 18\], expected 40 rows"),
        ({"reward": ["a"] * 60}, "reward: found what are no numbers"),
        ({"restive": {}}, "trajectory: found none, expected that of what to_obp wrote, in which there are no keys"),
        ({"action": [], "context": np.zeros((0, 18)), "reward": [], "pscore": [], "restive": None}, "action: found no round"),
    ],
)
def test_what_is_no_log_of_ours_is_said(wrong, message):
    with pytest.raises(ValueError, match=message):
        convert.from_obp({**convert.to_obp(made()), **wrong}, states=2, budget=2)


def test_what_cannot_go_out_is_said():
    one = made()
    with pytest.raises(ValueError, match="propensity: found none"):
        convert.to_obp(restive.Instance(**{**vars(one), "propensity": None}))
    with pytest.raises(TypeError, match="instance: expected a restive.Instance, found builtins.dict"):
        convert.to_mdp({})
    unseen = one.state.copy()
    unseen[1, 2, 3] = -1
    with pytest.raises(ValueError, match="reward: trajectory 1, step 2, arm 3: found none"):
        convert.to_mdp(restive.Instance(**{**vars(one), "state": unseen}))
    with pytest.raises(ValueError, match="arms: found 5, expected a divisor of the 12 episodes"):
        convert.from_d3rlpy(episodes_of(convert.to_mdp(one)), states=2, budget=2, arms=5)


@pytest.mark.parametrize(("name", "missing"), [("obp", ["n_actions", "context", "action", "reward"]), ("scope_rl", ["action_type", "state", "action", "reward"])])
def test_what_a_log_lacks_is_named(name, missing):
    out, back = WAYS[name]
    log = out(made())
    for key in missing:
        with pytest.raises(ValueError, match=f"{key}: found none, expected that of .*'pscore'"):
            back({other: value for other, value in log.items() if other != key}, states=2, budget=2)
    with pytest.raises(ValueError, match="found none, expected that of .*in which there are no keys"):
        back({}, states=2, budget=2)
    with pytest.raises(TypeError, match="log: found NoneType, expected a dictionary"):
        back(None, states=2, budget=2)


@pytest.mark.parametrize("name", ["state", "action", "reward", "pscore"])
def test_rows_of_another_length_are_said(name):
    log = convert.to_scope_rl(made())
    with pytest.raises(ValueError, match=f"{name}: found shape .*, expected 60 rows, one for each step of 12 trajectories of 5"):
        convert.from_scope_rl({**log, name: log[name][:-1]}, states=2, budget=2)


def test_a_decision_that_comes_twice_is_refused():
    log = convert.to_obp(made())
    twice = {name: np.concatenate([value, value[7:8]]) if isinstance(value, np.ndarray) and len(value) == 60 else value for name, value in log.items()}
    twice["restive"] = {name: np.concatenate([value, value[7:8]]) for name, value in log["restive"].items()}
    with pytest.raises(ValueError, match="action: trajectory 0, step 2, arm 1: found two, expected one"):
        convert.from_obp(twice, states=2, budget=2)


def test_episodes_that_do_not_fit_are_said():
    wrong = SimpleNamespace
    with pytest.raises(ValueError, match="episodes: found none, expected at least one"):
        convert.from_d3rlpy(wrong(episodes=[]), states=2, budget=1)
    with pytest.raises(ValueError, match="episodes: found none, expected at least one"):
        convert.from_minari([], states=2, budget=1)
    with pytest.raises(ValueError, match="n_trajectories: found 0 of 5 steps"):
        convert.from_scope_rl({**convert.to_scope_rl(made()), "n_trajectories": 0}, states=2, budget=1)
    with pytest.raises(TypeError, match="episode 0: found SimpleNamespace without rewards"):
        convert.from_minari([wrong(observations=np.eye(2), actions=[0], infos=None)], states=2, budget=1)
    with pytest.raises(ValueError, match="reward: trajectory 0, arm 0: found 2, expected 1 for 1 decisions"):
        convert.from_minari([wrong(observations=np.eye(2), actions=[0], rewards=[1.0, 2.0], infos=None)], states=2, budget=1)
    with pytest.raises(ValueError, match="observations: trajectory 0, arm 0: found 2, expected 3 for 2 decisions"):
        convert.from_minari([wrong(observations=np.eye(2), actions=[0, 1], rewards=[1.0, 2.0], infos=None)], states=2, budget=1)
    alone = wrong(observations=np.eye(2)[:1], actions=[0], rewards=[0.0], terminated=False)
    with pytest.raises(ValueError, match="action: found no decision, expected at least one"):
        convert.from_d3rlpy(wrong(episodes=[alone]), states=2, budget=1)
