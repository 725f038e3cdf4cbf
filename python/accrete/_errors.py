"""What can go wrong, said in a line: what, where, what to do."""

from __future__ import annotations

import sys
from typing import Any, Optional


class AccreteError(Exception):
    """Something that was asked for cannot be done."""


class Problem(AccreteError, ValueError):
    """What the binary or the server says is wrong (RFC 9457).

    >>> Problem({"status": 422, "detail": "no such column", "remedy": "name another"})
    Problem('no such column; name another')
    """

    def __init__(self, document: Any) -> None:
        if not isinstance(document, dict):
            document = {"detail": str(document)}
        self.status: int = int(document.get("status") or 0)
        self.detail: str = str(document.get("detail") or document.get("title") or "something went wrong")
        self.remedy: str = str(document.get("remedy") or "")
        self.document = document
        says = self.remedy if "/docs" not in self.remedy else ""  # that is for who calls a server by hand
        super().__init__(self.detail + ("; " + says if says else ""))


class Died(AccreteError, RuntimeError):
    """The binary ended while it was needed; what it printed is in the message."""

    def __init__(self, status: Optional[int], printed: str) -> None:
        self.status, self.printed = status, printed
        how = "was killed by signal %d" % -status if status is not None and status < 0 else "ended with status %s" % status
        super().__init__(
            "the accrete process %s; it printed: %s\n(models that lived in it are gone: fit again, or load a pickle)"
            % (how, printed.strip() or "nothing")
        )


class OtherVersion(AccreteError, RuntimeError):
    """The binary or the server is of another version than this package."""

    def __init__(self, where: str, theirs: str, ours: str) -> None:
        self.theirs, self.ours = theirs, ours
        super().__init__(
            "%s is accrete %s, and this package is %s; install the two of one version"
            % (where, theirs or "of a version that it does not say", ours)
        )


class NotFitted(ValueError, AttributeError):
    """An estimator was asked before it learnt anything."""


def not_fitted(name: str) -> Exception:
    """The error to raise, which scikit-learn knows too where it is there."""
    text = "This %s instance is not fitted yet. Call 'fit' with appropriate arguments before using this estimator." % name
    kind: Any = NotFitted
    if "sklearn" in sys.modules:
        from sklearn.exceptions import NotFittedError  # type: ignore

        kind = type("NotFitted", (NotFitted, NotFittedError), {})
    return kind(text)
