"""A model: what it knows, and what can be done with it."""

from __future__ import annotations

import base64
import html
import os
import weakref
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import _table
from ._errors import AccreteError
from ._session import Session, default, quote, session_of

try:  # used where it is there
    import numpy as np
except ImportError:  # pragma: no cover
    np = None  # type: ignore

__all__ = ["Model", "Answer", "Picture", "learn", "open_model", "load", "diff", "merge", "evaluate", "compare"]

# Texts mean what they say: NA and ? are names in Python, where missing cells are None.
LITERALLY = [""]


class Answer(Dict[str, Any]):
    """What was answered: a dictionary, whose keys are attributes too.

    >>> Answer(prediction="republican").prediction
    'republican'
    """

    def __getattr__(self, key: str) -> Any:
        try:
            return self[key]
        except KeyError:
            raise AttributeError(key) from None

    def __dir__(self) -> List[str]:
        return sorted(set(super().__dir__()) | set(map(str, self)))


class Explanation(Answer):
    """An answer with its reasons."""

    def lines(self) -> List[str]:
        """The answer, and what each rule adds for it."""
        said = self.get("prediction")
        by = self.get("probabilities") or {}
        first = "%s" % (said,) + (" (%.0f %%)" % (100 * by[said]) if said in by else "")
        # What each rule adds for the class that is said.
        weight = lambda e: (e.get("weights") or {}).get(said, e.get("weight", 0))  # noqa: E731
        return [first] + ["%+.2f  %s" % (weight(e), e.get("text", "")) for e in self.get("evidence") or []]

    def __str__(self) -> str:
        return "\n  ".join(self.lines())

    def _repr_html_(self) -> str:
        first, *rest = self.lines()
        return "<p><b>%s</b></p><ul>%s</ul>" % (html.escape(first), "".join("<li>%s</li>" % html.escape(r) for r in rest))


class Picture(str):
    """An SVG picture, which a notebook shows.

    >>> Picture("<svg/>")._repr_html_()
    '<img src="data:image/svg+xml;base64,PHN2Zy8+" style="max-width:100%"/>'
    """

    def _repr_html_(self) -> str:
        # As an image it cannot run anything.
        return '<img src="data:image/svg+xml;base64,%s" style="max-width:100%%"/>' % base64.b64encode(self.encode("utf-8")).decode()

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Write it to a file."""
        with open(path, "w", encoding="utf-8") as f:
            f.write(self)


def frame(rows: List[Dict[str, Any]]) -> Any:
    """Rows as a data frame, or, without pandas, as they are."""
    try:
        import pandas as pd  # type: ignore
    except ImportError:
        return rows
    return pd.DataFrame(rows)


def _said(rule: Dict[str, Any]) -> str:
    """A rule in words."""
    return "".join(p["text"] for p in rule["say"]) if rule.get("say") else str(rule.get("text", ""))


def _rule_row(rule: Dict[str, Any]) -> Dict[str, Any]:
    """A rule as a row of a table; what is a list of parts comes last, as it is."""
    first = {"id": rule.get("id"), "sentence": _said(rule), "text": rule.get("text"), "then": (rule.get("then") or {}).get("value")}
    for key in ("probability", "low", "high", "covered", "correct", "bits", "weight", "worth", "state"):
        first[key] = rule.get(key)
    first["decides"] = (rule.get("decides") or {}).get("rows")
    first["sources"] = [s.get("source") if isinstance(s, dict) else s for s in rule.get("sources") or []]
    first["if"] = rule.get("if")
    return first


class Model:
    """A model that lives in a session, at one version of it.

    >>> model = learn("votes")
    >>> model.predict([{"physician-fee-freeze": "n"}])[0]
    'democrat'
    >>> print(model.sentences()[2])
    When adoption-of-the-budget-resolution = y, democrat in 231 of 253 cases (91 %; usually 61 %).
    """

    def __init__(self, session: Session, name: str, kept: bool = True) -> None:
        self._session, self.name = session, name
        if not kept:
            weakref.finalize(self, session._discard, name).atexit = False
        self._schema: Optional[Tuple[List[str], List[str], Optional[str]]] = None

    @property
    def _path(self) -> str:
        return "/v1/models/" + quote(self.name)

    def describe(self) -> Answer:
        """What it is: columns, target, learner, settings, versions, abilities."""
        return Answer(self._session.request("GET", self._path + "?plain=1"))

    @property
    def version(self) -> int:
        """The newest version's number."""
        return int(self.describe()["version"])

    def _columns(self) -> Tuple[List[str], List[str], Optional[str]]:
        """Names and kinds of the columns, and the target."""
        if self._schema is None:
            about = self.describe()
            kinds = {"numeric": _table.NUMBER, "date": _table.DATE, "time": _table.DATE}
            names = [c["name"] for c in about["columns"]]
            self._schema = names, [kinds.get(c["kind"], _table.NAME) for c in about["columns"]], about["target"]
        return self._schema

    # Answers.
    def answers(self, data: Any, names: Sequence[str], wants: Sequence[str], density: bool = False) -> Answer:
        """Answers for a table, in columns: predictions as codes, probabilities row after row."""
        columns = _table.columns_of(data, names, wants)
        with self._session.table(lambda f: _table.write_parquet(f, columns)) as where:
            body: Dict[str, Any] = {"data": where}
            if density:
                body["density"] = True
            return Answer(self._session.request("POST", self._path + "/predict", body))

    def _fitted(self, data: Any) -> Tuple[Any, List[str], List[str]]:
        """A table, and which of the model's columns it has, as what."""
        names, kinds, _ = self._columns()
        data = _table.as_table(data)
        have = _table.names_of(data)
        if have is None:
            have = names[: _table.shape_of(data)[1]]
        kind = dict(zip(names, kinds))
        return data, have, [kind.get(n, _table.NAME) for n in have]

    def _rows(self, data: Any) -> List[Dict[str, Any]]:
        if isinstance(data, dict) and not any(isinstance(v, (list, tuple)) or getattr(v, "ndim", 0) > 0 for v in data.values()):
            data = [data]
        elif hasattr(data, "to_dict") and not _table.is_frame(data):  # a row of a frame
            data = [data.to_dict()]
        data, names, kinds = self._fitted(data)
        known = set(self._columns()[0])
        return [{k: v for k, v in row.items() if k in known} for row in _table.rows_of(data, names, kinds)]

    def predict(self, data: Any) -> List[Any]:
        """Answers for rows: classes or numbers."""
        answers = self._session.request("POST", self._path + "/predict", {"rows": self._rows(data)})
        return [a["prediction"] for a in answers["predictions"]]

    def predict_proba(self, data: Any) -> List[Dict[str, float]]:
        """The probability of each class, for rows."""
        answers = self._session.request("POST", self._path + "/predict", {"rows": self._rows(data)})
        return [a["probabilities"] for a in answers["predictions"]]

    def explain(self, row: Any, change_to: Optional[str] = None, fixed: Sequence[str] = ()) -> Explanation:
        """Why the answer for a row is what it is; with change_to, what would make it another.

        >>> said = learn("votes").explain({"physician-fee-freeze": "y"})
        >>> said.prediction
        'republican'
        """
        body: Dict[str, Any] = {"row": self._rows(row)[0]}
        if change_to is not None or fixed:
            body["change"] = {"to": change_to or "", "fixed": list(fixed)}
        said = Explanation(self._session.request("POST", self._path + "/explain", body))
        if "change" in body:
            said.setdefault("changes", [])
        return said

    def ask(self, question: str) -> List[Answer]:
        """Any column, given any others.

        >>> learn("votes").ask("physician-fee-freeze=y, class=?")[0].variable
        'class'
        """
        answers = self._session.request("POST", self._path + "/ask", {"question": question})
        return [Answer(a) for a in answers.get("answers") or answers.get("bindings") or []]

    # What it knows.
    def rules(self, top: Optional[int] = None, formal: bool = False) -> Any:
        """Its rules, with their evidence, as a data frame: in words, in the rule language, and in figures."""
        query = "&".join((["top=%d" % top] if top is not None else []) + (["formal=1"] if formal else []))
        known = self._session.request("GET", self._path + "/rules" + ("?" + query if query else ""))
        return frame([_rule_row(r) for r in known.get("rules") or []])

    def sentences(self, top: Optional[int] = None) -> List[str]:
        """Its rules, in words for people."""
        query = "?top=%d" % top if top is not None else ""
        known = self._session.request("GET", self._path + "/rules" + query)
        return [_said(r) for r in known.get("rules") or []]

    def draw(self, **how: Any) -> Picture:
        """A picture of it: columns="x,y", regions="x,y", curve="accuracy", network=True."""
        query = "&".join("%s=%s" % (k, quote(_setting(v))) for k, v in how.items())
        return Picture(self._session.request("GET", self._path + "/draw" + ("?" + query if query else "")))

    def log(self) -> List[Dict[str, Any]]:
        """What each version learnt, from where and when."""
        return self._session.request("GET", self._path + "/log")["versions"]

    # What is done to it. Each makes a version.
    def update(self, data: Any, source: Optional[str] = None, weight: Any = None) -> Answer:
        """Learn more rows: a table with the target's column, or the name of a built-in set."""
        if isinstance(data, str):
            return self._learnt("/update", {"data": data, **({"source": source} if source else {})})
        data, names, kinds = self._fitted(data)
        return self.update_columns(_table.columns_of(data, names, kinds), source, weight)

    def update_columns(self, columns: List[_table.Column], source: Optional[str], weight: Any = None) -> Answer:
        """Learn more rows, which are columns already."""
        columns, body = weighed(columns, weight)
        with self._session.table(lambda f: _table.write_parquet(f, columns)) as where:
            body.update(data=where, source=source or "rows%d" % (self.version + 1), missing=LITERALLY)
            return self._learnt("/update", body)

    def _learnt(self, route: str, body: Dict[str, Any]) -> Answer:
        self._schema = None
        return Answer(self._session.job(self._path + route, body, self.name))

    def _changed(self, route: str, **body: Any) -> Answer:
        self._schema = None
        return Answer(self._session.request("POST", self._path + route, {k: v for k, v in body.items() if v not in (None, "", False)}))

    def tell(self, rules: str, worth: Optional[float] = None, note: str = "", preview: bool = False) -> Answer:
        """Tell it what somebody knows, in the rule language, and what that is worth in cases.

        >>> told = learn("votes").tell("IF synfuels-corporation-cutback = y THEN class = democrat WITH 0.9", worth=20)
        >>> told.told[0]["state"]
        'confirmed'
        """
        return self._changed("/tell", rules=rules, worth=worth, note=note, preview=preview)

    def forget(self, source: Optional[str] = None, rule: Optional[str] = None, erase: bool = False, note: str = "", preview: bool = False) -> Answer:
        """Take back out what a source brought, or a rule that was told."""
        return self._changed("/forget", source=source, rule=rule, erase=erase, note=note, preview=preview)

    def strike(self, rule: str, note: str = "", preview: bool = False) -> Answer:
        """Leave a learnt rule out."""
        return self._changed("/strike", rule=rule, note=note, preview=preview)

    def restore(self, version: int) -> Answer:
        """Make an old version the newest again."""
        return self._changed("/restore", version=version)

    def undo(self) -> Answer:
        """Take the last correction back."""
        return self._changed("/undo")

    def diff(self, other: Union["Model", str, int, None] = None, on: Any = None) -> Answer:
        """What changed: from another model, or from an older version of this one (by its number), to this.

        Rows whose answer flips are looked for on a table or a built-in set.
        """
        return diff(other if other is not None else max(1, self.version - 1), self, on)

    def merge(self, other: "Model") -> "Model":
        """The model of what both learnt."""
        return merge(self, other)

    def evaluate(self, data: Any, target: Any = None) -> Answer:
        """How well it does on rows whose answers are known: in their table, or beside it as target."""
        if isinstance(data, str):
            return Answer(self._session.job("/v1/evaluate", {"model": self.name, "on": data}))
        data, names, kinds = self._fitted(data)
        columns = _table.columns_of(data, names, kinds)
        if target is not None:
            known, what, name = self._columns()
            if name is None:
                raise AccreteError("the model has no target, to which answers could be compared")
            columns = [c for c in columns if c.name != name]
            columns.append(_table._of_any(name, target, what[known.index(name)]))
        with self._session.table(lambda f: _table.write_parquet(f, columns)) as where:
            return Answer(self._session.job("/v1/evaluate", {"model": self.name, "on": where}))

    # Where it is kept.
    def dumps(self) -> bytes:
        """It as bytes, which load and accrete import read."""
        content = self._session.request("GET", self._path + "/export")
        return content if isinstance(content, bytes) else content.encode("utf-8")

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Write it to a file, which load and accrete import read."""
        with open(path, "wb") as f:
            f.write(self.dumps())

    def __reduce__(self) -> Any:
        return (loads, (self.dumps(),))

    def __deepcopy__(self, _: Any) -> "Model":
        return loads(self.dumps(), self._session)

    def __repr__(self) -> str:
        try:
            about = self.describe()
        except AccreteError as err:
            return "<accrete model %s: %s>" % (self.name, err)
        return "<accrete model of %s: %s, %g rows, %d rules, version %d>" % (
            about["target"] or "a density", about["learner"], about["rows"], about["rules"], about["version"])

    def _repr_html_(self) -> str:
        parts = ["<p><b>%s</b></p>" % html.escape(repr(self).strip("<>"))]
        try:
            sentences = self.sentences(top=10)
        except AccreteError:
            sentences = []
        if sentences:
            parts.append("<ol>%s</ol>" % "".join("<li>%s</li>" % html.escape(s) for s in sentences))
        try:
            parts.append(self.draw()._repr_html_())
        except AccreteError:
            pass
        return "\n".join(parts)


def _setting(value: Any) -> str:
    """A setting as it is written: lists by commas, true and false in small letters."""
    if isinstance(value, (list, tuple)):
        return ",".join(map(_setting, value))
    return _table.text_of(value)


def settings_of(settings: Optional[Mapping[str, Any]]) -> Dict[str, str]:
    return {str(k).replace("_", "-"): _setting(v) for k, v in (settings or {}).items() if v is not None}


def weighed(columns: List[_table.Column], weight: Any) -> Tuple[List[_table.Column], Dict[str, Any]]:
    """Columns with one of weights, and how to read it."""
    if weight is None:
        return columns, {}
    name = free_name("weight", [c.name for c in columns])
    return columns + [_table._number(name, weight)], {"weight": name}


def free_name(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name


def learn(
    data: Any,
    target: Optional[str] = None,
    learner: Optional[str] = None,
    settings: Optional[Mapping[str, Any]] = None,
    rules: Optional[str] = None,
    worth: Optional[float] = None,
    seed: int = 1,
    name: Optional[str] = None,
    source: Optional[str] = None,
    where: Union[None, str, Session] = None,
) -> Model:
    """Learn a model of a table, which has the target's column, or of a built-in set by its name.

    >>> learn({"wind": ["weak", "strong", "weak", "strong"], "play": ["yes", "no", "yes", "no"]}, target="play").predict([{"wind": "weak"}])
    ['yes']
    """
    session = session_of(where)
    how: Dict[str, Any] = dict(target=target, learner=learner, settings=settings_of(settings), rules=rules, worth=worth, seed=seed)
    if isinstance(data, str):
        return learn_table(session, data, name, source=source, **how)
    data = _table.as_table(data)
    names = _table.names_of(data) or ["x%d" % i for i in range(_table.shape_of(data)[1])]
    return learn_columns(session, _table.columns_of(data, names), name, source=source, **how)


def learn_columns(session: Session, columns: List[_table.Column], name: Optional[str], weight: Any = None, **how: Any) -> Model:
    """Learn a model of columns, each read as what it is."""
    columns, read = weighed(columns, weight)
    read["missing"] = LITERALLY
    read["nominal"] = [c.name for c in columns if c.kind == _table.NAME]
    read["numeric"] = [c.name for c in columns if c.kind == _table.NUMBER and c.name != read.get("weight")]
    how["source"] = how.get("source") or "rows1"
    with session.table(lambda f: _table.write_parquet(f, columns)) as where:
        return learn_table(session, where, name, **how, **read)


def learn_table(session: Session, data: str, name: Optional[str], **how: Any) -> Model:
    body = {k: v for k, v in how.items() if v not in (None, "", {}, [])}
    called = name or session.new_name("m")
    body.update(data=data, name=called, folds=0)
    session.job("/v1/learn", body, called)
    return Model(session, called, kept=name is not None)


def dataset(name: str, where: Union[None, str, Session] = None) -> Any:
    """A built-in set as a data frame; the command accrete datasets lists them.

    >>> len(dataset("weather"))
    14
    """
    session, rows = session_of(where), []  # type: ignore
    while True:
        some = session.request("GET", "/v1/data/%s/rows?limit=1000&offset=%d" % (quote(name), len(rows)))
        rows += some["rows"]
        if not some["rows"] or len(rows) >= some["of"]:
            break
    names = [c["name"] for c in session.request("GET", "/v1/data/" + quote(name))["columns"]]
    return frame([{n: row.get(n) for n in names} for row in rows])


def open_model(name: str, where: Union[None, str, Session] = None) -> Model:
    """A model of a store or a server, by its name."""
    model = Model(session_of(where), name)
    model.describe()
    return model


def loads(content: bytes, where: Union[None, str, Session] = None) -> Model:
    """A model from its bytes (see Model.dumps)."""
    session = session_of(where)
    name = session.new_name("m")
    session.request("POST", "/v1/import?name=" + quote(name), content, {"Content-Type": "application/octet-stream"})
    return Model(session, name, kept=False)


def load(path: Union[str, "os.PathLike[str]"], where: Union[None, str, Session] = None) -> Model:
    """A model from a file that Model.save or accrete export wrote."""
    with open(path, "rb") as f:
        return loads(f.read(), where)


def _model_of(one: Any) -> Model:
    if isinstance(one, Model):
        return one
    model = getattr(one, "model_", None)
    if isinstance(model, Model):
        return model
    raise TypeError("expected a model or an estimator that learnt, got %r" % (one,))


def diff(before: Any, after: Any, on: Any = None) -> Answer:
    """What one model knows and another does not: rules added, dropped, stronger, weaker, and rows whose answer flips.

    >>> model = learn("votes")
    >>> told = model.tell("IF synfuels-corporation-cutback = y THEN class = democrat WITH 0.95", worth=500)
    >>> changes = diff(1, model, on="votes")
    >>> len(changes.added), len(changes.flips) > 0
    (1, True)
    """
    model = _model_of(after)
    if isinstance(before, int):
        was = "%s@%d" % (model.name, before)
    elif isinstance(before, str):
        was = before
    else:
        other = _model_of(before)
        if other._session is not model._session:
            other = loads(other.dumps(), model._session)
        was = other.name
    body = {"before": was, "after": model.name}
    if isinstance(on, str):
        body["on"] = on
    if on is None or isinstance(on, str):
        return Answer(model._session.job("/v1/diff", body))
    data, names, kinds = model._fitted(on)
    columns = _table.columns_of(data, names, kinds)
    with model._session.table(lambda f: _table.write_parquet(f, columns)) as where:
        return Answer(model._session.job("/v1/diff", dict(body, on=where)))


def merge(first: Any, second: Any) -> Model:
    """The model of what two models learnt apart."""
    one, other = _model_of(first), _model_of(second)
    if other._session is not one._session:
        other = loads(other.dumps(), one._session)
    name = one._session.new_name("m")
    one._session.job("/v1/merge", {"first": one.name, "second": other.name, "name": name}, name)
    return Model(one._session, name, kept=False)


def _judging(data: Any, target: Optional[str], where: Union[None, str, Session], path: str, body: Dict[str, Any]) -> Answer:
    session = session_of(where)
    body = {k: v for k, v in body.items() if v not in (None, "", {}, [])}
    if target is not None:
        body["target"] = target
    if isinstance(data, str):
        return Answer(session.job(path, dict(body, data=data)))
    data = _table.as_table(data)
    names = _table.names_of(data) or ["x%d" % i for i in range(_table.shape_of(data)[1])]
    columns = _table.columns_of(data, names)
    body.update(missing=LITERALLY)
    body["nominal"] = [c.name for c in columns if c.kind == _table.NAME]
    with session.table(lambda f: _table.write_parquet(f, columns)) as table:
        return Answer(session.job(path, dict(body, data=table)))


def evaluate(
    data: Any, target: Optional[str] = None, learner: Optional[str] = None, settings: Optional[Mapping[str, Any]] = None,
    folds: int = 10, seed: int = 1, where: Union[None, str, Session] = None,
) -> Answer:
    """How well a learner does on rows that it has not seen, with its interval.

    >>> evaluate("votes", learner="bayes").accuracy > 0.85
    True
    """
    body = dict(learner=learner, settings=settings_of(settings), folds=folds, seed=seed)
    return _judging(data, target, where, "/v1/evaluate", body)


def compare(
    data: Any, learners: Sequence[str], target: Optional[str] = None, folds: int = 10, seed: int = 1, where: Union[None, str, Session] = None
) -> Answer:
    """Learners side by side, with their differences and intervals."""
    return _judging(data, target, where, "/v1/compare", dict(learners=list(learners), folds=folds, seed=seed))
