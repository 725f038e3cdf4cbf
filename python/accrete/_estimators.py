"""Estimators as scikit-learn knows them. It is not needed to use them.

A table's numbers are numbers; texts, categories, true and false are names;
None and NaN are missing cells, and stay so. Rules, reasons, corrections and
pictures of what was learnt are methods of the estimator, too.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import _table
from ._errors import not_fitted
from ._model import Answer, Explanation, Model, Picture, diff, free_name, learn_columns, loads, merge, settings_of
from ._session import Session, session_of

try:  # used where it is there
    import numpy as np
except ImportError:  # pragma: no cover
    np = None  # type: ignore

__all__ = ["AccreteClassifier", "AccreteRegressor", "AccreteDensity"]

FEW = 256  # cells that are sent as JSON; more are written as a file


class _Accrete:
    """What the estimators have in common."""

    _target: Optional[str] = "target"  # what the column to predict is called, if nothing else says it

    def __init__(
        self,
        learner: Optional[str] = None,
        settings: Optional[Mapping[str, Any]] = None,
        told: Optional[str] = None,
        worth: Optional[float] = None,
        seed: int = 1,
        server: Union[None, str, Session] = None,
    ) -> None:
        self.learner = learner
        self.settings = settings
        self.told = told
        self.worth = worth
        self.seed = seed
        self.server = server

    # Parameters, as scikit-learn handles them.
    @classmethod
    def _names(cls) -> List[str]:
        return [p for p in inspect.signature(cls.__init__).parameters if p != "self"]

    def get_params(self, deep: bool = True) -> Dict[str, Any]:
        """The parameters; deep has each setting of the learner as settings__NAME, too."""
        params = {name: getattr(self, name) for name in self._names()}
        if deep:
            params.update({"settings__" + k: v for k, v in (self.settings or {}).items()})
        return params

    def set_params(self, **params: Any) -> "_Accrete":
        """Set parameters, or settings of the learner as settings__NAME."""
        for name, value in params.items():
            if name.startswith("settings__"):
                self.settings = {**(self.settings or {}), name[len("settings__") :]: value}
            elif name in self._names():
                setattr(self, name, value)
            else:
                raise ValueError("Invalid parameter %r for estimator %s. Valid parameters are: %r." % (name, self, self._names()))
        return self

    def __repr__(self) -> str:
        given = {n: getattr(self, n) for n in self._names()}
        defaults = {n: p.default for n, p in inspect.signature(type(self).__init__).parameters.items()}
        said = ["%s=%r" % (n, v) for n, v in given.items() if v is not defaults[n] and v != defaults[n]]
        return "%s(%s)" % (type(self).__name__, ", ".join(said))

    def _repr_html_(self) -> str:
        import html

        head = "<pre>%s</pre>" % html.escape(repr(self))
        return head + (self.model_._repr_html_() if self._is_fitted() else "")

    def _more_tags(self) -> Dict[str, Any]:
        return {"allow_nan": True, "requires_y": self._target is not None, "X_types": ["2darray", "string"]}

    def __sklearn_tags__(self) -> Any:
        from sklearn import utils  # type: ignore

        kind = getattr(self, "_estimator_type", None)
        return utils.Tags(
            estimator_type=kind,
            target_tags=utils.TargetTags(required=self._target is not None),
            classifier_tags=utils.ClassifierTags() if kind == "classifier" else None,
            regressor_tags=utils.RegressorTags() if kind == "regressor" else None,
            input_tags=utils.InputTags(allow_nan=True, string=True, categorical=True),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return self._is_fitted()

    # What was learnt.
    def _is_fitted(self) -> bool:
        return "_export" in self.__dict__ or "_held" in self.__dict__

    @property
    def model_(self) -> Model:
        """The model that was learnt."""
        held = self.__dict__.get("_held")
        if held is None:
            if not self._is_fitted():
                raise not_fitted(type(self).__name__)
            held = self.__dict__["_held"] = loads(self.__dict__.pop("_export"), self.server)
        return held

    def __getstate__(self) -> Dict[str, Any]:
        state = dict(self.__dict__)
        held = state.pop("_held", None)
        if held is not None:
            state["_export"] = held.dumps()
        return state

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__dict__.update(state)

    # Tables.
    def _begin(self, X: Any) -> Tuple[Any, List[_table.Column]]:
        """A table to learn from, and its columns; what they are is remembered."""
        X = _table.as_table(X)
        rows, many = _table.shape_of(X)
        if rows == 0:
            raise ValueError("Found array with 0 sample(s) (shape=%s) while a minimum of 1 is required." % ((rows, many),))
        if many == 0:
            raise ValueError("Found array with 0 feature(s) (shape=%s) while a minimum of 1 is required." % ((rows, many),))
        names = _table.names_of(X)
        if names is None:
            self.__dict__.pop("feature_names_in_", None)
            names = ["x%d" % i for i in range(many)]
        else:
            if len(set(names)) < len(names):
                raise ValueError("columns have the same name: %s" % sorted({n for n in names if names.count(n) > 1}))
            self.feature_names_in_ = np.asarray(names, dtype=object) if np is not None else names
        columns = _table.columns_of(X, names)
        self.n_features_in_ = many
        self._columns = [(c.name, c.kind) for c in columns]
        return X, columns

    def _again(self, X: Any) -> Any:
        """A table that is to be like the one learnt from."""
        X = _table.as_table(X)
        rows, many = _table.shape_of(X)
        names, known = _table.names_of(X), getattr(self, "feature_names_in_", None)
        kind = type(self).__name__
        if names is not None and known is not None and list(names) != list(known):
            known = list(known)
            if isinstance(X, dict) and set(names) <= set(known):  # cells that are not there are missing
                return {n: X.get(n, [None] * rows) for n in known}
            added, gone = sorted(set(names) - set(known)), sorted(set(known) - set(names))
            text = "The feature names should match those that were passed during fit.\n"
            for what, list_ in (("Feature names unseen at fit time:\n", added), ("Feature names seen at fit time, yet now missing:\n", gone)):
                if list_:
                    text += what + "".join("- %s\n" % n for n in list_[:5])
            if not added and not gone:
                text += "Feature names must be in the same order as they were in fit.\n"
            raise ValueError(text)
        if names is None and known is not None:
            warnings.warn("X does not have valid feature names, but %s was fitted with feature names" % kind, UserWarning, stacklevel=4)
        elif names is not None and known is None:
            warnings.warn("X has feature names, but %s was fitted without feature names" % kind, UserWarning, stacklevel=4)
        if many != self.n_features_in_:
            raise ValueError("X has %d features, but %s is expecting %d features as input" % (many, kind, self.n_features_in_))
        if rows == 0:
            raise ValueError("Found array with 0 sample(s) (shape=%s) while a minimum of 1 is required." % ((rows, many),))
        return X

    def _parts(self) -> Tuple[List[str], List[str]]:
        return [n for n, _ in self._columns], [k for _, k in self._columns]

    def _weights(self, weight: Any, rows: int) -> Any:
        """Weights, one a row; None where all weigh the same."""
        if weight is None:
            return None
        if np is None:
            weights = [float(w) for w in ([weight] * rows if isinstance(weight, (int, float)) else weight)]
            bad = any(w < 0 or w - w != 0 for w in weights)
        else:
            weights = np.asarray(weight, dtype=np.float64)
            if weights.ndim == 0:
                weights = np.full(rows, float(weights))
            if weights.ndim != 1:
                raise ValueError("Sample weights must be 1D array or scalar")
            bad = bool((weights < 0).any() or not np.isfinite(weights).all())
        if len(weights) != rows:
            raise ValueError("sample_weight.shape == %s, expected %s!" % ((len(weights),), (rows,)))
        if bad:
            raise ValueError("Sample weights must be numbers from 0")
        return weights

    def _learn(self, columns: List[_table.Column], weight: Any, source: Optional[str], learner: Optional[str] = None) -> None:
        """Learn columns; rows of weight 0 say nothing."""
        self.__dict__.pop("_held", None)
        self.__dict__.pop("_export", None)
        columns, weight = _heavy(columns, weight)
        target = columns[-1].name if self._target is not None else None
        self._held = learn_columns(
            session_of(self.server), columns, None, weight, target=target, learner=self.learner or learner,
            settings=settings_of(self.settings), rules=self.told, worth=self.worth, seed=self.seed, source=source,
        )

    def _more(self, columns: List[_table.Column], weight: Any, source: Optional[str]) -> None:
        columns, weight = _heavy(columns, weight)
        self.model_.update_columns(columns, source, weight)

    def _ask(self, X: Any, density: bool = False) -> Answer:
        """Answers for a table, in columns, however it is sent."""
        if not self._is_fitted():
            raise not_fitted(type(self).__name__)
        X = self._again(X)
        names, kinds = self._parts()
        rows, many = _table.shape_of(X)
        if density or rows * many > FEW and rows > 1:
            return self.model_.answers(X, names, kinds, density)
        model = self.model_
        body = {"rows": _table.rows_of(X, names, kinds)}
        return Answer(model._session.request("POST", model._path + "/predict", body))

    # Knowledge: what the model does, the estimator does.
    def rules(self, top: Optional[int] = None, formal: bool = False) -> Any:
        """The rules that were learnt, as a data frame (Model.rules)."""
        return self.model_.rules(top, formal)

    def explain(self, row: Any, change_to: Optional[str] = None, fixed: Sequence[str] = ()) -> Explanation:
        """Why the answer for a row is what it is (Model.explain)."""
        return self.model_.explain(self._row(row), change_to, fixed)

    def _row(self, row: Any) -> Any:
        if isinstance(row, dict) or hasattr(row, "to_dict"):
            return row
        names = [n for n, _ in self._columns]
        cells = list(row[0]) if len(row) == 1 and hasattr(row[0], "__len__") and not isinstance(row[0], str) else list(row)
        if len(cells) != len(names):
            raise ValueError("a row of %d cells, expected %d" % (len(cells), len(names)))
        return dict(zip(names, cells))

    def tell(self, rules: str, worth: Optional[float] = None, note: str = "", preview: bool = False) -> Answer:
        """Tell it what somebody knows (Model.tell)."""
        return self.model_.tell(rules, worth, note, preview)

    def forget(self, source: Optional[str] = None, rule: Optional[str] = None, erase: bool = False) -> Answer:
        """Take a source back out (Model.forget)."""
        return self.model_.forget(source, rule, erase)

    def diff(self, other: Any = None, on: Any = None) -> Answer:
        """What changed since another model, or an older version (Model.diff)."""
        return self.model_.diff(other, self._named(on) if on is not None and not isinstance(on, str) else on)

    def merge(self, other: Any) -> Model:
        """The model of what both learnt (Model.merge)."""
        return merge(self, other)

    def ask(self, question: str) -> List[Answer]:
        """Any column, given any others, as in ask("age=40, income=?") (Model.ask)."""
        return self.model_.ask(question)

    def evaluate(self, X: Any, y: Any = None) -> Answer:
        """How well it does on rows whose answers are known (Model.evaluate)."""
        return self.model_.evaluate(self._named(X), y)

    def _named(self, X: Any) -> Any:
        X = _table.as_table(X)
        if _table.names_of(X) is None:
            names = [n for n, _ in self._columns]
            return {n: [row[i] for row in X] if isinstance(X, list) else X[:, i] for i, n in enumerate(names)}
        return X

    def draw(self, **how: Any) -> Picture:
        """A picture of what was learnt (Model.draw)."""
        return self.model_.draw(**how)


def _heavy(columns: List[_table.Column], weight: Any) -> Tuple[List[_table.Column], Any]:
    """The rows that weigh something."""
    if weight is None:
        return columns, None
    keep = [i for i, w in enumerate(weight) if w > 0]
    if len(keep) == len(weight):
        same = all(w == 1 for w in weight) if np is None else bool((weight == 1).all())
        return columns, None if same else weight
    if not keep:
        raise ValueError("all sample weights are 0: there is nothing to learn from")

    def pick(data: Any) -> Any:
        if np is not None and isinstance(data, np.ndarray):
            return data[keep]
        picked = [data[i] for i in keep]
        return type(data)(data.typecode, picked) if hasattr(data, "typecode") else picked

    kept = [_table.Column(c.name, c.kind, pick(c.data), c.values) for c in columns]
    weight = pick(weight)
    return kept, None if all(w == 1 for w in weight) else weight


def _one_column(y: Any, rows: int) -> Any:
    """What is to be predicted, as one column of so many rows."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    if _table.is_frame(y):
        if y.shape[1] != 1:
            raise ValueError("y should be a 1d array, got an array of shape %s instead." % (y.shape,))
        y = y.iloc[:, 0]
    if np is not None and not hasattr(y, "iloc"):
        y = np.asarray(y)
        if y.ndim == 2 and y.shape[1] == 1:
            kind: Any = UserWarning
            if "sklearn" in sys.modules:
                from sklearn.exceptions import DataConversionWarning as kind  # type: ignore
            warnings.warn("A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples, ).", kind, stacklevel=4)
            y = y.ravel()
        if y.ndim != 1:
            raise ValueError("y should be a 1d array, got an array of shape %s instead." % (y.shape,))
    if len(y) != rows:
        raise ValueError("Found input variables with inconsistent numbers of samples: [%d, %d]" % (rows, len(y)))
    return y


def _target_name(y: Any, otherwise: str, taken: Sequence[str]) -> str:
    name = getattr(y, "name", None)
    return free_name(name if isinstance(name, str) and name else otherwise, taken)


class AccreteClassifier(_Accrete):
    """Learns to tell classes apart, and says why.

    learner: as accrete learners lists them; none is a network of rules.
    settings: of the learner, as accrete learners NAME lists them.
    told, worth: what somebody knows beforehand, in the rule language, and the
    cases it is worth. seed: of everything random. server: a server's address
    or a session; none is a child of this process.

    >>> X = {"fever": ["high", "none", "high", "none"] * 5, "cough": ["yes", "yes", "no", "no"] * 5}
    >>> y = ["flu", "well", "flu", "well"] * 5
    >>> model = AccreteClassifier(learner="bayes").fit(X, y)
    >>> list(model.predict({"fever": ["high", "none"], "cough": [None, "no"]}))
    ['flu', 'well']
    >>> model.predict_proba({"fever": ["high"], "cough": ["yes"]})[0][0] > 0.8
    True
    """

    _estimator_type = "classifier"
    _target = "class"

    def fit(self, X: Any, y: Any, sample_weight: Any = None, source: Optional[str] = None) -> "AccreteClassifier":
        """Learn rows X with classes y. What they are called when they are to be forgotten is source."""
        return self._fit(X, y, None, sample_weight, source)

    def _fit(self, X: Any, y: Any, classes: Any, sample_weight: Any, source: Optional[str]) -> "AccreteClassifier":
        X, columns = self._begin(X)
        rows = len(columns[0])
        y = _one_column(y, rows)
        weight = self._weights(sample_weight, rows)
        self.classes_ = _classes(y if classes is None else classes)
        self._called = _target_name(y, self._target or "", [c.name for c in columns])
        self._learn(columns + [self._answers(y)], weight, source)
        return self

    def _answers(self, y: Any) -> _table.Column:
        """Classes as a column."""
        _classes(y)  # says what is wrong
        return _table._of_any(self._called, y, _table.NAME)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, source: Optional[str] = None) -> "AccreteClassifier":
        """Learn more rows; the first ones are learnt as fit does. Classes that come later are learnt too."""
        if not self._is_fitted():
            return self._fit(X, y, classes, sample_weight, source)
        X = self._again(X)
        names, kinds = self._parts()
        columns = _table.columns_of(X, names, kinds)
        y = _one_column(y, len(columns[0]))
        new = [c for c in _listed(_classes(y)) if c not in set(_listed(self.classes_))]
        self._more(columns + [self._answers(y)], self._weights(sample_weight, len(columns[0])), source)
        if new:
            self.classes_ = _classes(_listed(self.classes_) + new)
        return self

    def _places(self, known: Sequence[str]) -> List[int]:
        """Which of our classes each of the model's is."""
        ours = {_table.text_of(c): i for i, c in enumerate(_listed(self.classes_))}
        return [ours.get(c, -1) for c in known]

    def _answered(self, X: Any) -> Tuple[Any, Any]:
        """Probabilities, and the classes that are said."""
        said = self._ask(X)
        if "classes" in said:
            import base64

            known = self._places(said["classes"])
            p = base64.b64decode(said["probabilities"])
            codes = base64.b64decode(said["codes"])
            if np is not None:
                given = np.frombuffer(p, dtype="<f8").reshape(-1, len(known))
                proba = given if known == list(range(len(self.classes_))) else _spread(given, known, len(self.classes_))
                places = np.append(np.asarray(known, dtype=np.int64), -1)[np.frombuffer(codes, dtype="<i4")]
                return np.array(proba, dtype=np.float64), np.where(places < 0, proba.argmax(axis=1), places)
            import struct

            numbers = struct.unpack("<%dd" % (len(p) // 8), p)
            rows = [dict(zip(known, numbers[i : i + len(known)])) for i in range(0, len(numbers), len(known))]
            chosen = [(known + [-1])[c] for c in struct.unpack("<%di" % (len(codes) // 4), codes)]
        else:
            ours = {_table.text_of(c): i for i, c in enumerate(_listed(self.classes_))}
            rows = [{ours[c]: x for c, x in a["probabilities"].items() if c in ours} for a in said["predictions"]]
            chosen = [ours.get(a["prediction"], -1) for a in said["predictions"]]
        many = len(self.classes_)
        proba = [[row.get(i, 0.0) for i in range(many)] for row in rows]
        chosen = [c if c >= 0 else max(range(many), key=row.__getitem__) for c, row in zip(chosen, proba)]
        return (np.array(proba), np.array(chosen)) if np is not None else (proba, chosen)

    def predict_proba(self, X: Any) -> Any:
        """The probability of each of classes_, a row for each row."""
        return self._answered(X)[0]

    def predict(self, X: Any) -> Any:
        """The class of each row."""
        chosen = self._answered(X)[1]
        return self.classes_[chosen] if np is not None else [self.classes_[c] for c in chosen]

    def predict_log_proba(self, X: Any) -> Any:
        """The natural logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """How often it is right."""
        said = self.predict(X)
        truth = _listed(_one_column(y, len(said)))
        weight = self._weights(sample_weight, len(said))
        weight = [1.0] * len(said) if weight is None else list(weight)
        right = sum(w for w, a, b in zip(weight, _listed(said), truth) if a == b)
        return right / sum(weight)


def _spread(given: Any, known: List[int], many: int) -> Any:
    proba = np.zeros((len(given), many))
    for i, place in enumerate(known):
        if place >= 0:
            proba[:, place] += given[:, i]
    return proba


def _listed(values: Any) -> List[Any]:
    return values.tolist() if hasattr(values, "tolist") else list(values)


def _classes(y: Any) -> Any:
    """The distinct classes, in order; numbers that are measured are none."""
    if np is None:
        values = sorted({v for v in y if not _table.is_missing(v)})
        continuous = any(isinstance(v, float) and not v.is_integer() for v in values)
    else:
        if str(getattr(y, "dtype", "")) == "category":
            y = y.astype(y.cat.categories.dtype)
        array = np.asarray(y)
        if array.dtype.kind == "f":
            if np.isinf(array).any():
                raise ValueError("Input y contains infinity or a value too large for dtype('float64').")
            if np.isnan(array).any():
                raise ValueError("Input y contains NaN.")
        elif array.dtype.kind == "O" and any(_table.is_missing(v) for v in array):
            raise ValueError("Input y contains NaN.")
        elif array.dtype.kind == "c":
            raise ValueError("Unknown label type: complex numbers are no classes")
        values = np.unique(array)
        continuous = values.dtype.kind == "f" and bool((values != np.floor(values)).any())
    if continuous:
        raise ValueError("Unknown label type: 'continuous'. Classes are names or whole numbers; AccreteRegressor learns numbers")
    if len(values) == 0:
        raise ValueError("y has no classes")
    if isinstance(values[0], str) and values[0] == "":
        raise ValueError("y has an empty text, which is no class; give it a name")
    return values


class AccreteRegressor(_Accrete):
    """Learns to tell numbers, with intervals.

    >>> X = [[x / 10] for x in range(60)]
    >>> model = AccreteRegressor(learner="linear").fit(X, [2 * x[0] + 1 for x in X])
    >>> round(float(model.predict([[2.0]])[0]), 3)
    5.0
    """

    _estimator_type = "regressor"
    _target = "target"

    def fit(self, X: Any, y: Any, sample_weight: Any = None, source: Optional[str] = None) -> "AccreteRegressor":
        """Learn rows X with numbers y."""
        X, columns = self._begin(X)
        y = _one_column(y, len(columns[0]))
        weight = self._weights(sample_weight, len(columns[0]))
        self._called = _target_name(y, self._target or "", [c.name for c in columns])
        self._learn(columns + [self._answers(y)], weight, source)
        return self

    def _answers(self, y: Any) -> _table.Column:
        column = _table._of_any(self._called, _numbers(y), _table.NUMBER)
        return column

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, source: Optional[str] = None) -> "AccreteRegressor":
        """Learn more rows; the first ones are learnt as fit does."""
        if not self._is_fitted():
            return self.fit(X, y, sample_weight, source)
        X = self._again(X)
        names, kinds = self._parts()
        columns = _table.columns_of(X, names, kinds)
        y = _one_column(y, len(columns[0]))
        self._more(columns + [self._answers(y)], self._weights(sample_weight, len(columns[0])), source)
        return self

    def predict(self, X: Any) -> Any:
        """The number of each row."""
        return self._interval(X)[0]

    def predict_interval(self, X: Any) -> Any:
        """Where a new number of each row is with 95 %: its low and high end."""
        _, low, high = self._interval(X)
        return np.column_stack([low, high]) if np is not None else list(zip(low, high))

    def _interval(self, X: Any) -> Tuple[Any, Any, Any]:
        said = self._ask(X)
        if "mean" in said:
            return tuple(_floats(said[k]) for k in ("mean", "low", "high"))  # type: ignore
        answers = said["predictions"]
        found = [[a.get(k) for a in answers] for k in ("prediction", "low", "high")]
        return tuple(np.array(f, dtype=np.float64) if np is not None else f for f in found)  # type: ignore

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """How much of the variance is explained: R²."""
        said = _listed(self.predict(X))
        truth = [float(v) for v in _listed(_one_column(y, len(said)))]
        weight = self._weights(sample_weight, len(said))
        weight = [1.0] * len(said) if weight is None else list(weight)
        mean = sum(w * t for w, t in zip(weight, truth)) / sum(weight)
        error = sum(w * (t - s) ** 2 for w, t, s in zip(weight, truth, said))
        spread = sum(w * (t - mean) ** 2 for w, t in zip(weight, truth))
        return 1 - error / spread if spread > 0 else (1.0 if error == 0 else 0.0)


def _numbers(y: Any) -> Any:
    if np is None:
        return [float(v) for v in y]
    array = np.asarray(y)
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    array = array.astype(np.float64)
    if np.isinf(array).any():
        raise ValueError("Input y contains infinity or a value too large for dtype('float64').")
    if np.isnan(array).any():
        raise ValueError("Input y contains NaN.")
    return array


def _floats(coded: str) -> Any:
    import base64
    import struct

    raw = base64.b64decode(coded)
    return np.frombuffer(raw, dtype="<f8").copy() if np is not None else list(struct.unpack("<%dd" % (len(raw) // 8), raw))


class AccreteDensity(_Accrete):
    """Learns how rows are spread: any column can be asked for, given any others.

    >>> model = AccreteDensity().fit([[x % 7, (x % 7) * 2.0 + x % 3] for x in range(200)])
    >>> bool(model.score_samples([[3.0, 7.0]])[0] > model.score_samples([[3.0, 70.0]])[0])
    True
    """

    _estimator_type = "DensityEstimator"
    _target = None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, source: Optional[str] = None) -> "AccreteDensity":
        """Learn how the rows of X are spread."""
        X, columns = self._begin(X)
        self._learn(columns, self._weights(sample_weight, len(columns[0])), source, "gaussian")
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None, source: Optional[str] = None) -> "AccreteDensity":
        """Learn more rows."""
        if not self._is_fitted():
            return self.fit(X, y, sample_weight, source)
        names, kinds = self._parts()
        columns = _table.columns_of(self._again(X), names, kinds)
        self._more(columns, self._weights(sample_weight, len(columns[0])), source)
        return self

    def score_samples(self, X: Any) -> Any:
        """The natural log of the density at each row; missing cells are integrated out."""
        return _floats(self._ask(X, density=True)["log_density"])

    def score(self, X: Any, y: Any = None) -> float:
        """The sum of the logs of the density."""
        return float(sum(_listed(self.score_samples(X))))
