"""Availability, clusters and pulls per person: columns, arrays and settings of a study."""

import pickle

import numpy as np
import pytest

import restive
from restive import Instance, Study

SETTINGS = dict(states=2, discount=0.9, budget=1, horizon=9, behaviour="uniform")
ARMS = {"arm": ["Ada", "Ben", "Cho"], "age": [31, 24, 45], "home": ["x", "y", "x"]}
LOG = {
    "trajectory": [1] * 6,
    "t": [0, 0, 0, 1, 1, 1],
    "arm": ARMS["arm"] * 2,
    "state": [0, 1, 1, 1, 0, 1],
    "action": [1, 0, 0, None, None, None],
    "available": [1, 0, 1, 0, 1, 1],
}


def made(arms=ARMS, log=LOG, **other):
    return Study(arms, log, **{**SETTINGS, "cluster": "home", "assignment": "per-person", **other})


def arrays(**other):
    rng = np.random.default_rng(3)
    available = rng.random((4, 6, 5)) < 0.7
    action = ((rng.random((4, 5, 5)) < 0.3) & available[:, :-1]).astype(int)
    parts = dict(
        features=rng.normal(size=(5, 2)), state=rng.integers(0, 2, (4, 6, 5)), action=action, available=available,
        clusters=["a", "b", "a", "7", "b"], rewards=np.array([[0.0, 0.0], [1.0, 1.0]]), budget=2, discount=0.9,
    )  # fmt: skip
    return Instance(**{**parts, **other})


def test_columns_and_settings_go_in_and_out():
    study = made()
    assert study.settings["cluster"] == "home" and study.settings["assignment"] == "per-person"
    tables = study.tables()
    assert list(tables.arms["home"]) == ["x", "y", "x"]
    assert list(tables.trajectories["available"]) == LOG["available"]
    assert Study(*tables, **study.settings) == study
    assert pickle.loads(pickle.dumps(study)) == study
    # booleans and numbers are the same
    assert made(log={**LOG, "available": np.array(LOG["available"], dtype=bool)}) == study
    assert made(ARMS, {name: cells for name, cells in LOG.items() if name != "available"}) != study
    assert made(assignment=None) != study and made({**ARMS, "home": ["x", "y", "z"]}) != study
    plain = Study(ARMS, LOG, **SETTINGS)
    assert not {"cluster", "assignment"} & set(plain.settings)


def test_files_keep_what_is_declared(tmp_path):
    study = made()
    for form in ("csv", "parquet"):
        study.write(tmp_path / form, format=form)
        assert Study.read(tmp_path / form) == study


def test_arrays_have_availability_and_clusters():
    (one,) = made().to_arrays()
    np.testing.assert_array_equal(one.available, [[[True, False, True], [False, True, True]]])
    assert one.clusters == ["x", "y", "x"] and one.feature_names == ["age"]
    assert Study.from_arrays(made().to_arrays()) == made()
    assert Study.from_arrays(made().to_arrays(), arms=made().tables().arms) == made()
    # without declarations there is nothing
    other = restive.generate("two-state", seed=7, instances=1, arms=5, budget=1, trajectories=2).to_study().to_arrays()[0]
    assert other.available is None and other.clusters is None


def test_arrays_of_ones_own_become_a_study():
    one = arrays()
    study = Study.from_arrays([one, one], behaviour="estimated", assignment="per-person")
    assert study.settings["cluster"] == "cluster" and study.settings["assignment"] == "per-person"
    back = study.to_arrays()
    np.testing.assert_array_equal(back[1].available, one.available)
    assert back[0].clusters == one.clusters
    assert Study.from_arrays(one, behaviour="estimated", cluster="home").settings["cluster"] == "home"
    # availability of decisions alone: at the last step each arm counts as available
    short = arrays(available=one.available[:, :-1].astype(int), clusters=None)
    study = Study.from_arrays(short, behaviour="estimated")
    available = study.to_arrays()[0].available
    np.testing.assert_array_equal(available[:, :-1], one.available[:, :-1])
    assert available[:, -1].all() and "cluster" not in study.settings
    # one instance of two has availability
    mixed = Study.from_arrays([one, arrays(available=None)], behaviour="estimated").to_arrays()
    assert mixed[1].available.all() and not mixed[0].available.all()


def test_parts_of_a_study_keep_their_clusters():
    some = made().subset(arms=["Ben", "Cho"])
    (one,) = some.to_arrays()
    assert one.clusters == ["y", "x"] and some.settings["cluster"] == "home"
    np.testing.assert_array_equal(one.available, [[[False, True], [True, True]]])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"log": {**LOG, "available": [1, 0, 2, 0, 1, 1]}}, r"row 2 \(arm Cho\), column available, .*found 2, expected 0 or 1"),
        ({"log": {**LOG, "available": [1, 0, None, 0, 1, 1]}}, "found an empty cell, expected 0 or 1"),
        ({"log": {**LOG, "available": [0, 0, 1, 0, 1, 1]}}, "column action, .*found 1, expected 0 or an empty cell: available = 0"),
        ({"arms": {**ARMS, "home": ["x", None, "x"]}}, r"row 1 \(arm Ben\), column home: found an empty cell, expected the name of a cluster"),
        ({"cluster": "house"}, 'arms: found no column "house", expected a column of that name'),
        ({"cluster": "arm"}, 'cluster: found "arm", expected the name of a column'),
        ({"behaviour": "none"}, 'assignment: found "per-person", expected "per-decision" with behaviour = "none"'),
        ({"assignment": "per-week"}, 'assignment: found "per-week", expected "per-decision" or "per-person"'),
    ],
)
def test_what_cannot_be_declared_is_said(changed, message):
    with pytest.raises(ValueError, match=message):
        made(**changed)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"available": np.ones((4, 6, 4))}, r"available: instance 0: found shape \[4, 6, 4\], expected \[4, 6, 5\]"),
        ({"available": np.full((4, 6, 5), 2)}, "available: instance 0: found .*2.*, expected 0 or 1"),
        ({"available": np.zeros((4, 6, 5))}, "column action"),
        ({"clusters": ["a"]}, "clusters: instance 0: found 1 names, expected 5"),
        ({"clusters": ["a", None, "a", "b", "b"]}, "clusters: instance 0: found a missing name, expected the cluster of each arm"),
        ({"feature_names": ["age", "cluster"]}, "feature_names: instance 0: found 'cluster'"),
    ],
)
def test_what_is_wrong_with_arrays_is_said(changed, message):
    with pytest.raises(ValueError, match=message):
        Study.from_arrays(arrays(**changed), behaviour="estimated")


def test_clusters_need_a_column_of_a_given_table():
    one = arrays()
    arms = {"arm": list("01234"), "age": [1, 2, 3, 4, 5], "home": one.clusters}
    with pytest.raises(ValueError, match="cluster: found clusters of instances beside a table of arms"):
        Study.from_arrays(one, arms=arms, behaviour="estimated")
    study = Study.from_arrays(one, arms=arms, behaviour="estimated", cluster="home")
    assert study.to_arrays()[0].clusters == one.clusters
    # a feature that is called cluster stays one
    named = arrays(clusters=None, feature_names=["age", "cluster"])
    assert "cluster" not in Study.from_arrays(named, behaviour="estimated").settings
