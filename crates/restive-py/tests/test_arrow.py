"""Scores and plans of Arrow batches, against the plan of the program and of the study in memory."""

import json
import os
import pickle
import random
import subprocess

import numpy as np
import people
import pyarrow as pa
import pytest

import restive.arrow

PROGRAM = os.environ.get("RESTIVE_PROGRAM")


@pytest.fixture(scope="module")
def programme(tmp_path_factory):
    folder = tmp_path_factory.mktemp("programme")
    return folder, *people.make(folder)


def run(partitions, seed=0):
    """An engine of one process: answers travel as bytes, come in any order, and every work is sent by pickle."""
    luck = random.Random(seed)

    def of(work):
        answers = [pickle.loads(pickle.dumps(work))(iter(batches)) for batches in partitions]
        luck.shuffle(answers)
        return answers

    return of


def test_the_plan_of_partitions_is_that_of_the_study(programme):
    folder, model, study = programme
    parts = people.batches(folder)
    found = restive.arrow.plan(run(parts), model, folder / "study", step=people.STEP)
    assert json.loads(found.json) == json.loads(model.plan(study).json)
    assert list(found["arm"]) == list(model.plan(study)["arm"])
    # another deal of the same people
    again = restive.arrow.plan(run(people.batches(folder, 37)[::-1], 5), folder / "model", folder / "study", step=people.STEP)
    assert again.json == found.json


@pytest.mark.skipif(PROGRAM is None, reason="RESTIVE_PROGRAM names no program")
def test_under_rules_it_is_that_of_the_program(programme):
    folder, model, _ = programme
    rules = folder / "rules.toml"
    found = restive.arrow.plan(run(people.batches(folder)), model, folder / "study", rules, step=people.STEP)
    command = [PROGRAM, "plan", folder / "model", folder / "study", "--rules", rules, "--json"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert json.loads(found.json) == json.loads(said)
    assert "p00011" in list(found["arm"]) and "p00012" not in list(found["arm"])


def test_scores_are_pure(programme):
    folder, model, study = programme
    score = restive.arrow.score(model, folder / "study", step=people.STEP)
    whole = pa.Table.from_batches([batch for part in people.batches(folder) for batch in part]).combine_chunks().to_batches()[0]
    found = score(whole)
    assert found.schema == score.schema and found.num_rows == whole.num_rows
    assert found["value"].null_count == found.num_rows
    sent = pickle.loads(pickle.dumps(score))
    pieces = [sent(whole.slice(first, 123)) for first in range(0, whole.num_rows, 123)]
    assert pa.Table.from_batches(pieces).combine_chunks().to_batches()[0] == found
    # the same people as engines may have their words: large, viewed, coded
    for kind in (pa.large_string(), pa.string_view(), pa.dictionary(pa.int16(), pa.string())):
        words = [column.cast(kind) if pa.types.is_string(column.type) else column for column in whole.columns]
        assert score(pa.RecordBatch.from_arrays(words, names=whole.schema.names)) == found
    priced = score.with_prices([whole])(whole)
    assert priced.select(["index"]) == found.select(["index"]) and priced["value"].null_count < 100
    never = [k for k, state in enumerate(whole["state"].to_pylist()) if state is None]
    assert never and all(found["index"][k].as_py() is None for k in never)


def test_what_is_wrong_is_named(programme):
    folder, model, _ = programme
    score = restive.arrow.score(model, folder / "study")
    batch = people.batches(folder)[-1][0]

    def other(name, column):
        columns = [column if field.name == name else old for field, old in zip(batch.schema, batch.columns, strict=True)]
        return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)

    states = batch["state"].to_pylist()
    states[7] = 5
    arm = batch["arm"][7].as_py()
    with pytest.raises(ValueError, match=rf"row 7 \(arm {arm}\), column state.*found 5, expected a whole number from 0 to 1"):
        score(other("state", pa.array(states)))
    ages = batch["age"].to_pylist()
    ages[3] = None
    # a missing number is the training mean: no other row changes
    whole, gap = score(batch).to_pylist(), score(other("age", pa.array(ages))).to_pylist()
    assert [k for k in range(len(whole)) if whole[k] != gap[k]] == [3]
    with pytest.raises(ValueError, match="age"):
        score(batch.drop_columns(["age"]))
    with pytest.raises(TypeError, match="expected a pyarrow RecordBatch"):
        score([1, 2])

    def poisoned(work):
        return [work([batch, other("state", pa.array(states))])]

    with pytest.raises(ValueError, match="batch 1: people: row 7"):
        restive.arrow.plan(poisoned, model, folder / "study", step=people.STEP)


def test_answers_of_another_job_are_refused(programme):
    folder, model, _ = programme
    job = restive.arrow.Job(model, folder / "study", step=people.STEP)
    with pytest.raises(ValueError, match="bytes"):
        job.priced([b"no answer"])
    with pytest.raises(ValueError, match="prices"):
        job.gather([])
    with pytest.raises(ValueError, match="found nobody"):
        job.priced([job.sample([])])
    with pytest.raises(ValueError, match="step|ends"):
        restive.arrow.Job(model, folder / "study", step=99).priced([job.sample(people.batches(folder)[0])])


def test_a_model_of_partitions_is_that_of_the_study(programme):
    folder, _, study = programme
    parts = people.batches(folder)
    # the same people are learnt from: the study says who
    split = ["train", "validation", "test"]
    tables = study.to_arrow()
    names = tables.arms["arm"].to_pylist()
    dealt = {arm: split[min(k % 10 // 7 + k % 10 // 8, 2)] for k, arm in enumerate(names)}
    arms = tables.arms.append_column("split", pa.array([dealt[arm] for arm in names]))
    whole = restive.Study(arms, tables.trajectories, states=2, discount=0.95, budget=100, horizon=8, behaviour="uniform")
    truth = restive.TwoStage(predictor="hierarchical").fit(whole)

    def with_split(batch):
        column = pa.array([dealt[arm] for arm in batch["arm"].to_pylist()])
        return pa.RecordBatch.from_arrays([*batch.columns, column], names=[*batch.schema.names, "split"])

    said = []
    found = restive.arrow.train(
        run([[with_split(batch) for batch in part] for part in parts]),
        folder / "study",
        predictor="hierarchical",
        progress=lambda share, message: said.append(share),
    )
    assert said == sorted(said) and said[-1] == 1.0
    near = np.abs(found.predict(whole)[0] - truth.predict(whole)[0]).max()
    assert near < 1e-9
    plan = found.plan(whole, history=False)
    assert list(plan["arm"]) == list(truth.plan(whole, history=False)["arm"])
    with pytest.raises(ValueError, match="predictor"):
        restive.arrow.train(run(parts), folder / "study", predictor="network")
    with pytest.raises(ValueError, match="moves_S_A_NEXT"):
        few = [[batch.select(["arm", "age", "district", "worker", "state"]) for batch in part] for part in parts]
        restive.arrow.train(run(few), folder / "study")


def test_what_a_rule_needs_and_who_is_twice_is_not_passed_over(programme):
    folder, model, _ = programme
    parts, rules = people.batches(folder), folder / "rules.toml"
    blind = [[batch.drop_columns(["last_call"]) for batch in part] for part in parts]
    with pytest.raises(ValueError, match="cool_down: found no column last_call"):
        restive.arrow.plan(run(blind), model, folder / "study", rules, step=people.STEP)
    with pytest.raises(ValueError, match="twice, expected one row a person"):
        restive.arrow.plan(run(parts + parts), model, folder / "study", step=people.STEP)

    def forgetful(work):
        return run(parts[:-1] if work.what == "gather" else parts)(work)

    with pytest.raises(ValueError, match="in the second pass and 4000 in the first"):
        restive.arrow.plan(forgetful, model, folder / "study", step=people.STEP)
