"""Models: what they know, and what is done to them. Examples in docstrings run, too."""

import ast
import doctest
import glob
import html
import io
import os
import pickle
import re
import subprocess
import sys
import tempfile
import unittest

import accrete
from accrete import AccreteClassifier, AccreteRegressor, Problem


def load_tests(loader, tests, ignore):
    for name in ("", "._errors", "._estimators", "._model", "._session", "._table"):
        tests.addTests(doctest.DocTestSuite("accrete" + name))
    return tests


class Document(unittest.TestCase):
    def test_how_to(self):
        try:
            import pandas  # noqa: F401
            import sklearn  # noqa: F401
        except ImportError as err:
            self.skipTest("scikit-learn and pandas are not there (scripts/python): %s" % err)
        with open(os.path.join("..", "..", "docs", "how-to", "python.md"), encoding="utf-8") as f:
            blocks = re.findall(r"```python\n(>>> .*?)```", f.read(), re.S)
        self.assertGreater(len(blocks), 3)
        known = {"X_numbers": [[i % 4, i % 3] for i in range(24)]}
        test = doctest.DocTestParser().get_doctest("\n".join(blocks), known, "python.md", "python.md", 0)
        said = io.StringIO()
        self.assertEqual(doctest.DocTestRunner().run(test, out=said.write).failed, 0, said.getvalue())


class Knowledge(unittest.TestCase):
    def setUp(self):
        self.model = accrete.learn("votes")

    def test_rules(self):
        rules = self.model.rules(top=3)
        self.assertEqual(len(rules), 3)
        if hasattr(rules, "columns"):
            self.assertTrue({"id", "text", "probability", "covered", "correct", "bits"} <= set(rules.columns))
            self.assertTrue(str(rules["text"][0]).startswith("IF "))
        self.assertEqual(len(self.model.sentences(top=2)), 2)

    def test_explain(self):
        said = self.model.explain({"physician-fee-freeze": "y", "adoption-of-the-budget-resolution": "n"})
        self.assertEqual(said.prediction, "republican")
        self.assertGreater(len(said.evidence), 0)
        self.assertIn("republican", str(said))
        changed = self.model.explain({"physician-fee-freeze": "y"}, change_to="democrat")
        self.assertEqual(changed.changes[0]["prediction"], "democrat")

    def test_corrections(self):
        rule = "IF synfuels-corporation-cutback = y THEN class = democrat WITH 0.95"
        before = self.model.version
        preview = self.model.tell(rule, worth=500, preview=True)
        self.assertIn("effect", preview)
        self.assertEqual(self.model.version, before)
        told = self.model.tell(rule, worth=500, note="from the minutes")
        changes = self.model.diff(before, on="votes")
        self.assertTrue(any("synfuels" in r["text"] for r in changes.added))
        self.assertGreater(len(changes.flips), 0)
        self.model.forget(rule=told.told[0]["id"])
        self.assertEqual(self.model.diff(before, on="votes").flips, [])
        self.model.undo()
        self.assertEqual(len(self.model.log()), self.model.version)

    def test_update_merge_and_forget(self):
        rows = {"wind": ["weak", "strong"] * 10, "rain": ["no", "yes", "no", "no"] * 5, "play": ["yes", "no"] * 10}
        first = accrete.learn(rows, target="play", learner="bayes", source="april")
        second = accrete.learn(rows, target="play", learner="bayes", source="may")
        both = first.merge(second)
        first.update(rows, source="may")
        ask = [{"wind": "weak", "rain": "yes"}]
        self.assertEqual(both.predict_proba(ask), first.predict_proba(ask))
        first.forget("may")
        self.assertEqual(second.predict_proba(ask), first.predict_proba(ask))
        self.assertEqual([v["source"]["name"] if isinstance(v["source"], dict) else v["source"] for v in first.log()][:2], ["april", "may"])

    def test_evaluate_and_compare(self):
        judged = self.model.evaluate("votes")
        self.assertGreater(judged.accuracy, 0.9)
        rows = {"x": [i / 10 for i in range(100)]}
        number = AccreteRegressor(learner="linear").fit(rows, [3 * v for v in rows["x"]])
        self.assertLess(number.evaluate(rows, [3 * v for v in rows["x"]]).rmse, 1e-6)
        compared = accrete.compare("weather", ["bayes", "prior"], folds=2)
        self.assertEqual(len(compared.differences), 1)
        with self.assertRaisesRegex(Problem, "bayess"):
            accrete.evaluate("weather", learner="bayess")

    def test_pictures(self):
        picture = self.model.draw()
        self.assertTrue(picture.lstrip().startswith(("<svg", "<?xml")))
        self.assertIn("data:image/svg+xml;base64,", picture._repr_html_())

    def test_kept(self):
        ask = [{"physician-fee-freeze": "y"}]
        with tempfile.TemporaryDirectory() as folder:
            self.model.save(os.path.join(folder, "votes.accrete"))
            again = accrete.load(os.path.join(folder, "votes.accrete"))
            self.assertEqual(again.predict_proba(ask), self.model.predict_proba(ask))
            self.assertEqual(pickle.loads(pickle.dumps(again)).predict_proba(ask), again.predict_proba(ask))
            # A store of the command line, from here.
            with accrete.start(store=os.path.join(folder, "store")) as session:
                accrete.learn("weather", learner="bayes", name="weather", where=session)
                self.assertEqual(session.models()[0]["model"], "weather")
            said = subprocess.run([accrete.binary(), "models", "--store", os.path.join(folder, "store")], stdout=subprocess.PIPE, check=True).stdout
            self.assertIn(b"weather", said)


class Estimators(unittest.TestCase):
    def test_rows_in_any_form(self):
        model = AccreteClassifier(learner="bayes").fit([["red", 1.0], ["blue", 2.0]] * 9, [True, False] * 9)
        for row in (["red", 1.0], [["red", 1.0]], ("red", None), {"x0": "red"}):
            self.assertEqual(model.explain(row).prediction, "true")
        try:
            import numpy
        except ImportError:
            pass
        else:  # as a frame's row is, cell by cell
            self.assertEqual(model.explain({"x0": "red", "x1": numpy.int64(1)}).prediction, "true")
        self.assertEqual([bool(c) for c in model.predict([["red", 1.0]])], [True])
        self.assertEqual(model.evaluate([["red", 1.0], ["blue", 2.0]], [True, False]).accuracy, 1)
        with self.assertRaisesRegex(ValueError, "3 cells"):
            model.explain([1, 2, 3])
        with self.assertRaisesRegex(ValueError, "empty text"):
            AccreteClassifier().fit([[1], [2]], ["", "a"])

    def test_hints(self):
        """What is public says what it takes and gives."""
        import inspect

        for name in accrete.__all__:
            thing = getattr(accrete, name)
            if not callable(thing) or inspect.isclass(thing) and issubclass(thing, Exception):
                continue
            functions = [f for n, f in inspect.getmembers(thing, inspect.isfunction) if not n.startswith("_")] if inspect.isclass(thing) else [thing]
            for function in functions:
                hints = inspect.signature(function)
                self.assertIsNot(hints.return_annotation, inspect.Signature.empty, function)
                for parameter in hints.parameters.values():
                    self.assertTrue(parameter.name == "self" or parameter.annotation is not parameter.empty, (function, parameter))
                self.assertTrue(inspect.getdoc(getattr(thing, function.__name__, function)), function)


class Shown(unittest.TestCase):
    def test_html_is_escaped(self):
        bad = "<script>alert('x')</script>"
        X = {bad: [bad, "b"] * 20, "other": ["<b>", "d", "d", "<b>"] * 10}
        model = AccreteClassifier().fit(X, [bad, "ok"] * 20)
        for shown in (model._repr_html_(), model.model_._repr_html_(), model.explain({bad: bad})._repr_html_()):
            self.assertNotIn("<script", shown)
            self.assertNotIn("<b>d", shown)
        self.assertIn(html.escape(bad), model._repr_html_())
        self.assertEqual(list(model.predict({bad: [bad, "b"], "other": [None, None]})), [bad, "ok"])

    def test_strings_say_what_they_are(self):
        self.assertEqual(repr(AccreteClassifier(learner="tree", seed=3)), "AccreteClassifier(learner='tree', seed=3)")
        self.assertIn("rulenet", repr(accrete.learn("votes")))
        with self.assertRaises(accrete.NotFitted):
            AccreteClassifier().predict([[1]])
        with self.assertRaisesRegex(ValueError, "learnr"):
            AccreteClassifier().set_params(learnr="tree")
        with self.assertRaisesRegex(Problem, "did you mean"):
            AccreteClassifier(learner="rulnet").fit([[1], [2]], ["a", "b"])


class Alone(unittest.TestCase):
    def test_without_numpy_and_pandas(self):
        code = (
            "import sys; sys.modules.update(numpy=None, pandas=None, sklearn=None)\n"
            "import accrete, doctest\n"
            "X = {'n': [i % 7 + (i % 3) / 10 for i in range(400)], 's': [['a', 'b', None][i % 3] for i in range(400)], 't': [i % 7 > 3 for i in range(400)]}\n"
            "y = ['hi' if i % 7 > 3 else 'lo' for i in range(400)]\n"
            "m = accrete.AccreteClassifier(learner='tree').fit(X, y, sample_weight=[i % 2 for i in range(400)])\n"
            "assert m.predict(X) == y and m.predict({k: v[:3] for k, v in X.items()}) == y[:3], m.predict(X)[:9]\n"
            "assert m.score(X, y) == 1\n"
            "r = accrete.AccreteRegressor(learner='linear').fit([[float(i)] for i in range(400)], [2.0 * i for i in range(400)])\n"
            "assert abs(r.predict([[4.0]])[0] - 8) < 1e-6 and abs(r.predict([[float(i)] for i in range(400)])[9] - 18) < 1e-6\n"
            "assert m.partial_fit(X, y).model_.describe().rows == 600\n"
            "assert isinstance(m.rules(), list)\n"
            "class Arrow:\n"
            "    def to_pandas(self): import pandas\n"
            "    def to_pydict(self): return X\n"
            "assert m.predict(Arrow()) == y\n"
            "from decimal import Decimal\n"
            "r = accrete.AccreteRegressor(learner='linear').fit({'price': [Decimal(i) / 4 for i in range(40)]}, [2.0 * i for i in range(40)])\n"
            "assert abs(r.predict({'price': [Decimal('2.5')]})[0] - 20) < 1e-6\n"
        )
        child = subprocess.run([sys.executable, "-B", "-c", code], env=dict(os.environ, PYTHONPATH=os.path.abspath("..")), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(child.returncode, 0, child.stdout.decode())

    def test_old_pythons_can_read_it(self):
        for path in glob.glob(os.path.join("..", "accrete", "*.py")):
            with open(path, encoding="utf-8") as f:
                ast.parse(f.read(), path, feature_version=(3, 9))


if __name__ == "__main__":
    unittest.main()
