"""Estimators: the conventions of scikit-learn, and the weights, scores and plans of the command line."""

import copy
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import restive
from restive import DecisionFocused, Study, TwoStage

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "study"


def synthetic(seed=0, instances=10, arms=12, trajectories=4, steps=6, scale=1.0):
    """Arms whose chance of a good state grows with a feature, and with a pull."""
    random = np.random.default_rng(seed)
    rows, log = [], []
    for k in range(instances):
        x = random.normal(size=arms)
        p = lambda i, s, a: 1 / (1 + np.exp(-(0.8 * x[i] + s - 0.5 + (1.2 if x[i] > 0 else 0.2) * a)))
        rows += [(k, i, x[i] * scale) for i in range(arms)]
        for j in range(trajectories):
            state = random.integers(0, 2, arms)
            for t in range(steps):
                pulled = random.choice(arms, 3, replace=False)
                action = np.isin(np.arange(arms), pulled)
                is_last = t == steps - 1
                log += [(k, j, t, i, state[i], np.nan if is_last else float(action[i])) for i in range(arms)]
                state = np.array([random.random() < p(i, state[i], action[i]) for i in range(arms)], int)
    columns = lambda names, cells: dict(zip(names, map(np.array, zip(*cells))))
    return Study(
        columns(("instance", "arm", "x"), rows),
        columns(("instance", "trajectory", "t", "arm", "state", "action"), log),
        states=2, discount=0.99, budget=3, horizon=5, behaviour="uniform",
    )  # fmt: skip


@pytest.fixture(scope="module")
def study():
    return synthetic()


def program():
    """The built program, on the path or in target/."""
    built = [ROOT / "target" / profile / "restive" for profile in ("debug", "release")]
    found = [str(path) for path in built if path.exists()] + [shutil.which("restive") or ""]
    found = [path for path in found if path]
    return found[0] if found else pytest.skip("the program restive is not there")


def run(*arguments):
    done = subprocess.run([program(), *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_transitions_are_predicted_and_better_than_knowing_nothing(study):
    model = TwoStage(epochs=30, learning_rate=0.03)
    assert model.fit(study) is model
    predicted = model.predict(study)
    assert len(predicted) == len(study.instances) == 10
    for p in predicted:
        assert p.shape == (12, 2, 2, 2) and p.flags.c_contiguous
        np.testing.assert_allclose(p.sum(-1), 1, atol=1e-12)
    assert model.score(study) > -np.log(2) + 0.02
    assert model.n_features_in_ == 1
    assert model.configuration_["epochs"] == 30


def test_the_score_is_the_mean_log_likelihood(study):
    model = TwoStage(epochs=3).fit(study)
    log = study.tables().trajectories
    predicted = dict(zip(study.instances, model.predict(study)))
    order = np.lexsort((log["t"], log["arm"].astype(int), log["trajectory"].astype(int), log["instance"].astype(int)))
    rows = [tuple(log[name][i] for name in ("instance", "trajectory", "arm", "t", "state", "action")) for i in order]
    found = []
    for (k, j, i, t, s, a), (k2, j2, i2, t2, s2, _) in zip(rows, rows[1:]):
        if (k, j, i, t + 1) == (k2, j2, i2, t2):
            found.append(np.log(predicted[k][int(i), int(s), int(a), int(s2)]))
    assert len(found) == 10 * 4 * 5 * 12
    assert model.score(study, part="all") == pytest.approx(np.mean(found), rel=1e-12)
    # the card says the loss of each part, per transition
    for part in ("train", "validation", "test"):
        assert model.score(study, part=part) == pytest.approx(-model.history_["loss"][part]["per_transition"], rel=1e-12)
    with pytest.raises(ValueError, match='^part: found "exam", expected one of train'):
        model.score(study, part="exam")


@pytest.mark.parametrize(
    ("model", "options"),
    [
        (TwoStage(epochs=5, seed=7), "--epochs 5 --seed 7"),
        (TwoStage(profile="published", epochs=5, ensemble=2), "--profile published --epochs 5 --ensemble 2"),
        (TwoStage(predictor="effect", precision="held-out"), "--predictor effect --precision held-out"),
        (
            DecisionFocused(epochs=3, preset="weak", value="fluid", hidden=(8,)),
            "--objective decision-focused --epochs 3 --preset weak --value fluid --hidden 8",
        ),
        (
            TwoStage(predictor="network", epochs=40, hidden=(8,), standardise=True),
            "--predictor network --epochs 40 --hidden 8 --standardise yes",
        ),
        (TwoStage(predictor="hierarchical"), "--predictor hierarchical"),
        (
            DecisionFocused(profile="published", epochs=2, temperature="spread:0.2", dropout=0.1, index_discount=0.9),
            "--objective decision-focused --profile published --epochs 2 --temperature spread:0.2 --dropout 0.1 --index-discount 0.9",
        ),
    ],
)  # fmt: skip
def test_weights_are_those_of_the_command_line(study, tmp_path, model, options):
    program()
    study.write(tmp_path / "study", format="parquet")
    run("train", tmp_path / "study", "--out", tmp_path / "cli", *options.split())
    model.fit(study).save(tmp_path / "py")
    weights = [(tmp_path / name / "weights.safetensors").read_bytes() for name in ("cli", "py")]
    assert weights[0] == weights[1]
    cards = [json.loads((tmp_path / name / "card.json").read_text()) for name in ("cli", "py")]
    assert cards[0].pop("notes").startswith("trained on /") and cards[1].pop("notes") == "trained on tables"
    assert cards[0] == cards[1]
    # what one face writes the other reads, and a loaded model can be trained again to the same end
    loaded = type(model).load(tmp_path / "cli")
    loaded.fit(study).save(tmp_path / "again")
    assert (tmp_path / "again" / "weights.safetensors").read_bytes() == weights[0]


@pytest.mark.parametrize(
    "asked",
    [{}, {"budget": 5}, {"only_beneficial": True}, {"history": True}, {"history": False}, {"index_discount": 0.5},
     {"remaining": 3}, {"policy": "whittle"}],
)
def test_plans_are_those_of_the_command_line(study, tmp_path, asked):
    program()
    model = TwoStage(epochs=4).fit(study)
    study.write(tmp_path / "study")
    model.save(tmp_path / "model")
    word = {True: "", False: "=no"}
    words = [f"--{name.replace('_', '-')}" + word.get(value, f"={value}") for name, value in asked.items()]
    expected = json.loads(run("plan", tmp_path / "model", tmp_path / "study", "--json", *words))
    plan = model.plan(study, **asked)
    rows = [dict(zip(plan, cells)) for cells in zip(*(cells.tolist() for cells in plan.values()))]
    # the table has what plans are written with; the command says more of everybody
    shared = [{name: row[name] for name in found} for found, row in zip(rows, expected["plan"], strict=True)]
    assert rows == shared
    assert (plan.budget, plan.index_discount) == (expected["budget"], expected.get("index_discount"))
    assert (plan.policy, plan.steps) == (expected["policy"], expected["steps"][1])
    assert (plan.bound, plan.no_action) == (expected["bound"]["any_policy"], expected["bound"]["no_action"])
    assert plan.bound >= plan.no_action
    assert (plan.history is not None) == ("history" in expected)
    assert plan.notes == ()


def test_a_plan_is_a_frame(study):
    pd = pytest.importorskip("pandas")
    plan = TwoStage(epochs=2).fit(study).plan(study)
    frame = plan.to_pandas()
    assert isinstance(frame, pd.DataFrame) and len(frame) == 30
    assert list(frame.columns) == ["instance", "arm", "state", "index", "rank", "inclusion", "is_beneficial"]
    assert plan.to_polars().shape == plan.to_arrow().shape == (30, 7)
    with pytest.raises(ValueError, match="^budget: found -1, expected a whole number, not negative$"):
        TwoStage(epochs=1).fit(study).plan(study, budget=-1)
    with pytest.raises(ValueError, match="^index_discount: .*0 to 1"):
        TwoStage(epochs=1).fit(study).plan(study, index_discount=2)
    assert len(TwoStage(epochs=1).fit(study).plan(study, budget=2**40)["arm"]) == 120
    other = synthetic(seed=1)
    assert "the model was trained on another study" in TwoStage(epochs=2).fit(study).plan(other).notes[0]


def test_models_are_loaded_as_what_they_are(study, tmp_path):
    TwoStage(epochs=2).fit(study).save(tmp_path / "model")
    loaded = restive.load(tmp_path / "model")
    assert isinstance(loaded, TwoStage) and loaded.epochs == 2 and loaded.seed == 0
    with pytest.raises(ValueError, match="found a model of TwoStage, expected one of DecisionFocused"):
        DecisionFocused.load(tmp_path / "model")
    with pytest.raises(FileNotFoundError, match="card.json: cannot open"):
        TwoStage.load(tmp_path / "nothing")
    with pytest.raises(ValueError, match="found a folder with files"):
        loaded.save(tmp_path / "model")
    loaded.save(tmp_path / "model", replace=True)
    (tmp_path / "model" / "weights.safetensors").write_bytes(b"nonsense")
    with pytest.raises(ValueError, match="found an unreadable safetensors file"):
        TwoStage.load(tmp_path / "model")


def test_scikit_learn_can_clone_and_search(study):
    base = pytest.importorskip("sklearn.base")
    model = DecisionFocused(hidden=(4,), drop=("x",), seed=3, value="is")
    other = base.clone(model)
    assert other is not model and other.get_params() == model.get_params()
    assert set(model.get_params()) == {
        "profile", "value", "preset", "index_discount", "temperature", "predictor", "epochs", "learning_rate", "hidden",
        "dropout", "precision", "ensemble", "standardise", "drop", "seed", "progress",
    }  # fmt: skip
    fitted = TwoStage(epochs=1).fit(study)
    assert not hasattr(base.clone(fitted), "configuration_")
    validation = pytest.importorskip("sklearn.utils.validation")
    validation.check_is_fitted(fitted)
    with pytest.raises(Exception, match="not fitted"):
        validation.check_is_fitted(base.clone(fitted))


def test_a_fitted_estimator_can_be_pickled_and_copied(study):
    model = TwoStage(epochs=1).fit(study)
    for back in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert back.get_params() == model.get_params() and back.history_ == model.history_
        assert all((a == b).all() for a, b in zip(back.predict(study), model.predict(study)))
    assert pickle.loads(pickle.dumps(TwoStage(epochs=1))).epochs == 1


def test_parameters_are_kept_as_they_are_and_checked_by_fit(study):
    model = TwoStage()
    assert model.set_params(epochs=3, drop=["x"]) is model and model.epochs == 3
    assert repr(model) == "TwoStage(epochs=3, drop=['x'])"
    with pytest.raises(ValueError, match="^epoch: no parameter of TwoStage, expected one of profile"):
        model.set_params(epoch=3)
    with pytest.raises(TypeError):
        TwoStage(value="is")
    with pytest.raises(ValueError, match="has not been fitted"):
        TwoStage().predict(study)
    with pytest.raises(TypeError, match="^study: expected a restive.Study, found builtins.str"):
        TwoStage().fit("study")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"epochs": 0}, "^epochs: found 0, expected a whole number from 1 to 100000$"),
        ({"epochs": "many"}, "^epochs: found 'many', expected a whole number, not negative$"),
        ({"learning_rate": -1}, "^learning_rate: found -1, expected a number above 0$"),
        ({"learning_rate": float("nan")}, "^learning_rate: found NaN, expected a number above 0$"),
        ({"dropout": 1}, "^dropout: found 1, expected a number from 0 to below 1$"),
        ({"hidden": 64}, "^hidden: found 64, expected a list of whole numbers$"),
        ({"hidden": [0]}, "^hidden: found 0, expected whole numbers from 1 to 4096$"),
        ({"ensemble": 0}, "^ensemble: found 0"),
        ({"ensemble": 2}, "^ensemble: each predictor of auto is the mean of its fold fits already; it needs another predictor$"),
        ({"seed": -1}, "^seed: found -1"),
        ({"profile": "fast"}, '^profile: found "fast", expected one of recommended, published, paper$'),
        ({"predictor": "linear", "hidden": [3]}, "^hidden: only a network has hidden layers; it needs predictor network or auto$"),
        ({"standardise": True}, "^standardise: auto tries features as they are and standardised; it needs another predictor$"),
        ({"predictor": "auto", "profile": "paper"}, "^predictor auto: the profiles published and paper train one predictor; it needs profile recommended$"),
        ({"precision": 5}, "^precision: it belongs to the effect model; it needs predictor effect$"),
        ({"drop": "x"}, "^drop: found 'x', expected a list of names$"),
        ({"drop": ["y"]}, "y"),
        ({"index_discount": 1.5}, "^index_discount: found 1.5, expected a number from 0 to 1$"),
        ({"standardise": "yes"}, "^standardise: found 'yes', expected True, False or None$"),
        ({"progress": "yes"}, "^progress: found 'yes', expected None, True or a function"),
    ],
)
def test_what_is_asked_wrongly_is_said(study, asked, message):
    with pytest.raises(ValueError, match=message):
        TwoStage(**asked).fit(study)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"value": "gold"}, '^value: found "gold", expected one of is, fluid, decomposed$'),
        ({"preset": "brave"}, '^preset: found "brave", expected one of select, weak, strong$'),
        ({"temperature": "hot"}, "^temperature: found 'hot', expected spread:X, published:X or absolute:X"),
        ({"temperature": "spread:0"}, "^temperature: found 0, expected more: the strict policy has no gradient"),
        ({"preset": "weak", "profile": "paper"}, "^preset: the profiles published and paper have none$"),
    ],
)
def test_what_is_asked_wrongly_of_the_decision_is_said(study, asked, message):
    with pytest.raises(ValueError, match=message):
        DecisionFocused(**asked).fit(study)


def test_another_study_must_fit(study):
    model = TwoStage(epochs=1).fit(study)
    example = Study.read(EXAMPLE)
    with pytest.raises(ValueError, match="^the study does not fit the model: "):
        model.predict(example)
    constant = {**example.tables().arms, "age": np.ones(200), "district": np.ones(200)}
    with pytest.raises(ValueError, match="drop age$"):
        TwoStage().fit(Study(constant, example.tables().trajectories, **{**example.settings, "text": None}))


def test_what_is_doubtful_is_warned_of():
    with pytest.warns(UserWarning, match="above 0.693, that of knowing nothing; try standardise yes"):
        TwoStage(profile="published", epochs=2, learning_rate=1.0).fit(synthetic(instances=4, scale=1e4))
    with pytest.raises(ValueError, match="worse than the bare frequencies of moves.*Features differ in size.*standardise yes"):
        TwoStage(predictor="network", standardise=False, epochs=1, learning_rate=1.0).fit(synthetic(instances=4, scale=1e4))


def test_progress_is_told_after_every_epoch(study, capfd):
    told = []
    TwoStage(epochs=4, profile="published", progress=lambda share, text: told.append((share, text))).fit(study)
    shares = [share for share, _ in told]
    assert shares == sorted(shares) and shares[-1] == 1 and len(shares) >= 5
    assert all("loss" in text for _, text in told[:-1])
    TwoStage(epochs=4, progress=True).fit(study)
    shown = capfd.readouterr()
    assert shown.out == "" and "\r" in shown.err and "100 %" in shown.err and shown.err.endswith("\r")

    def stumble(share, text):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        TwoStage(progress=stumble).fit(study)


def test_progress_in_a_notebook(study, monkeypatch):
    """With a kernel there is one display, updated in place."""
    pytest.importorskip("IPython")
    import IPython
    import IPython.display

    updates = []

    class Handle:
        def update(self, data, raw):
            updates.append(data["text/plain"])

    monkeypatch.setattr(IPython, "get_ipython", lambda: type("Shell", (), {"kernel": object()})())
    monkeypatch.setattr(IPython.display, "display", lambda *a, **k: Handle())
    TwoStage(epochs=3, progress=True).fit(study)
    assert updates and "100 %" in updates[-1]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("model", [TwoStage(epochs=100_000), DecisionFocused(epochs=100_000)])
def test_a_keyboard_interrupt_ends_training(study, model):
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        model.set_params(learning_rate=1e-9).fit(study)
    assert time.monotonic() - start < 10
    assert not hasattr(model, "configuration_")


def test_other_threads_run_while_one_trains(study):
    """The lock is free: another thread counts while this one trains."""
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    start = time.monotonic()
    TwoStage(profile="published", epochs=200, hidden=(512,)).fit(study)
    took = time.monotonic() - start
    done.set()
    thread.join()
    assert counted[0] > min(50, 100 * took)


def test_the_page_of_the_documentation_runs(capsys):
    page = (ROOT / "docs" / "python-estimators.md").read_text()
    code = page.split("```python\n")[1].split("```")[0]
    found = {}
    exec(code, found)
    assert found["transition"].shape == (6, 2, 2, 2) and len(found["plan"]["arm"]) == 2
    assert capsys.readouterr().out


def test_an_array_as_a_parameter_can_be_shown():
    assert "hidden=array([4, 4])" in repr(restive.TwoStage(hidden=np.array([4, 4])))


def test_old_names_work_and_warn(study):
    with pytest.warns(DeprecationWarning, match="random_state is called seed now"):
        model = TwoStage(random_state=4)
    assert model.seed == model.random_state == 4 and "random_state" not in model.get_params()
    with pytest.warns(DeprecationWarning, match="random_state is called seed now"):
        model.set_params(random_state=5)
    assert model.seed == 5
    with pytest.warns(DeprecationWarning, match="k is called budget now"):
        soft = restive.soft_top_k(np.arange(4.0), k=2, temperature=0.1)
    assert np.array_equal(soft.pull, restive.soft_top_k(np.arange(4.0), 2, 0.1).pull)
    with pytest.raises(TypeError, match="budget: found k beside it"):
        restive.strict_top_k(np.arange(4.0), k=2, budget=2)


@pytest.mark.parametrize("estimator", [restive.TwoStage, restive.DecisionFocused])
def test_moves_of_coins_are_not_learnt_as_a_pool_of_nobody(estimator):
    random, people = np.random.default_rng(0), [f"p{i}" for i in range(24)]
    arms = {"arm": people, "age": random.integers(20, 60, 24).astype(float)}
    moves = {"trajectory": [0] * 72, "t": np.repeat([0, 1, 2], 24), "arm": people * 3, "state": random.integers(0, 2, 72)}
    actions = [*(random.random(48) < 0.25).astype(int).tolist(), *[None] * 24]
    study = restive.Study(arms, {**moves, "action": actions}, states=2, discount=0.9, budget=3, horizon=6, behaviour="uniform")
    P = estimator(seed=4).fit(study).predict(study)[0]  # folds reward a pool in which no base has a weight: there is no such model
    assert P.shape == (24, 2, 2, 2) and P.sum(-1) == pytest.approx(1.0) and not (P == 0.5).all()
