"""The doctor: planted faults are found under their names, and the answer is that of the command line."""

import numpy as np
import pytest

import restive

SETTINGS = dict(states=2, discount=0.9, budget=45, horizon=8, behaviour="uniform")


def programme(early=0, people=300, weeks=20, **settings):
    random = np.random.default_rng(5)
    own = random.random(people)
    action = (random.random((weeks, people)) < 0.15).astype(int)
    state = np.zeros((weeks + 1, people), dtype=int)
    for t in range(weeks):
        chance = 0.1 + 0.2 * own + 0.4 * state[t] + 0.25 * action[t]
        state[t + 1] = random.random(people) < chance
    rows = [(t, i) for t in range(weeks + 1) for i in range(people)]
    log = {
        "trajectory": [1] * len(rows),
        "t": [t for t, _ in rows],
        "arm": [str(i) for _, i in rows],
        "state": [int(state[t + early, i]) if t + early <= weeks else None for t, i in rows],
        "action": [int(action[t, i]) if t < weeks else None for t, i in rows],
    }
    arms = {"arm": [str(i) for i in range(people)], "mood": own}
    return restive.Study(arms, log, **{**SETTINGS, **settings})


def test_a_sound_programme_is_left_alone():
    found = restive.doctor(programme())
    assert (found.exit_code, found["alignment"].severity) == (0, "fine"), str(found)
    assert len({finding.name for finding in found.findings}) == len(found.findings) == 21


def test_outcomes_beside_their_call_are_serious():
    found = restive.doctor(programme(early=1))
    assert (found.worst, found.exit_code) == ("serious", 2)
    assert found.findings[0].name == "alignment"
    assert "What to do: check when a state is measured" in str(found)
    assert "<h3>alignment</h3>" in found._repr_html_() and "<style>" not in found._repr_html_()


def test_what_is_silenced_comes_last_and_is_kept(tmp_path):
    # rows that are off look like a choice by the state, too: here nobody says how people were chosen
    study = programme(early=1, behaviour="none", silenced={"alignment": 'known "so"'})
    found = restive.doctor(study)
    assert found.worst != "serious"
    assert (found.findings[-1].name, found.findings[-1].silenced) == ("alignment", 'known "so"')
    assert study.settings["silenced"] == {"alignment": 'known "so"'}
    study.write(tmp_path / "s")
    assert restive.Study.read(tmp_path / "s") == study
    with pytest.raises(ValueError, match="silenced: found"):
        programme(silenced={"alinement": "x"})


def test_a_page_is_written_once(tmp_path):
    found = restive.doctor(programme())
    found.save(tmp_path / "d.html")
    assert (tmp_path / "d.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    with pytest.raises(FileExistsError):
        found.save(tmp_path / "d.html")


def test_only_a_study_is_looked_through():
    with pytest.raises(TypeError, match=r"study: expected a restive\.Study, found builtins\.int"):
        restive.doctor(3)
    with pytest.raises(KeyError):
        restive.doctor(programme())["nothing"]
