"""A programme's week from Python: import, plan, outcomes, import again."""

import csv
import datetime
import json
import random

import pytest
import restive

PEOPLE = 60
MAPPING = {
    "period": {"every": "week"},
    "study": {"budget": 6, "unit": "engaged weeks"},
    "people": {
        "file": "registry",
        "id": "id",
        "keep": ["name", "worker"],
        "features": {"district": "text", "age": "number"},
    },
    "events": [{"file": "messages", "person": "who", "time": "when", "value": "seconds"}],
    "state": {"at_least": 30, "silence": "lowest", "names": ["not engaged", "engaged"]},
    "actions": {"file": "calls", "person": "who", "time": "when"},
}


def day(week, weekday):
    return (datetime.date(2026, 1, 5) + datetime.timedelta(days=7 * week + weekday)).isoformat()


def frames(weeks, seed=1):
    luck = random.Random(seed)
    registry = {
        "id": [f"B{i}" for i in range(PEOPLE)],
        "name": [f"=Invented {i}" for i in range(PEOPLE)],
        "worker": [f"W{i % 3}" for i in range(PEOPLE)],
        "district": [["north", "south"][i % 2] for i in range(PEOPLE)],
        "age": [20 + i % 17 for i in range(PEOPLE)],
    }
    messages = {"who": [], "when": [], "seconds": []}
    calls = {"who": [], "when": []}
    for week in range(weeks):
        for i in range(PEOPLE):
            called = week > 0 and (i + 7 * week) % PEOPLE < 6
            if called and week < 10:
                calls["who"].append(f"B{i}")
                calls["when"].append(day(week, 1))
            messages["who"].append(f"B{i}")
            messages["when"].append(day(week, 3))
            messages["seconds"].append(60 if luck.random() < (0.8 if called and i % 2 == 0 else 0.4) else 5)
    return {"registry": registry, "messages": messages, "calls": calls}


@pytest.fixture
def programme(tmp_path):
    folder = tmp_path / "programme"
    made = restive.import_study(MAPPING, frames(10), out=folder)
    programme = restive.Programme(folder)
    assert [path.name for path in programme.init()] == ["rules.toml", "words.toml", "ledger.db"]
    (folder / "rules.toml").write_text('explore = 0.34\n[[limit]]\nby = "worker"\nat_most = 2\n')
    model = restive.TwoStage(predictor="effect").fit(made.study)
    saved = programme.new_model()
    model.save(saved)
    # 54 calls identify no effects; the tests are about what is stated if they are identified
    card = saved / "card.json"
    card.write_text(json.dumps({**json.loads(card.read_text()), "identification": "identified"}))
    return programme


def test_a_week_is_planned_filled_in_and_imported(programme, tmp_path):
    week = programme.plan(out=[tmp_path / "list.csv", tmp_path / "list.xlsx"])
    assert week.plan == day(10, 0) and len(week.table["id"]) == 6
    assert all(list(week.table["worker"]).count(f"W{k}") == 2 for k in range(3))
    assert set(week.table["plan"]) == {week.plan} and all(week.table["reason"])
    assert ((week.table["probability"] > 0) & (week.table["probability"] <= 1)).all()
    assert "Invented" not in week._repr_html_() and "<table>" in week._repr_html_() and week.plan in str(week)
    with pytest.raises(ValueError, match="found the plan"):
        programme.plan()
    assert programme.plan(rehearse=True, seed=5).plan == "rehearsal"

    rows = list(csv.DictReader((tmp_path / "list.csv").open(encoding="utf-8")))
    codes = ["reached", "no answer", "not called", "Reached", "", "gone"]
    for row, code in zip(rows, codes, strict=True):
        row["outcome"] = code
    with (tmp_path / "filled.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    told = programme.outcomes(tmp_path / "filled.csv")
    assert (told["new"], told["not_filled_in"], len(told["problems"])) == (4, 1, 1)
    assert "filled.csv, line 7" in told["problems"][0] and "expected reached" in told["problems"][0]
    assert programme.outcomes(tmp_path / "filled.csv")["same"] == 4
    assert programme.status()["outcomes_missing"] == 2

    grown = restive.import_study(MAPPING, frames(11), out=programme.path)
    assert grown.summary["planned"]["weeks"] == 1
    trajectories = grown.study.tables().trajectories
    in_week = trajectories["t"] == 9
    acted = {arm: action for arm, action in zip(trajectories["arm"][in_week], trajectories["action"][in_week], strict=True)}
    for row, code in zip(rows, codes, strict=True):
        if code and code != "gone":
            assert acted[row["id"]] == (0 if code == "not called" else 1), row["id"]


def test_a_list_is_changed_by_hand_and_written_again(programme, tmp_path):
    week = programme.plan()
    first = week.table["id"][0]
    assert programme.remove(first, who="Asha", why="called already") == week.plan
    assert first not in programme.list()["id"]
    programme.add(first, who="Asha", why="asked for a call", plan=week.plan)
    assert first in programme.list(out=tmp_path / "again.json")["id"]
    with pytest.raises(ValueError, match="expected"):
        programme.add("nobody", who="Asha", why="?")


def test_what_is_no_programme_is_refused(tmp_path):
    with pytest.raises(ValueError, match="found nothing, expected the folder of a programme"):
        restive.Programme(tmp_path / "nowhere")
    assert "Programme" in repr(restive.Programme)


def test_what_was_decided_can_be_looked_at_later(programme, tmp_path):
    assert programme.plan(rehearse=True).said["plan"]["certificate"]["people"] == PEOPLE
    week = programme.plan()
    (listed,) = programme.audit.plans()
    assert (listed["plan"], listed["listed"], listed["is_kept"]) == (week.plan, 6, True)
    shown = programme.audit.show()
    assert shown["certificate"]["bound"] >= shown["certificate"]["no_action"]
    assert {"people.json", "calendar.json"} <= {part["name"] for part in shown["inputs"]}
    verified = programme.audit.verify()
    assert verified and verified.said["plans"] == [{"plan": week.plan, "other_version": None, "found": "same"}]
    assert programme.audit.verify(head=verified.said["head"], quick=True)
    with pytest.raises(ValueError, match="found no earlier plan"):
        programme.audit.diff()
    again = programme.plan(again=True, seed=9)
    diff = programme.audit.diff()
    assert (diff["before"], diff["after"]) == (week.plan, again.plan)
    assert diff["stayed"] + len(diff["came"]) == 6 and all(moved["reason"] for moved in diff["came"])
    content = next((programme.path / "records").glob("*/*"))
    content.write_bytes(b"something else")
    changed = programme.audit.verify()
    assert not changed and "lost" in str(changed)


def test_whom_lists_served_and_a_page_for_the_director(programme, tmp_path):
    week = programme.plan()
    said = programme.fairness("district", out=tmp_path / "fairness.html")
    assert said["plans"] == [week.plan] and said["verdict"].endswith(".")
    (table,) = said["tables"]
    assert {group["name"] for group in table["groups"]} == {"north", "south"}
    assert (tmp_path / "fairness.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    with pytest.raises(ValueError, match="expected"):
        programme.fairness("no such column")
    facts = programme.report(tmp_path / "report.html", quick=True)
    assert "not shown" in facts["verdict"] and facts["list"]["listed"] == 6
    assert "Invented" not in (tmp_path / "report.html").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="html"):
        programme.report(tmp_path / "report.txt", quick=True)
