"""Trials from Python: against the plain formulas, written out here."""

import numpy as np
import pytest
import restive
from restive import trial


def simulated(seed=1, n=400, weeks=6, places=30, effect=0.3):
    """A trial without pairs: half of the people in the policy arm, the highest scores called."""
    luck = np.random.default_rng(seed)
    policy = np.arange(n) < n // 2
    alone = luck.uniform(0.2, 0.6, n)
    tie = np.repeat(luck.random((n, 1)), weeks, axis=1)
    state = luck.integers(0, 2, n)
    score, outcome, called, prognosis = (np.zeros((n, weeks)) for _ in range(4))
    for week in range(weeks):
        score[:, week] = alone + 0.5 * (state == 0)
        prognosis[:, week] = alone * (weeks - week)
        order = sorted(np.flatnonzero(policy), key=lambda i: (-score[i, week], -tie[i, week]))
        called[order[:places], week] = 1
        state = (luck.random(n) < alone + effect * called[:, week]).astype(int)
        outcome[:, week] = state
    return policy, outcome, called, score, tie, prognosis


def test_every_estimator_answers_and_the_difference_is_the_textbooks():
    policy, outcome, called, score, tie, prognosis = simulated()
    found = trial.analyse(policy, outcome, called, score=score, tie=tie, prognosis=prognosis)
    assert list(found.effects) == ["adjusted subgroup", "subgroup", "exchange", "regression", "difference"]
    assert found.primary == "adjusted subgroup" and all(isinstance(of, trial.Effect) for of in found.effects.values())
    total = outcome.sum(axis=1)
    ours, theirs = total[policy], total[~policy]
    plain = found.effects["difference"]
    assert plain.estimate == pytest.approx(len(ours) * (ours.mean() - theirs.mean()))
    assert plain.se == pytest.approx(len(ours) * np.sqrt(ours.var(ddof=1) / len(ours) + theirs.var(ddof=1) / len(theirs)))
    assert plain.called == int((called[policy].sum(axis=1) > 0).sum())
    # thirty calls a week, each worth three tenths of a week
    assert found.effect.low < 0.3 * called.sum() < found.effect.high
    assert found.effect.se < 0.6 * plain.se
    assert found.effect.per_call["estimate"] == pytest.approx(found.effect.estimate / called.sum())
    assert "* adjusted subgroup" in str(found) and "[" in str(plain)


def test_a_protocol_decides_and_what_is_not_logged_is_refused():
    policy, outcome, called, score, tie, _ = simulated()
    named = trial.analyse(policy, outcome, called, score=score, tie=tie, estimator="exchange")
    assert named.primary == "exchange" and not named.departs_from_protocol
    bare = trial.analyse(policy, outcome, called, estimator="exchange")
    assert bare.primary == "regression" and bare.departs_from_protocol
    assert bare.effects["exchange"].startswith("found no full log")
    with pytest.raises(ValueError, match='estimator: found "before and after", expected one of'):
        trial.analyse(policy, outcome, called, estimator="before and after")
    with pytest.raises(ValueError, match="outcome"):
        trial.analyse(policy, outcome[:-1], called)
    with pytest.raises(ValueError, match="called"):
        trial.analyse(policy, outcome, called[:, :-1])
    with pytest.raises(ValueError, match="policy: found 2"):
        trial.analyse(np.full(len(policy), 2), outcome, called)


def test_people_are_dealt_alike_whatever_their_order():
    luck = np.random.default_rng(3)
    ids = [f"p{i}" for i in range(101)]
    score, stratum = luck.normal(size=101), luck.integers(0, 3, 101)
    arms = trial.assign(ids, score=score, stratum=stratum, seed=5)
    assert abs(int(arms.sum()) - 50) <= 1
    order = luck.permutation(101)
    again = trial.assign([ids[i] for i in order], score=score[order], stratum=stratum[order], seed=5)
    assert (again == arms[order]).all()
    assert (trial.assign(ids, score=score, seed=6) != arms).any()
    thirds = trial.assign(ids, shares=[2, 1], seed=5)
    assert abs(int((thirds == 1).sum()) - 101 / 3) < 1


def test_power_knows_a_trial_without_effect():
    instance = restive.generate("two-state", instances=1, arms=200, budget=20, trajectories=1, seed=1)[0]
    index = restive.whittle_index(instance.P, instance.rewards, 0.99).index
    rows = trial.power(instance.P, index, weeks=5, budget=10, effects=[0.0, 1.0], trials=40, seed=2)
    assert [row["effect"] for row in rows] == [0.0] * 5 + [1.0] * 5
    null, full = rows[0], rows[5]
    assert null["truth"] == 0 and full["truth"] > 0
    assert null["rejection"] < 0.25 and full["rejection"] > null["rejection"]
    assert rows == trial.power(instance.P, index, weeks=5, budget=10, effects=[0.0, 1.0], trials=40, seed=2)
