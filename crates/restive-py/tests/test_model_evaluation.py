"""Evaluation of models, and studies of generated instances: the numbers and the files of the command line."""

import json
import warnings

import numpy as np
import pytest

import restive
from restive import TwoStage
from test_estimators import run, synthetic


@pytest.fixture(scope="module")
def study():
    return synthetic()


@pytest.mark.parametrize(
    ("asked", "options"),
    [
        ({"estimators": "published", "runs": 40, "resamples": 10}, ["--estimators", "published", "--runs", "40", "--resamples", "10"]),
        (
            {"estimators": "published", "part": "all", "runs": 30, "resamples": 5, "seed": 3, "ratio": "previous-step", "temperature": "published:0.2"},
            ["--estimators", "published", "--part", "all", "--runs", "30", "--resamples", "5", "--seed", "3", "--ratio", "previous-step", "--temperature", "published:0.2"],
        ),
        ({"estimators": "published", "runs": 30, "resamples": 5, "behaviour": "none", "index_discount": 0.8}, "--estimators published --runs 30 --resamples 5 --behaviour none --index-discount 0.8".split()),
    ],
)
def test_an_evaluation_is_that_of_the_command_line(tmp_path, asked, options):
    study = restive.generate("two-state", seed=5, instances=4, arms=12, budget=3, trajectories=3).to_study()
    model = TwoStage(epochs=3).fit(study)
    study.write(tmp_path / "study")
    model.save(tmp_path / "model")
    answer = json.loads(run("evaluate", tmp_path / "model", tmp_path / "study", "--json", *options))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        evaluation = model.evaluate(study, **asked)
    assert evaluation.policies == answer["policies"]
    assert evaluation.loss == answer["loss"]
    assert evaluation.about == answer["about"]
    assert [str(warning.message) for warning in said] == answer["about"]["warnings"]
    frame = evaluation.to_pandas()
    row = frame[(frame["policy"] == "model-strict") & (frame["estimator"] == "true") & (frame["quantity"] == "gain_over_random")]
    assert row["value"].item() == answer["policies"]["model-strict"]["true"]["gain_over_random"]["value"]


def test_evidence_is_that_of_the_command_line_and_looks_are_counted(tmp_path):
    people = restive.generate("maternal", seed=3, groups=6, people=150, budget=12, effect_spread=2.0)
    people.to_study().write(tmp_path / "study")
    study = restive.Study.read(tmp_path / "study")
    model = TwoStage(predictor="effect", profile="published").fit(study)
    model.save(tmp_path / "model")
    few = {"runs": 10, "resamples": 5, "deals": 99}
    found = model.evaluate(study, **few)
    answer = json.loads(run("evaluate", tmp_path / "model", tmp_path / "study", "--json", *(f"--{k}={v}" for k, v in few.items())))
    assert found.evidence == answer["evidence"]
    assert found.policies == answer["policies"]
    assert found.evidence["looks"] == 1 and 0 < found.evidence["p"] <= 1
    assert (tmp_path / "study" / "looks.csv").read_text().count("effect, two-stage") == 1
    # tables in memory have no folder to count in
    assert model.evaluate(people.to_study(), **few).evidence["looks"] is None


def test_evidence_for_anybodys_ranking():
    people = restive.generate("maternal", seed=3, groups=6, people=150, budget=12, effect_spread=2.0)
    study = people.to_study()
    knows = [p.P[:, :, 1, 1] - p.P[:, :, 0, 1] for p in people]
    found = restive.evidence(knows, study, deals=199)
    assert found["p"] < 0.05 and found["gain"]["value"] > 0
    assert "the scores were not learnt from these people" in found["assumptions"]
    # any rising function is the same ranking, to the digit
    assert restive.evidence([np.tanh(k) * 7 - 3 for k in knows], study, deals=199) == found
    rng = np.random.default_rng(0)
    shuffled = restive.evidence([rng.permutation(k) for k in knows], study, deals=199)
    assert shuffled["statistic"] < found["statistic"]
    assert "refused" in restive.evidence(knows, study, behaviour="uniform")
    for scores, message in [
        (knows[:2], "scores: found 2 tables, expected 6, one for each instance"),
        ([k[:10] for k in knows], "found the shape"),
        ([k * np.nan for k in knows], "expected finite"),
        ([k[None] for k in knows], "dimensions"),
    ]:
        with pytest.raises(ValueError, match=message):
            restive.evidence(scores, study)


def test_an_evaluation_that_cannot_be_is_refused(study):
    model = TwoStage(epochs=1).fit(study)
    for asked, message in [
        ({"part": "tests"}, '^part: found "tests", expected one of folds, test, validation, train, all$'),
        ({"runs": 1}, "^runs: found 1, expected at least 2$"),
        ({"index_discount": 2}, "^index_discount: found 2, expected a number from 0 to 1$"),
        ({"temperature": "warm"}, "^temperature: found 'warm', expected spread:X"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.evaluate(study, **asked)


@pytest.mark.parametrize("domain", ["two-state", "five-state", "collapsing", "maternal"])
def test_a_generated_study_is_that_of_the_command_line(tmp_path, domain):
    sizes = {"groups": 4, "people": 30, "budget": 3} if domain == "maternal" else {"instances": 3, "arms": 10, "budget": 2, "trajectories": 2}
    instances = restive.generate(domain, seed=9, **sizes)
    options = [f"--{name}={size}" for name, size in sizes.items()]
    said = json.loads(run("generate", domain, "--seed", "9", "--json", "--out", tmp_path / "study", *options))
    study = instances.to_study()
    assert study.fingerprint == said["fingerprint"] == restive.Study.read(tmp_path / "study").fingerprint
    assert len(instances) == len(study.instances)
