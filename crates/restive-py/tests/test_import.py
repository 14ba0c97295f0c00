"""Studies of a programme's own exports, from files and from frames."""

import datetime
import os
import subprocess

import numpy as np
import pandas as pd
import pytest

import restive

PROGRAM = os.environ.get("RESTIVE_PROGRAM", "restive")

MAPPING = {
    "country": "IN",
    "period": {"every": "week", "from": datetime.date(2026, 3, 2), "until": datetime.date(2026, 3, 23)},
    "people": {
        "file": "registry",
        "id": "id",
        "keep": ["name", "phone"],
        "joined": "joined",
        "features": {"district": "text", "age": "number"},
    },
    "events": [
        {"file": "messages", "person": {"column": "To", "is": "phone", "as": "phone"}, "time": "when", "value": "seconds"},
    ],
    "state": {"at_least": [30], "silence": "lowest"},
    "actions": {"file": "calls", "person": {"column": "who", "as": "folded"}, "time": "when"},
}


def frames():
    return {
        "registry": pd.DataFrame(
            {
                "id": ["B1", "B2", "B3"],
                "name": ["Ada Lovelace", "Ben Bitdiddle", "Cy Dee"],
                "phone": ["+91 98765 43210", "098765 43211", "98765 43212"],
                "joined": pd.to_datetime(["2026-01-01", "2026-01-01", "2026-03-04"]),
                "district": ["north", None, "south"],
                "age": [31.0, np.nan, 24.0],
            }
        ),
        "messages": pd.DataFrame(
            {
                "To": ["9876543210", "9876543211", "9876543212", "9876543210", "9876500000"],
                "when": pd.to_datetime(
                    ["2026-03-03 10:00", "2026-03-08 23:59", "2026-03-10 08:00", "2026-03-16 00:00", "2026-03-16 00:00"]
                ),
                "seconds": [45, 3, 90, 30, 5],
            }
        ),
        "calls": pd.DataFrame({"who": [" b2 ", "B3"], "when": [datetime.date(2026, 3, 10), datetime.date(2026, 3, 1)]}),
    }


def test_frames_become_the_study_that_their_time_stamps_say():
    made = restive.import_study(MAPPING, frames())
    table = made.study.to_pandas().trajectories.pivot(index="t", columns="arm", values="state")
    assert table["B1"].tolist() == [1, 0, 1]
    assert table["B2"].tolist() == [0, 0, 0]
    # joined on Wednesday of the first week: there from the second
    assert table["B3"].isna().tolist() == [True, False, False] and table["B3"].tolist()[1:] == [1, 0]
    actions = made.study.to_pandas().trajectories.pivot(index="t", columns="arm", values="action")
    assert actions["B2"].tolist()[:2] == [1, 0]
    for account in made.summary["accounts"]:
        assert account["rows"] == sum(account[place] for place in ("used", "repeated", "merged", "aside", "outside", "quarantined"))
    assert made.quarantine["reason"].tolist() == ["unknown person in To", "a call before the person joined"]
    assert made.people["name"].tolist() == ["Ada Lovelace", "Ben Bitdiddle", "Cy Dee"]
    assert "Imported(3 people, 3 weeks, 1 calls)" in str(made) and "<table>" in made._repr_html_()


def test_other_frames_give_the_same_study():
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    known = restive.import_study(MAPPING, frames()).study.fingerprint
    for convert in (polars.from_pandas, pyarrow.Table.from_pandas):
        others = {name: convert(frame) for name, frame in frames().items()}
        assert restive.import_study(MAPPING, others).study.fingerprint == known


def test_names_and_numbers_stay_out_of_the_study(tmp_path):
    out, key = tmp_path / "programme", tmp_path / "key"
    made = restive.import_study(MAPPING, frames(), out=out, pseudonymise=key)
    assert made.study.fingerprint == restive.Study.read(out).fingerprint
    written = b"".join(file.read_bytes() for file in out.rglob("*") if file.is_file() and file.name != "people.parquet")
    for planted in (b"Lovelace", b"98765", b"43210", b"B1,", b'"B1"'):
        assert planted not in written
    # the same again grows it, without the key it does not
    again = restive.import_study(MAPPING, frames(), out=out, pseudonymise=key)
    assert again.study.fingerprint == made.study.fingerprint
    with pytest.raises(ValueError, match="no key"):
        restive.import_study(MAPPING, frames(), out=out)


def test_faults_are_value_errors():
    with pytest.raises(ValueError, match='found no column "phone number" in registry'):
        restive.import_study({**MAPPING, "people": {**MAPPING["people"], "keep": ["phone number"]}}, frames())
    with pytest.raises(ValueError, match="line 1, column 1"):
        restive.import_study({"zoo": 1}, frames())
    with pytest.raises(TypeError, match="mapping: country: found object"):
        restive.import_study({**MAPPING, "country": object()}, frames())


def test_the_synthetic_programme_is_told_as_it_happened(tmp_path):
    """States and calls of all weeks against the truth behind the exports."""
    exports = tmp_path / "exports"
    subprocess.run([PROGRAM, "generate", "programme", "--out", exports], check=True, stdout=subprocess.DEVNULL)
    mapping = exports / "mapping.toml"
    assert len(mapping.read_text().splitlines()) <= 27
    made = restive.import_study(mapping)
    truth = pd.read_csv(exports / "truth/people.csv", dtype=str, keep_default_na=False).set_index("id")
    logged = made.study.to_pandas().trajectories
    states = logged.pivot(index="arm", columns="t", values="state")
    actions = logged.pivot(index="arm", columns="t", values="action")
    assert set(states.index) == set(truth.index)
    for arm, row in truth.iterrows():
        told = ["." if pd.isna(state) else "nL"[int(state)] for state in states.loc[arm]]
        assert "".join(told) == row["listened"], arm
        for week in range(1, 26):
            if not (pd.isna(states.loc[arm, week - 1]) or pd.isna(states.loc[arm, week])):
                assert actions.loc[arm, week - 1] == (row["called"][week] == "C"), (arm, week)
    assert made.summary["calls"] == 1500
