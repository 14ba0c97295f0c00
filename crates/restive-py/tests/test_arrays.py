"""Studies and arrays: there and back, parts of a study, predictions without records."""

import copy
import pickle

import numpy as np
import pytest

import restive
from restive import Instance, Instances, Study

SIZES = dict(instances=4, arms=8, budget=2, horizon=5, trajectories=3)
DOMAINS = [("two-state", SIZES), ("five-state", SIZES), ("collapsing", {**SIZES, "chain": 4}), ("collapsing", {**SIZES, "chain": "infinite", "beliefs": 9})]


def generated(domain="two-state", seed=5, **sizes):
    return restive.generate(domain, seed, **{**SIZES, **sizes})


@pytest.mark.parametrize(("domain", "sizes"), DOMAINS)
def test_what_is_generated_is_the_same_by_either_way(domain, sizes):
    instances = restive.generate(domain, 5, **sizes)
    study = instances.to_study()
    back = study.to_arrays()
    assert isinstance(back, Instances) and back.settings == study.settings
    for k, (one, other) in enumerate(zip(instances, back, strict=True)):
        for name in ("features", "state", "action", "propensity", "reward", "rewards", "P"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
        assert (one.budget, one.discount, one.chain) == (other.budget, other.discount, other.chain)
        assert other.name == str(k) and other.arms == [str(i) for i in range(8)] and other.trajectories == ["0", "1", "2"]
        assert other.feature_names[:2] == ["f_00", "f_01"] and set(other.split) <= {"train", "validation", "test"}
    assert Study.from_arrays(back) == study == back.to_study()


def uneven(**other):
    """Two instances, of different lengths, with gaps, rewards of their own and names that need an order."""
    arms = {"instance": ["north"] * 2 + ["south"] * 3, "arm": ["b", "a", "10", "9", "x y"], "age": [31.5, 24, 45, -1, 0], "is_new": [1, 0, 0, 1, 1]}
    log = {
        "instance": ["north"] * 5 + ["south"] * 4, "trajectory": ["late"] * 3 + ["early"] * 2 + ["w"] * 4,
        "t": [1, 1, 2, 1, 3, 1, 1, 2, 3], "arm": ["a", "b", "a", "a", "a", "9", "10", "9", "x y"],
        "state": [0, 1, 2, 1, 0, 0, None, 1, 2], "action": [1, 0, None, 0, None, 1, 0, 0, None],
        "propensity": [0.5, 0.75, None, 0.9, None, 1.0, 0.25, None, None], "reward": [1.5, None, None, -2, None, 0, 0, 3, None],
        "order": [2, 2, 2, 1, 1, 1, 1, 1, 1],
    }  # fmt: skip
    settings = dict(rewards=[[0, -1], [1, 0.5], [4, 4]], discount=0.9, budget=1, horizon=7, behaviour="logged", name="ü \"x\"", unit="visits", ends=9)
    return Study(arms, log, **{**settings, **other})


def test_what_has_gaps_lengths_and_names_of_its_own_comes_back():
    study = uneven()
    arrays = study.to_arrays()
    assert [one.name for one in arrays] == ["north", "south"] and arrays[1].arms == ["9", "10", "x y"]
    assert arrays[0].trajectories == ["early", "late"] and arrays[0].state.shape == (2, 3, 2) and arrays[0].P is None
    np.testing.assert_array_equal(arrays[1].state[0], [[0, -1, -1], [1, -1, -1], [-1, -1, 2]])
    np.testing.assert_array_equal(arrays[1].features, [[-1, 1], [45, 0], [0, 1]])
    back = Study.from_arrays(arrays)
    assert back == study and back.settings == study.settings
    assert Study.from_arrays(list(arrays), behaviour="logged", **{k: study.settings[k] for k in ("horizon", "name", "unit", "ends")}) == study
    assert Study.from_arrays(arrays, unit="calls").settings["unit"] == "calls"


def test_features_are_numbers_as_plainly_as_can_be():
    arms = {"arm": ["Ada", "Ben", "Cho"], "age": [31, None, 45], "district": ["north", "south", None], "same": [7, 7, 7], "gone": [np.nan] * 3, "word": ["a", "a", "a"]}
    log = {"trajectory": [1] * 3, "t": [0] * 3, "arm": arms["arm"], "state": [0, 1, 1], "action": [1, 0, 0]}
    study = Study(arms, log, states=2, discount=0.9, budget=1, horizon=3, behaviour="uniform")
    (one,) = study.to_arrays()
    assert one.feature_names == ["age", "age is missing", "district = north", "district = south", "district is missing", "same", "gone", "gone is missing", "word = a"]
    np.testing.assert_array_equal(one.features, [[31, 0, 1, 0, 0, 7, 0, 1, 1], [38, 1, 0, 1, 0, 7, 0, 1, 1], [45, 0, 0, 0, 1, 7, 0, 1, 1]])
    # text and gaps are what is lost; with the table of the arms nothing is
    assert Study.from_arrays([one], behaviour="uniform", horizon=3) != study
    assert Study.from_arrays(study.to_arrays(), arms=study.tables().arms) == study
    assert Study.from_arrays(study.to_arrays()).settings.get("text") is None


def test_features_are_those_that_a_model_reads():
    study = generated(arms=20).to_study()
    model = restive.TwoStage(epochs=2).fit(study)
    arrays = study.to_arrays(model)
    assert arrays[0].feature_names == model.feature_names_ and arrays[0].features.shape == (20, model.n_features_in_)
    for one, predicted in zip(arrays, model.predict(study), strict=True):
        np.testing.assert_array_equal(model.predict(one.features), predicted)
    with pytest.raises(restive.NotFittedError):
        study.to_arrays(restive.TwoStage())


def test_arrays_of_ones_own_become_a_study():
    rng = np.random.default_rng(3)
    one = Instance(
        features=rng.normal(size=(6, 2)), state=rng.integers(0, 2, (4, 6, 6)), action=(rng.random((4, 5, 6)) < 0.3).astype(int),
        rewards=np.array([[0.0, 0.0], [1.0, 1.0]]), budget=2, discount=0.9, feature_names=["age", "income"],
    )  # fmt: skip
    study = Study.from_arrays([one, one], behaviour="estimated")
    assert study.instances == ("0", "1") and study.settings["horizon"] == 5
    np.testing.assert_array_equal(study.to_arrays()[1].features, one.features)
    np.testing.assert_array_equal(study.to_arrays()[1].state, one.state)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"features": np.zeros((7, 2))}, r"features: instance 0: found shape \[7, 2\], expected \[8, \?\]"),
        ({"action": np.zeros((3, 6, 8))}, r"action: instance 0: found shape \[3, 6, 8\], expected \[3, 5, 8\]"),
        ({"state": np.zeros((6, 8))}, r"state: instance 0: found shape"),
        ({"state": np.zeros((0, 6, 8))}, "state: instance 0: found shape .*expected at least one trajectory"),
        ({"P": np.zeros((8, 2, 2))}, "P: instance 0: found shape"),
        ({"P": None}, "P: instance 0: found none, expected the truth of all instances or of none"),
        ({"budget": 3}, "budget: instance 1: found 2, expected that of instance 0, 3"),
        ({"arms": ["a"]}, "arms: instance 0: found 1 names, expected 8"),
        ({"feature_names": ["split"] * 16}, "feature_names: instance 0: found 'split'"),
        ({"propensity": None}, "behaviour: found no propensities and nothing said"),
        ({"propensity": np.full((3, 5, 8), 2.0)}, "propensity"),
        ({"state": np.full((3, 6, 8), 5)}, "state.*found 5, expected a state from 0 to 1"),
    ],
)
def test_what_is_wrong_with_arrays_is_said(changed, message):
    first, second = generated()[:2]
    first = Instance(**{**vars(first), **changed})
    with pytest.raises(ValueError, match=message):
        Study.from_arrays([first, second])


def test_only_instances_are_instances():
    with pytest.raises(ValueError, match="instances: found none"):
        Study.from_arrays([])
    with pytest.raises(TypeError, match="instances: 0: expected a restive.Instance, found builtins.dict"):
        Study.from_arrays([{}])
    alone = generated()[1]
    assert Study.from_arrays(alone) == Study.from_arrays([alone])


def test_text_among_features_is_named():
    one = generated()[0]
    text = restive.Instance(**{**vars(one), "features": np.full(one.features.shape, "x"), "name": "north"})
    with pytest.raises(ValueError, match="features: instance north: found <U1 .*, expected numbers; text goes into a table: arms="):
        Study.from_arrays([text])


def rows(study):
    return {(str(i), str(a)) for i, a in zip(study.tables().arms["instance"], study.tables().arms["arm"])}


def test_parts_of_a_study():
    study = generated().to_study()
    arms = study.tables().arms
    everybody = rows(study)
    assert study.subset() == study
    assert study.subset(instances=["2", "0"]).instances == ("0", "2")
    assert study.subset(instances=[True, False, False, True]).instances == study.subset(instances=lambda name: name in "03").instances == ("0", "3")
    assert rows(study.subset(arms=["1", "5"])) == {(i, a) for i, a in everybody if a in "15"}
    assert study.subset(arms=(name for name in ("1", "5"))) == study.subset(arms={"1": 0, "5": 0}.keys()) == study.subset(arms=["1", "5"])
    assert rows(study.subset(arms=[1, 5], instances=2)) == {("2", "1"), ("2", "5")}
    mask = arms["f_00"] > np.median(arms["f_00"])
    chosen = study.subset(arms=mask, budget=1)
    assert rows(chosen) == {(i, a) for i, a, kept in zip(arms["instance"], arms["arm"], mask) if kept}
    assert chosen == study.subset(arms=lambda arms: arms["f_00"] > np.median(arms["f_00"]), budget=1)
    assert {**chosen.settings, "budget": 2} == study.settings
    # the same as leaving rows out of the tables
    kept = study.subset(arms=["1", "5"])
    tables = [{name: cells[np.isin(table["arm"], ["1", "5"])] for name, cells in table.items()} for table in study.tables()]
    assert kept == Study(*tables, **study.settings)
    one, whole = kept.to_arrays()[3], study.to_arrays()[3]
    np.testing.assert_array_equal(one.state, whole.state[:, :, [1, 5]])
    np.testing.assert_array_equal(one.P, whole.P[[1, 5]])


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"arms": ["1", "nobody"]}, "arms: found 'nobody', which the study does not have"),
        ({"instances": "7"}, "instances: found '7', which the study does not have"),
        ({"arms": [True, False]}, r"arms: found a mask of shape \[2\], expected \[32\]"),
        ({"arms": np.zeros(32, dtype=bool)}, "arms: found none that are kept"),
        ({"arms": []}, "arms: found none that are kept, expected at least one"),
        ({"arms": lambda arms: []}, "arms: found none that are kept, expected at least one"),
        ({"instances": []}, "instances: found none that are kept, expected at least one"),
        ({"arms": [0.5]}, "arms: found float64"),
        ({"arms": ["1"]}, "budget: found 2, expected at most 1, the arms that are kept of instance 0"),
        ({"budget": -1}, "budget: found -1, expected a whole number"),
    ],
)
def test_what_cannot_be_chosen_is_said(asked, message):
    with pytest.raises(ValueError, match=message):
        generated().to_study().subset(**asked)


def test_instances_are_a_list_that_knows_where_it_comes_from():
    instances = generated()
    for back in (pickle.loads(pickle.dumps(instances)), copy.copy(instances), copy.deepcopy(instances)):
        assert back.to_study() == instances.to_study() and back.domain == "two-state"
    some = instances.to_study().to_arrays()[1:3]
    assert isinstance(some, Instances) and some.to_study().instances == ("1", "2")
    instances.pop()
    assert len(instances.to_study().instances) == 3  # what is there, not what was generated
    assert instances.to_study(unit="calls").settings["unit"] == "calls"


EXAMPLE_ARMS = {"arm": ["Ada", "Ben", "Cho", "Dia", "Eli", "Fay"], "age": [31, 24, None, 45, 38, 29], "code": ["1", "2", "2", "1", "1", "2"], "note": list("abcdef")}


def trained(**other):
    log = {
        "trajectory": [1] * 18, "t": [0] * 6 + [1] * 6 + [2] * 6, "arm": EXAMPLE_ARMS["arm"] * 3,
        "state": [0, 1, 0, 1, 1, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1], "action": [1, 0, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0] + [None] * 6,
    }  # fmt: skip
    arms = {**EXAMPLE_ARMS, "split": ["train"] * 5 + ["test"]}
    study = Study(arms, log, states=2, discount=0.9, budget=2, horizon=4, behaviour="uniform", text=["code", "note"])
    return study, restive.TwoStage(epochs=3, predictor="linear", drop=("note",), **other).fit(study)


def test_features_alone_are_enough_to_predict():
    study, model = trained()
    (expected,) = model.predict(study)
    features = {name: EXAMPLE_ARMS[name] for name in ("age", "code")}
    np.testing.assert_array_equal(model.predict(features), expected)
    np.testing.assert_array_equal(model.predict({**EXAMPLE_ARMS, "instance": ["x"] * 6}), expected)
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    for frame in (pd.DataFrame(features), pl.DataFrame(features), pa.table(features)):
        np.testing.assert_array_equal(model.predict(frame), expected)
    # rows stand as they come, and one of them is enough
    backwards = {name: cells[::-1] for name, cells in features.items()}
    np.testing.assert_array_equal(model.predict(backwards), expected[::-1])
    np.testing.assert_array_equal(model.predict({"age": [24.0], "code": [2]}), expected[[1]])
    assert model.predict({"age": [], "code": []}).shape == (0, 2, 2, 2)
    many = {"age": np.arange(1200.0), "code": ["1", "2"] * 600}
    np.testing.assert_array_equal(model.predict(many)[1001], model.predict({"age": [1001.0], "code": ["2"]})[0])


@pytest.mark.parametrize(
    ("arms", "message"),
    [
        ({"age": [1.0]}, "the table of arms does not fit the model: .*code"),
        ({"age": [1.0], "code": ["1"], "height": [2.0]}, "height"),
        ({"age": ["old"], "code": ["1"]}, "age"),
        ({"age": [np.inf], "code": ["1"]}, "infinite"),
        (np.zeros((3, 7)), r"features: found shape \[3, 7\], expected \[N, 4\], the encoded columns|features: .*\[N, 4\]"),
        (np.full((3, 4), np.nan), "features: .*NaN"),
        ("a table", "features"),
    ],
)
def test_features_that_do_not_fit_are_named(arms, message):
    _, model = trained()
    with pytest.raises((ValueError, TypeError), match=message):
        model.predict(arms)
