"""Accrete: learning that people can read, correct and keep.

>>> from accrete import AccreteClassifier
>>> model = AccreteClassifier().fit([[0, 0], [1, 1], [0, 1], [1, 0]] * 10, ["no", "yes", "no", "yes"] * 10)
>>> list(model.predict([[1, 1], [0, 0]]))
['yes', 'no']
"""

from ._errors import AccreteError, Died, NotFitted, OtherVersion, Problem
from ._estimators import AccreteClassifier, AccreteDensity, AccreteRegressor
from ._model import Answer, Explanation, Model, Picture, compare, dataset, diff, evaluate, learn, load, loads, merge, open_model
from ._session import Child, Server, Session, binary, connect, default, start
from ._version import __version__

__all__ = [
    "AccreteClassifier",
    "AccreteDensity",
    "AccreteError",
    "AccreteRegressor",
    "Answer",
    "Child",
    "Died",
    "Explanation",
    "Model",
    "NotFitted",
    "OtherVersion",
    "Picture",
    "Problem",
    "Server",
    "Session",
    "__version__",
    "binary",
    "compare",
    "connect",
    "dataset",
    "default",
    "diff",
    "evaluate",
    "learn",
    "load",
    "loads",
    "merge",
    "open_model",
    "start",
]
