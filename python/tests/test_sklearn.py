"""scikit-learn's own checks, and what people do with estimators there."""

import pickle
import unittest
import warnings

import accrete
from accrete import AccreteClassifier, AccreteDensity, AccreteRegressor

try:
    import numpy as np
    import pandas as pd
    import sklearn
    from sklearn.utils.estimator_checks import check_estimator
except ImportError as err:  # pragma: no cover
    raise unittest.SkipTest("scikit-learn and pandas are not there (scripts/python): %s" % err)


class Checks(unittest.TestCase):
    """check_estimator passes, whole: no check is left out."""

    def check(self, estimator, least):
        count = 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for one, check in check_estimator(estimator, generate_only=True):
                with self.subTest(check=check.func.__name__):
                    check(one)
                    count += 1
        self.assertGreaterEqual(count, least)

    def test_classifier(self):
        self.check(AccreteClassifier(), 45)

    def test_regressor(self):
        self.check(AccreteRegressor(), 40)

    def test_density(self):
        self.check(AccreteDensity(), 30)

    def test_other_learners(self):
        for estimator in (AccreteClassifier(learner="bayes"), AccreteRegressor(learner="linear")):
            self.check(estimator, 40)


def iris():
    from sklearn.datasets import load_iris

    return load_iris(return_X_y=True, as_frame=True)


class Workflows(unittest.TestCase):
    def test_clone_pipeline_and_search(self):
        from sklearn.base import clone, is_classifier, is_regressor
        from sklearn.model_selection import GridSearchCV, cross_val_score
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        X, y = iris()
        model = clone(AccreteClassifier(learner="nearest", settings={"k": 3}))
        self.assertTrue(is_classifier(model) and is_regressor(AccreteRegressor()))
        self.assertEqual(model.get_params()["settings__k"], 3)
        pipeline = make_pipeline(StandardScaler(), model)
        self.assertGreater(cross_val_score(pipeline, X, y, cv=3).mean(), 0.9)
        search = GridSearchCV(pipeline, {"accreteclassifier__settings__k": [1, 5]}, cv=3).fit(X, y)
        self.assertIn(search.best_params_["accreteclassifier__settings__k"], (1, 5))
        self.assertGreater(search.score(X, y), 0.9)

    def test_search_in_processes(self):
        from sklearn.model_selection import GridSearchCV

        X, y = iris()
        search = GridSearchCV(AccreteClassifier(learner="bayes"), {"seed": [1, 2]}, cv=2, n_jobs=2).fit(X, y)
        self.assertGreater(search.best_score_, 0.85)

    def test_pickle_and_copy(self):
        import copy

        X, y = iris()
        model = AccreteClassifier().fit(X, y)
        for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
            np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        self.assertEqual(list(model.feature_names_in_), list(X.columns))

    def test_frames(self):
        rows = pd.DataFrame(
            {
                "colour": pd.Categorical(["red", "blue", None, "red"] * 10, categories=["blue", "red", "green"]),
                "country": ["NA", "de", "NA", None] * 10,  # Namibia is no missing cell
                "weight": [1.0, np.nan, 3.0, 1.5] * 10,
                "count": pd.array([1, None, 3, 4] * 10, dtype="Int64"),
                "old": [True, False, True, True] * 10,
                "since": pd.to_datetime(["2020-01-01", None, "2021-05-05 12:00", "2020-02-02"] * 10),
            }
        )
        answer = pd.Series(["a", "b", "a", "a"] * 10, name="kind").astype("category")
        model = AccreteClassifier(learner="bayes").fit(rows, answer)
        self.assertEqual(list(model.classes_), ["a", "b"])
        self.assertEqual(model.score(rows, answer), 1.0)
        about = {c["name"]: c for c in model.model_.describe()["columns"]}
        self.assertEqual(sorted(about["country"]["values"]), ["NA", "de"])
        self.assertEqual((about["weight"]["kind"], about["old"]["kind"], about["since"]["kind"]), ("numeric", "nominal", "time"))
        self.assertEqual(about["kind"]["values"], ["a", "b"])
        # One by one, few and many are answered alike.
        whole = model.predict_proba(pd.concat([rows] * 20))[: len(rows)]
        ones = np.vstack([model.predict_proba(rows.iloc[i : i + 1]) for i in range(len(rows))])
        np.testing.assert_allclose(ones, whole, atol=1e-12)
        with self.assertRaisesRegex(ValueError, "Feature names"):
            model.predict(rows.rename(columns={"weight": "height"}))

    def test_weights(self):
        X, y = iris()
        X, y = X[:120], y[:120]
        weight = np.arange(120) % 3
        model = AccreteClassifier(learner="bayes").fit(X, y, sample_weight=weight)
        again = AccreteClassifier(learner="bayes").fit(X.loc[X.index.repeat(weight)], y.repeat(weight))
        np.testing.assert_allclose(model.predict_proba(X), again.predict_proba(X), atol=1e-9)

    def test_partial_fit(self):
        X, y = iris()
        order = np.random.RandomState(0).permutation(len(X))
        X, y = X.iloc[order], y.iloc[order]
        more = AccreteClassifier(learner="bayes")
        for part in np.array_split(np.arange(len(X)), 3):
            more.partial_fit(X.iloc[part], y.iloc[part], classes=[0, 1, 2])
        whole = AccreteClassifier(learner="bayes").fit(X, y)
        np.testing.assert_allclose(more.predict_proba(X), whole.predict_proba(X), atol=1e-9)
        # What came last is forgotten as if it had never come.
        more.partial_fit(X[:30], 2 - y[:30], source="mistake")
        more.forget("mistake")
        np.testing.assert_allclose(more.predict_proba(X), whole.predict_proba(X), atol=1e-9)
        # A class that nobody announced is learnt, too.
        late = AccreteClassifier(learner="bayes").fit(X[y < 2], y[y < 2])
        late.partial_fit(X[y == 2], y[y == 2])
        self.assertEqual(list(late.classes_), [0, 1, 2])
        np.testing.assert_allclose(late.predict_proba(X), whole.predict_proba(X), atol=1e-9)

    def test_regression(self):
        x = np.linspace(0, 1, 80).reshape(-1, 1)
        noise = np.random.RandomState(1).normal(0, 0.1, 80)
        model = AccreteRegressor(learner="linear").fit(x[:40], 3 * x[:40, 0] + noise[:40])
        model.partial_fit(x[40:], 3 * x[40:, 0] + noise[40:])
        self.assertGreater(model.score(x, 3 * x[:, 0] + noise), 0.95)
        interval = model.predict_interval(x)
        inside = ((interval[:, 0] < 3 * x[:, 0] + noise) & (3 * x[:, 0] + noise < interval[:, 1])).mean()
        self.assertGreater(inside, 0.85)

    def test_density(self):
        data = np.random.RandomState(2).normal(size=(400, 2))
        data[:, 1] += 2 * data[:, 0]
        model = AccreteDensity().fit(data[:200]).partial_fit(data[200:])
        self.assertGreater(model.score_samples([[0, 0]])[0], model.score_samples([[0, 9]])[0] + 5)
        answer = model.ask("x0=1, x1=?")[0]
        self.assertAlmostEqual(answer.mean, 2, delta=0.5)


if __name__ == "__main__":
    unittest.main()
