"""Studies from data frames and folders: the same contents by every way in, and the checks of the command line."""

import csv
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import restive
from restive import Study

EXAMPLE = Path(__file__).parents[3] / "examples" / "study"
SETTINGS = dict(states=2, discount=0.9, budget=1, horizon=9, behaviour="uniform")
ARMS = {"arm": ["Ada", "Ben", "Cho"], "age": [31, None, 45], "district": ["north", "south", None]}
LOG = {
    "trajectory": ["spring"] * 6,
    "t": [0, 0, 0, 1, 1, 1],
    "arm": ["Ada", "Ben", "Cho"] * 2,
    "state": [0, 1, None, 1, 0, 1],
    "action": [1, 0, 0, None, None, None],
}


def made(arms=ARMS, log=LOG, **other):
    return Study(arms, log, **{**SETTINGS, **other})


def changed(table, **columns):
    return {**table, **columns}


def test_frames_of_all_kinds_are_one_study():
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    expected = made()
    assert made(pd.DataFrame(ARMS), pd.DataFrame(LOG)) == expected
    assert made(pd.DataFrame(ARMS).convert_dtypes(), pd.DataFrame(LOG).convert_dtypes()) == expected
    category = pd.DataFrame(ARMS).astype({"district": "category"})
    assert made(category, pd.DataFrame(LOG).astype({"arm": "category"})) == expected
    assert made(pl.DataFrame(ARMS), pl.DataFrame(LOG)) == expected
    assert made(pl.DataFrame(ARMS).with_columns(pl.col("district").cast(pl.Categorical)), pl.DataFrame(LOG)) == expected
    assert made(pa.table(ARMS), pa.table(LOG)) == expected
    district = pa.array(ARMS["district"]).dictionary_encode()
    assert made(pa.table({**ARMS, "district": district}), pa.table(LOG)) == expected
    arrays = {name: np.array(cells, dtype=object) for name, cells in ARMS.items()}
    assert made(arrays, changed(LOG, t=np.array(LOG["t"], dtype=np.uint8))) == expected
    masked = np.ma.masked_array([0, 1, 7, 1, 0, 1], mask=[cell is None for cell in LOG["state"]])
    assert made(log=changed(LOG, state=masked)) == expected


def test_the_order_of_rows_decides_nothing():
    expected = made()
    arms = {name: [cells[i] for i in (2, 0, 1)] for name, cells in ARMS.items()}
    log = {name: [cells[i] for i in (5, 2, 0, 4, 1, 3)] for name, cells in LOG.items()}
    assert made(arms, log) == expected
    tables = made(arms, log).tables()
    assert list(tables[0]["arm"]) == ["Ada", "Ben", "Cho"]


def test_trajectories_are_ordered_by_name_or_by_a_column():
    twice = {name: cells * 2 for name, cells in LOG.items()} | {"trajectory": ["week 10"] * 6 + ["week 9"] * 6}
    names = lambda study: list(dict.fromkeys(study.tables()[1]["trajectory"]))
    assert names(made(log=twice)) == ["week 9", "week 10"]
    assert names(made(log={**twice, "order": [1] * 6 + [2] * 6})) == ["week 10", "week 9"]


def test_the_study_of_a_folder_is_that_of_its_tables(tmp_path):
    pd = pytest.importorskip("pandas")
    read = Study.read(EXAMPLE)
    settings = dict(rewards=[0, 1], discount=0.99, budget=20, horizon=16, behaviour="uniform")
    frames = [pd.read_csv(EXAMPLE / f"{name}.csv") for name in ("arms", "trajectories", "truth")]
    assert Study(*frames, **settings).fingerprint == read.fingerprint
    assert Study(*frames, **{**settings, "rewards": np.array([[0, 0], [1, 1]])}) == read
    # out and in again, by every way
    for tables in (read.tables(), read.to_pandas(), read.to_polars(), read.to_arrow()):
        assert Study(*tables, **read.settings) == read
    for form in ("csv", "parquet"):
        read.write(tmp_path / form, format=form)
        assert Study.read(tmp_path / form) == read
    with pytest.raises(ValueError, match="found a folder with files"):
        read.write(tmp_path / "csv")
    read.write(tmp_path / "csv", replace=True)
    with pytest.raises(ValueError, match='format: found "xlsx"'):
        read.write(tmp_path / "other", format="xlsx")


def test_tables_go_out_as_they_are():
    pytest.importorskip("pandas")
    study = made()
    arms, trajectories, truth = study.to_pandas()
    assert truth is None
    assert list(arms.columns) == ["instance", "arm", "age", "district"]
    assert list(trajectories["state"].astype(object).where(trajectories["state"].notna(), None)) == LOG["state"]
    assert str(trajectories["state"].dtype) == "Int64" and str(trajectories["t"].dtype) == "int64"
    polars = study.to_polars().trajectories
    assert polars["action"].to_list() == LOG["action"]
    assert study.to_arrow().arms.column("district").to_pylist() == ARMS["district"]
    assert study.instances == ("0",)
    assert study.settings["text"] == ["district"]
    assert repr(study) == (
        "Study(1 instance, 3 arms, 1 trajectory, features: age, district; states 2, budget 1, horizon 9)"
    )


def test_truth_and_instances_come_along():
    truth = {"arm": ["Ada", "Ben", "Cho"], **{f"p_{s}_{a}_1": [0.1, 0.5, 0.9] for s in (0, 1) for a in (0, 1)}}
    study = Study(ARMS, LOG, truth, **SETTINGS)
    assert study.tables().truth["p_0_0_0"] == pytest.approx([0.9, 0.5, 0.1])
    assert study != made()
    assert Study(*study.tables(), **study.settings) == study


def test_states_seen_at_pulls_only():
    log = {
        "trajectory": [1] * 6,
        "t": [0, 0, 0, 1, 1, 1],
        "arm": ["Ada", "Ben", "Cho"] * 2,
        "state": [0, None, None, None, 1, None],
        "action": [True, False, False, False, True, False],
    }
    study = made(log=log, observation="collapsing", chain=4)
    assert study.settings["chain"] == 4
    assert Study(*study.tables(), **study.settings) == study
    with pytest.raises(ValueError, match="^chain: found 0, expected a whole number of labels"):
        made(log=log, observation="collapsing", chain=0)


@pytest.mark.parametrize(
    ("arms", "log", "message"),
    [
        ({}, {"state": [0, 1, 2, 1, 0, 1]}, r"^trajectories: row 2 \(arm Cho\), column state, trajectory spring, t 0: found 2, "
                                            "expected a state from 0 to 1 or an empty cell$"),
        ({}, {"state": ["0", "up", "1", "1", "0", "1"]}, r'^trajectories: row 1 \(arm Ben\), column state: found "up", expected a number'),
        ({}, {"arm": ["Ada", "Ben", "Dan"] * 2}, r'^trajectories: row 2 \(arm Dan\), column arm: found "Dan", an arm without features'),
        ({}, {"t": [0, 0, 0, 1, 1]}, "^trajectories: column t: found 5 rows, expected 6 as in the first column$"),
        ({"arm": ["Ada", "Ben", "Ada"]}, {}, r"^arms: row 2 \(arm Ada\), instance 0: found the arm a second time"),
        ({"age": ["31", "24", "3O"]}, {}, r'^arms: row 2 \(arm Cho\), column age: found "3O", expected a number as in most other rows'),
        ({"age": [31, 24, "old"]}, {}, r'^arms: row 2 \(arm Cho\), column age: found "old", expected a number'),
        ({"age": [31, np.inf, 2]}, {}, "^arms: column age: found an infinite number"),
        ({"age": np.array(["2020-01-01"] * 3, dtype="datetime64[D]")}, {}, r"^arms: column age: found type datetime64\[D\], expected numbers or text$"),
        ({"age": [[1], [2], [3]]}, {}, "^arms: column age: found an array of shape"),
        ({"age": [{}, None, {}]}, {}, "^arms: column age: found type dict, expected numbers or text$"),
        ({"arm": [0.5, 1, 2]}, {}, "^arms: column arm: found type Float64, expected text or integers$"),
        ({"split": ["train", "test", "later"]}, {}, r'^arms: row 2 \(arm Cho\), column split: found "later", expected train, validation or test$'),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_place(arms, log, message):
    with pytest.raises(ValueError, match=message):
        made(changed(ARMS, **arms), changed(LOG, **log))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"discount": 2}, "^discount: found 2, expected a number from 0 to 1$"),
        ({"budget": -1}, "^budget: found -1, expected a whole number of arms"),
        ({"budget": 4}, "^arms: instance 0: found 3 arms, expected at least the budget of 4$"),
        ({"behaviour": "guessed"}, '^behaviour: found "guessed", expected one of "logged"'),
        ({"behaviour": "logged"}, '^trajectories: .*propensity.*behaviour = "logged"'),
        ({"rewards": [0, 1, 2]}, "^rewards: found .* expected a list with one number"),
        ({"rewards": {"a": 1}}, "^rewards: found dict, expected a number, text or a list of them$"),
        ({"states": None}, "^states: found neither states nor rewards"),
        ({"text": ["height"]}, '^arms: text in study.toml: found "height", which is no feature here'),
        ({"chain": 3}, "^chain: found 3, expected none"),
    ],
)
def test_settings_are_those_of_study_toml(settings, message):
    with pytest.raises(ValueError, match=message):
        made(**settings)


def test_only_tables_are_tables():
    for table in (None, 5, "arms.csv", [1, 2], np.zeros((2, 2))):
        with pytest.raises(TypeError, match="^arms: expected a pandas or polars DataFrame"):
            made(table)
    with pytest.raises(OSError, match="there is no such folder"):
        Study.read("nowhere")
    with pytest.raises(ValueError, match="^trajectories: column trajectory|trajectories: "):
        made(log={})


def test_names_survive_whatever_they_are():
    names = ['a "b"', "c,d", "ü\nx"]
    study = made({"arm": names, "age": [1, 2, 3]}, changed(LOG, arm=names * 2), name='quo"te\\', notes="line\nline \x7f")
    assert list(study.tables().arms["arm"]) == names
    assert study.settings["name"] == 'quo"te\\' and study.settings["notes"] == "line\nline \x7f"
    numbered = made({"arm": [7, 8, 9], "age": [1, 2, 3]}, changed(LOG, arm=np.array([7.0, 8, 9] * 2)))
    assert list(numbered.tables().arms["arm"]) == ["7", "8", "9"]


def test_a_study_can_be_pickled():
    study = made()
    assert pickle.loads(pickle.dumps(study)) == study


CELLS = st.one_of(
    st.none(), st.integers(-3, 9), st.floats(), st.booleans(), st.sampled_from(["Ada", "Ben", "0", "", "nan", "train", "\ud800"]),
    st.just(object()), st.just(np.float32(2)), st.integers(2**62, 2**70), st.dates(),
)  # fmt: skip
NAMES = ["arm", "instance", "split", "age", "trajectory", "t", "state", "action", "propensity", "reward", "p_0_0_1", ""]
TABLES = st.integers(0, 4).flatmap(
    lambda rows: st.dictionaries(st.sampled_from(NAMES), st.lists(CELLS, min_size=rows, max_size=rows), max_size=8)
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TABLES, TABLES, st.one_of(st.none(), TABLES), st.one_of(st.floats(), st.integers()), st.integers(-1, 2**70))
def test_no_table_brings_the_border_down(arms, log, truth, discount, budget):
    for tables in ((arms, log, truth), (ARMS, log, truth), (ARMS, {**LOG, **{k: (v * 6 + [None] * 6)[:6] for k, v in log.items()}}, truth)):
        try:
            Study(*tables, **{**SETTINGS, "discount": discount, "budget": budget})
        except ValueError:
            pass


def test_importing_restive_imports_no_data_frames():
    heavy = ["pandas", "polars", "pyarrow", "sklearn", "torch", "jax", "gymnasium", "IPython"]
    code = f"import restive, sys; print([name for name in {heavy!r} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_doctests_run():
    import doctest

    for module in (restive.study, restive.estimators, sys.modules["restive._frames"]):
        failed, tried = doctest.testmod(module)
        assert tried > 0 and failed == 0


def test_the_example_is_read_row_by_row_and_stands_in_the_order_of_names():
    with open(EXAMPLE / "arms.csv") as file:
        names = [row["arm"] for row in csv.DictReader(file)]
    assert list(Study.read(EXAMPLE).tables().arms["arm"]) == sorted(names)  # they hold no digits


def test_what_a_frame_cannot_give_is_named():
    pd, pl = (pytest.importorskip(name) for name in ("pandas", "polars"))
    arms = pd.DataFrame(ARMS)
    with pytest.raises(TypeError, match="arms: expected a pandas or polars DataFrame"):
        made(arms["arm"])
    sparse = made(arms.assign(x=pd.arrays.SparseArray([0.0, 0.0, 1.0])))
    assert sparse == made(arms.assign(x=[0.0, 0.0, 1.0]))
    with pytest.raises(ValueError, match="arms: column x"):
        made(pl.DataFrame(ARMS).with_columns(x=pl.lit(1).cast(pl.Int128)))
