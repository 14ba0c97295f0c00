"""scikit-learn: folds of people, searches, its error, seeds, and what of its own checks holds."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import restive
from restive import DecisionFocused, NotFittedError, TwoStage, Units

sklearn = pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import NotFittedError as Theirs  # noqa: E402
from sklearn.model_selection import (  # noqa: E402
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneOut,
    RandomizedSearchCV,
    ShuffleSplit,
    cross_val_score,
    cross_validate,
)
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402


FEW = tuple(f"f_{c:02}" for c in range(12))


def made(instances=8, arms=10, trajectories=5, **other):
    return restive.generate("two-state", 7, instances=instances, arms=arms, budget=2, trajectories=trajectories, **other).to_study()


@pytest.fixture(scope="module")
def study():
    return made()


def test_rows_are_arms_or_instances(study):
    arms, instances = study.units(), study.units("instances")
    assert isinstance(arms, Units) and len(arms) == 80 and arms.shape == (80,) and len(instances) == 8
    assert arms.names[:3].tolist() == ["0", "1", "2"] and arms.groups[[9, 10]].tolist() == ["0", "1"]
    assert instances.names.tolist() == instances.groups.tolist() == list(study.instances)
    some = instances[[5, 2]]
    assert some.study.instances == ("2", "5") and some.study.settings["budget"] == 2
    assert "split" in study.tables().arms and "split" not in some.study.tables().arms
    half = arms[np.arange(80) % 2 == 0]
    assert half.study.settings["budget"] == 1 and half[3:5].names.tolist() == ["6", "8"]
    assert len(arms[3]) == 1 and repr(half).startswith("<restive.Units: 40 arms of Study(")
    with pytest.raises(ValueError, match="rows: found one more than once"):
        arms[[1, 1]]
    with pytest.raises(ValueError, match="over: found 'people', expected 'arms' or 'instances'"):
        study.units("people")


def test_scores_are_those_of_the_folds_by_hand(study):
    model, rows = TwoStage(predictor="effect"), study.units("instances")
    found = cross_val_score(model, rows, cv=KFold(4))
    arrays = study.to_arrays()
    for k, (train, test) in enumerate(KFold(4).split(np.zeros(8))):
        fitted = clone(model).fit(study.subset(instances=[str(i) for i in train]).units())
        total = count = 0.0
        for i in test:
            one = arrays[i]
            (P,) = fitted.predict(study.subset(instances=str(i)))
            before, after, action = one.state[:, :-1], one.state[:, 1:], one.action.astype(int)
            chance = P[np.arange(10)[None, None, :], before, action, after]
            total, count = total + np.log(chance).sum(), count + chance.size
        assert found[k] == pytest.approx(total / count, rel=1e-12)


def test_every_splitter_will_do(study):
    model, arms = TwoStage(predictor="effect"), study.units("arms")
    assert cross_val_score(model, arms).shape == (5,)
    assert np.isfinite(cross_val_score(model, arms, groups=arms.groups, cv=GroupKFold(4))).all()
    assert np.isfinite(cross_val_score(model, arms, cv=ShuffleSplit(2, random_state=0))).all()
    assert np.isfinite(cross_val_score(model, made(instances=5, arms=40, trajectories=10).units("instances"), cv=LeaveOneOut())).all()
    both = cross_validate(model, arms, cv=3, return_train_score=True, return_estimator=True)
    assert np.isfinite(both["train_score"]).all() and len(both["estimator"]) == 3
    twice = cross_val_score(model, arms, cv=2, n_jobs=2)  # rows go to other processes
    np.testing.assert_array_equal(twice, cross_val_score(model, arms, cv=2))
    # one programme, as most are
    alone = made(instances=1, arms=120, trajectories=10).units()
    assert np.isfinite(cross_val_score(model, alone, cv=4)).all()


def test_searches_find_what_scores_best(study):
    rows = study.units("instances")
    search = GridSearchCV(TwoStage(predictor="effect"), {"drop": [(), FEW]}, cv=KFold(2)).fit(rows)
    by_hand = [cross_val_score(TwoStage(predictor="effect", drop=drop), rows, cv=KFold(2)).mean() for drop in ((), FEW)]
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], by_hand)
    assert search.best_params_ == {"drop": ((), FEW)[int(np.argmax(by_hand))]}
    assert search.best_estimator_.plan(study).budget == 2 and len(search.predict(study)) == 8
    assert search.score(rows) == search.best_estimator_.score(rows, part="all")
    other = RandomizedSearchCV(TwoStage(predictor="effect"), {"index_discount": [0.5, 0.9]}, n_iter=2, cv=KFold(2), random_state=0)
    assert np.isfinite(other.fit(rows).best_score_)


def test_an_estimator_that_was_not_fitted_says_so_in_both_ways(study):
    for ask in (lambda model: model.predict(study), lambda model: model.score(study), lambda model: model.plan(study), lambda model: model.save("x")):
        with pytest.raises(Theirs, match="this TwoStage has not been fitted; call fit or load first") as caught:
            ask(TwoStage())
        assert isinstance(caught.value, (NotFittedError, ValueError, AttributeError))
    back = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(back, Theirs) and isinstance(back, NotFittedError) and str(back) == str(caught.value)


def test_without_scikit_learn_the_error_is_ours():
    code = (
        "import sys; sys.modules['sklearn'] = None; del sys.modules['sklearn']\n"
        "import restive\n"
        "try: restive.TwoStage().predict({})\n"
        "except restive.NotFittedError as error: print(isinstance(error, ValueError), isinstance(error, AttributeError), 'sklearn' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "True True False\n"


def test_no_seed_is_a_random_one_that_is_kept(study):
    first, second = (TwoStage(predictor="effect", seed=None).fit(study) for _ in range(2))
    assert first.seed is None and first.seed_ != second.seed_
    again = TwoStage(predictor="effect", seed=first.seed_).fit(study)
    assert again.seed_ == first.seed_ == again.configuration_["seed"]
    assert all((a == b).all() for a, b in zip(again.predict(study), first.predict(study), strict=True))
    assert str(first.seed_) in first._repr_html_()
    with pytest.warns(DeprecationWarning, match="random_state is called seed now"):
        assert TwoStage(random_state=None).random_state is None
    assert TwoStage(predictor="effect").fit(study).seed_ == 0


#: What passes of scikit-learn's own checks.
PASSES = {
    "check_do_not_raise_errors_in_init_or_set_params", "check_estimator_cloneable", "check_estimator_repr", "check_estimator_tags_renamed",
    "check_estimators_unfitted", "check_get_params_invariance", "check_mixin_order", "check_no_attributes_set_in_init",
    "check_parameters_default_constructible", "check_set_params", "check_valid_tag_types",
}  # fmt: skip

#: What cannot: it calls fit with an array of numbers, and we learn from studies. Below each is what is tested here instead.
CANNOT = {
    "check_dict_unchanged": "test_asking_changes_nothing",
    "check_dont_overwrite_parameters": "test_asking_changes_nothing",
    "check_estimators_overwrite_params": "test_asking_changes_nothing",
    "check_estimators_fit_returns_self": "test_fitting_again_is_the_same",
    "check_fit_idempotent": "test_fitting_again_is_the_same",
    "check_fit_check_is_fitted": "test_fitting_again_is_the_same",
    "check_estimators_pickle": "test_estimators: a fitted estimator can be pickled",
    "check_readonly_memmap_input": "test_asking_changes_nothing",
    "check_fit_score_takes_y": "cross_val_score, above",
    "check_methods_sample_order_invariance": "test_rows_are_predicted_each_alone",
    "check_methods_subset_invariance": "test_rows_are_predicted_each_alone",
    "check_pipeline_consistency": "a pipeline's earlier steps would transform arrays",
    "check_estimators_dtypes": "a study has one type of numbers",
    "check_f_contiguous_array_estimator": "a study has one order of memory",
    "check_positive_only_tag_during_fit": "there is no array whose sign could matter",
    "check_fit2d_1feature": "test_study: what is wrong with tables is said",
    "check_fit2d_1sample": "test_study: what is wrong with tables is said",
}


@pytest.mark.filterwarnings("ignore:Estimator .* does not inherit")
def test_what_of_scikit_learns_own_checks_holds():
    for model in (TwoStage(), DecisionFocused()):
        results = check_estimator(model, on_fail=None, on_skip=None)
        failed = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
        assert PASSES <= {result["check_name"] for result in results if result["status"] == "passed"}
        assert set(failed) <= set(CANNOT)
        for name, error in failed.items():
            said = f"{error} {error.__cause__} {error.__context__}"  # some checks say it in their own words
            assert "study: expected a restive.Study, found " in said, (name, error)


def test_fitting_again_is_the_same(study):
    model = TwoStage(predictor="effect")
    first = model.fit(study).predict(study)
    assert model.fit(study) is model
    assert all((a == b).all() for a, b in zip(first, model.predict(study), strict=True))


def test_asking_changes_nothing(study):
    model = TwoStage(predictor="effect", drop=["f_00"])
    parameters = {name: repr(value) for name, value in model.get_params().items()}
    fingerprint = study.fingerprint
    model.fit(study)
    assert set(vars(model)) - set(parameters) == {"_model_", "configuration_", "history_", "n_features_in_", "feature_names_", "seed_"}
    before = {name: repr(value) for name, value in vars(model).items()}
    model.predict(study), model.score(study), model.plan(study), study.to_arrays(model)
    assert {name: repr(value) for name, value in vars(model).items()} == before
    assert {name: repr(value) for name, value in model.get_params().items()} == parameters and study.fingerprint == fingerprint


def test_rows_are_predicted_each_alone(study):
    model = TwoStage(predictor="effect").fit(study)
    features = study.to_arrays(model)[0].features
    order = np.random.default_rng(1).permutation(len(features))
    np.testing.assert_array_equal(model.predict(features[order]), model.predict(features)[order])
    np.testing.assert_array_equal(np.concatenate([model.predict(row[None]) for row in features]), model.predict(features))
