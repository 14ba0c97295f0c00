"""Evaluation of models, and studies of generated instances: the numbers and the files of the command line."""

import json
import warnings

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
        ({"runs": 40, "resamples": 10}, ["--runs", "40", "--resamples", "10"]),
        (
            {"part": "all", "runs": 30, "resamples": 5, "seed": 3, "ratio": "previous-step", "temperature": "published:0.2"},
            ["--part", "all", "--runs", "30", "--resamples", "5", "--seed", "3", "--ratio", "previous-step", "--temperature", "published:0.2"],
        ),
        ({"runs": 30, "resamples": 5, "behaviour": "none", "index_discount": 0.8}, "--runs 30 --resamples 5 --behaviour none --index-discount 0.8".split()),
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


def test_an_evaluation_that_cannot_be_is_refused(study):
    model = TwoStage(epochs=1).fit(study)
    for asked, message in [
        ({"part": "tests"}, '^part: found "tests", expected one of test, validation, train, all$'),
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
