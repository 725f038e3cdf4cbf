"""Tables as people have them in Python, as columns, rows of JSON and Parquet files.

A table is an array, a frame of pandas (or what turns into one), a list of
rows, a list of dictionaries, or a dictionary of columns. Numbers are numbers;
texts, categories, and true and false are names; dates are dates; None, NaN and
NaT are missing cells.
"""

from __future__ import annotations

import datetime
import math
import numbers
import struct
import sys
from array import array
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple

try:  # used where it is there
    import numpy as np
except ImportError:  # pragma: no cover
    np = None  # type: ignore

__all__ = ["Column", "columns_of", "rows_of", "write_parquet", "text_of"]

NUMBER, NAME, DATE = "number", "name", "date"


class Column:
    """A column: numbers (NaN is missing), names by codes (-1 is missing), or microseconds since 1970."""

    __slots__ = ("name", "kind", "data", "values")

    def __init__(self, name: str, kind: str, data: Any, values: Optional[List[str]] = None) -> None:
        self.name, self.kind, self.data, self.values = name, kind, data, values

    def __len__(self) -> int:
        return len(self.data)


def text_of(value: Any) -> str:
    """A value as a name: what is equal in Python has one name.

    >>> [text_of(v) for v in ("a", True, 3, 3.0, 2.5)]
    ['a', 'true', '3', '3', '2.5']
    """
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool) or np is not None and isinstance(value, np.bool_):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        x = float(value)
        return str(int(x)) if x.is_integer() and abs(x) < 1e15 else repr(x)
    return str(value)


def is_missing(value: Any) -> bool:
    if value is None:
        return True
    if isinstance(value, float):
        return value != value
    if type(value).__name__ in ("NAType", "NaTType"):
        return True
    try:
        return bool(value != value) and not isinstance(value, (str, bytes))
    except (TypeError, ValueError):
        return False


def _finite(data: Any, name: str) -> Any:
    """Numbers that are checked: infinity is no number that can be learnt from."""
    if np is not None:
        if np.isinf(data).any():
            raise ValueError("Input X contains infinity or a value too large for dtype('float64'), in column %s." % name)
    elif any(math.isinf(x) for x in data):
        raise ValueError("Input X contains infinity, in column %s." % name)
    return data


def _number(name: str, data: Any) -> Column:
    data = np.asarray(data, dtype=np.float64) if np is not None else array("d", data)
    return Column(name, NUMBER, _finite(data, name))


def _names(name: str, codes: Any, values: Iterable[Any]) -> Column:
    """Names by codes; values with the same name become one."""
    texts = [text_of(v) for v in values]
    codes = np.asarray(codes, dtype=np.int32) if np is not None else array("i", codes)
    if len(set(texts)) < len(texts):
        first: Dict[str, int] = {}
        recode = [first.setdefault(t, len(first)) for t in texts] + [-1]
        texts = list(first)
        codes = np.asarray(recode, dtype=np.int32)[codes] if np is not None else array("i", (recode[c] for c in codes))
    return Column(name, NAME, codes, texts)


def _of_values(name: str, values: Sequence[Any], want: Optional[str] = None) -> Column:
    """A column of Python's values."""
    kinds = set()
    known = [not is_missing(v) for v in values]
    for v, k in zip(values, known):
        if not k:
            continue
        if isinstance(v, (str, bytes, bool)) or np is not None and isinstance(v, np.bool_):
            kinds.add(NAME)
        elif isinstance(v, numbers.Real):
            kinds.add(NUMBER)
        elif isinstance(v, (datetime.date, datetime.datetime)) or np is not None and isinstance(v, np.datetime64):
            kinds.add(DATE)
        elif isinstance(v, numbers.Complex):
            raise ValueError("Complex data not supported: %r in column %s" % (v, name))
        elif isinstance(v, (numbers.Number, datetime.timedelta)):  # Decimal, which databases give, too
            kinds.add(NUMBER)
        elif want == NAME:
            kinds.add(NAME)
        else:
            raise TypeError("a cell must be a string or a number: argument must be a string or a real number, not %r (column %s)" % (type(v).__name__, name))
    kind = want or (NAME if NAME in kinds or len(kinds) > 1 else (kinds.pop() if kinds else NUMBER))
    if kind == NUMBER:
        return _number(name, [_real(v, name) if k else math.nan for v, k in zip(values, known)])
    if kind == DATE:
        return Column(name, DATE, [_micros(v) if k else None for v, k in zip(values, known)])
    first: Dict[str, int] = {}
    codes = [first.setdefault(text_of(v), len(first)) if k else -1 for v, k in zip(values, known)]
    return _names(name, codes, list(first))


_EPOCH = datetime.datetime(1970, 1, 1)


def _micros(value: Any) -> int:
    if np is not None and isinstance(value, np.datetime64):
        return int(value.astype("datetime64[us]").astype(np.int64))
    if not isinstance(value, datetime.datetime):
        value = datetime.datetime(value.year, value.month, value.day)
    if value.tzinfo is not None:
        value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return (value - _EPOCH) // datetime.timedelta(microseconds=1)


def _of_series(name: str, series: Any, want: Optional[str] = None) -> Column:
    """A column of a frame of pandas."""
    import pandas as pd  # type: ignore

    dtype = series.dtype
    kind = getattr(dtype, "kind", "O")
    if str(dtype) == "category":
        if want == NUMBER:
            return _number(name, pd.to_numeric(series.astype(object)).to_numpy(dtype=np.float64, na_value=np.nan))
        return _names(name, series.cat.codes.to_numpy(), series.cat.categories)
    if kind == "c":
        raise ValueError("Complex data not supported, in column %s" % name)
    if kind == "b" or str(dtype) == "boolean":
        codes, values = pd.factorize(series)
        return _number(name, series.to_numpy(dtype=np.float64, na_value=np.nan)) if want == NUMBER else _names(name, codes, values)
    if kind in "iuf":
        if want == NAME:
            codes, values = pd.factorize(series)
            return _names(name, codes, values)
        return _number(name, series.to_numpy(dtype=np.float64, na_value=np.nan))
    if kind == "M" or str(dtype).startswith("datetime64"):
        stamps = series.dt.tz_convert("UTC").dt.tz_localize(None) if getattr(series.dt, "tz", None) is not None else series
        stamps = stamps.to_numpy(dtype="datetime64[us]")
        return Column(name, DATE, [None if gone else int(x) for x, gone in zip(stamps.astype(np.int64), np.isnat(stamps))])
    if kind == "m":
        return _number(name, series.dt.total_seconds())
    if want != NUMBER:
        codes, values = pd.factorize(series)
        if want == NAME or all(isinstance(v, str) for v in values):
            return _names(name, codes, values)
    return _of_values(name, series.tolist(), want)


def is_frame(x: Any) -> bool:
    kind = type(x)  # to ask a frame itself may make columns
    return hasattr(kind, "iloc") and hasattr(kind, "itertuples")


def as_table(x: Any) -> Any:
    """What is no table yet, as one: an array, a frame, a dictionary of columns or a list of rows."""
    if hasattr(type(x), "tocsr"):
        raise TypeError("A sparse matrix was passed, but dense data is required; use X.toarray() to convert it to a dense array")
    if is_frame(x) or isinstance(x, dict):
        return x
    if hasattr(x, "to_pandas"):  # Arrow, Polars
        try:
            return x.to_pandas()
        except ImportError:  # without pandas
            return x.to_pydict() if hasattr(x, "to_pydict") else x.to_dict(as_series=False)
    if isinstance(x, (list, tuple)) and x and isinstance(x[0], dict):
        names: Dict[str, None] = {}
        for row in x:
            names.update(dict.fromkeys(row))
        return {name: [row.get(name) for row in x] for name in names}
    if np is not None and not isinstance(x, np.ndarray):
        if isinstance(x, (list, tuple)) and x and isinstance(x[0], (list, tuple)) and any(isinstance(c, str) or c is None for c in x[0]):
            x = np.array([list(row) for row in x], dtype=object)
        else:
            x = np.asarray(x)
    if np is not None:
        if x.ndim != 2:
            raise ValueError(
                "Expected 2D array, got %s instead: Reshape your data either using array.reshape(-1, 1) if your data has a single "
                "feature or array.reshape(1, -1) if it contains a single sample." % ("scalar array" if x.ndim == 0 else "%dD array" % x.ndim)
            )
        if x.dtype.kind == "c":
            raise ValueError("Complex data not supported")
        return x
    rows = [list(row) for row in x]
    if any(len(row) != len(rows[0]) for row in rows):
        raise ValueError("rows have different numbers of cells")
    return rows


def shape_of(x: Any) -> Tuple[int, int]:
    """Rows and columns of a table."""
    if isinstance(x, dict):
        lengths = {len(v) for v in x.values()}
        if len(lengths) > 1:
            raise ValueError("columns have different numbers of cells: %s" % sorted(lengths))
        return (lengths.pop() if lengths else 0), len(x)
    if isinstance(x, list):
        return len(x), len(x[0]) if x else 0
    return x.shape[0], x.shape[1]


def names_of(x: Any) -> Optional[List[str]]:
    """The names of a table's columns, if it has such."""
    if isinstance(x, dict):
        return [str(name) for name in x]
    if is_frame(x) and all(isinstance(name, str) for name in x.columns):
        return [str(name) for name in x.columns]
    return None


def columns_of(x: Any, names: Sequence[str], wants: Optional[Sequence[str]] = None) -> List[Column]:
    """The columns of a table under these names; wants says what they are to be read as."""
    want = list(wants) if wants is not None else [None] * len(names)  # type: ignore
    if isinstance(x, dict):
        return [_of_any(n, v, w) for n, v, w in zip(names, x.values(), want)]
    if is_frame(x):
        return [_of_series(n, x.iloc[:, i], want[i]) for i, n in enumerate(names)]
    if isinstance(x, list):
        return [_of_values(n, [row[i] for row in x], want[i]) for i, n in enumerate(names)]
    if x.dtype.kind in "iuf" and all(w in (None, NUMBER) for w in want):
        whole = np.array(x.T, dtype=np.float64, order="C")
        if np.isinf(whole).any():
            raise ValueError("Input X contains infinity or a value too large for dtype('float64').")
        return [Column(n, NUMBER, whole[i]) for i, n in enumerate(names)]
    if x.dtype.kind == "b":
        return [_names(n, x[:, i], [False, True]) if want[i] != NUMBER else _number(n, x[:, i]) for i, n in enumerate(names)]
    return [_of_values(n, x[:, i].tolist(), want[i]) for i, n in enumerate(names)]


def _of_any(name: str, values: Any, want: Optional[str]) -> Column:
    if hasattr(values, "iloc"):
        return _of_series(name, values, want)
    if np is not None and isinstance(values, np.ndarray) and values.dtype.kind in "iuf" and want in (None, NUMBER):
        return _number(name, values)
    return _of_values(name, list(values), want)


def _real(value: Any, name: str) -> float:
    """A number; of a span of time its seconds."""
    try:
        return value.total_seconds() if hasattr(value, "total_seconds") else float(value)
    except ValueError:
        raise ValueError("column %s has numbers: could not convert string to float: %r" % (name, value)) from None


def _cell(value: Any, kind: str, name: str) -> Any:
    """A cell as JSON has it."""
    if value is None:
        return None
    if kind == NUMBER:
        x = _real(value, name) if not is_missing(value) else math.nan
        if x - x == 0:
            return x
        if x == x:
            raise ValueError("Input X contains infinity or a value too large for dtype('float64').")
        return None
    if is_missing(value):
        return None
    if kind == DATE:
        return (_EPOCH + datetime.timedelta(microseconds=_micros(value))).isoformat()
    return text_of(value)


def rows_of(x: Any, names: Sequence[str], wants: Sequence[str]) -> List[Dict[str, Any]]:
    """Few rows, as JSON has them."""
    if isinstance(x, dict):
        rows: Any = zip(*(list(v) for v in x.values()))
    elif is_frame(x):
        rows = x.to_numpy(dtype=object).tolist()
    elif isinstance(x, list):
        rows = x
    else:
        rows = x.tolist()
    return [{n: _cell(v, k, n) for n, v, k in zip(names, row, wants)} for row in rows]


# Parquet, as far as it is needed: flat columns, one page a column and group,
# numbers as they are, names by a dictionary. A file of it holds what memory
# does, so that to write it costs no more than to copy.

_INT64, _DOUBLE, _BYTES = 2, 5, 6
_PLAIN, _RLE, _BY_DICTIONARY = 0, 3, 8
_GROUP = 1 << 20  # rows


def _varint(n: int) -> bytes:
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def _struct(*fields: Tuple[int, str, Any]) -> bytes:
    """A structure of Thrift's compact protocol, of fields (id, type, value) with rising ids."""
    out, last = bytearray(), 0
    for number, kind, value in fields:
        code, content = _coded(kind, value)
        out.append((number - last) << 4 | code)
        out += content
        last = number
    return bytes(out) + b"\0"


def _coded(kind: str, value: Any) -> Tuple[int, bytes]:
    if kind == "i32" or kind == "i64":
        return (5 if kind == "i32" else 6), _varint(value << 1 ^ value >> 63)
    if kind == "text":
        content = value.encode("utf-8")
        return 8, _varint(len(content)) + content
    if kind == "struct":
        return 12, value
    if kind == "true":
        return 1, b""
    element = kind[len("list of ") :]
    parts = [_coded(element, v) for v in value]
    code = parts[0][0] if parts else 12
    head = bytes([len(parts) << 4 | code]) if len(parts) < 15 else bytes([0xF0 | code]) + _varint(len(parts))
    return 9, head + b"".join(content for _, content in parts)


def _little(data: Any) -> bytes:
    """The bytes of an array, the least significant first."""
    if np is not None and isinstance(data, np.ndarray):
        return data.astype(data.dtype.newbyteorder("<"), copy=False).tobytes()
    if sys.byteorder == "big":
        data = array(data.typecode, data)
        data.byteswap()
    return data.tobytes()


def _runs(n: int, packed: bytes) -> bytes:
    """One run of packed bits of n values."""
    return _varint((n + 7) // 8 << 1 | 1) + packed


def _levels(known: Sequence[bool]) -> bytes:
    """Which of the values are known."""
    n = len(known)
    if np is not None:
        packed = np.packbits(np.asarray(known, dtype=bool), bitorder="little").tobytes()
    else:
        bits = bytearray((n + 7) // 8)
        for i, k in enumerate(known):
            if k:
                bits[i >> 3] |= 1 << (i & 7)
        packed = bytes(bits)
    runs = _runs(n, packed)
    return struct.pack("<I", len(runs)) + runs


def _page(kind: int, content: bytes, values: int, encoding: int) -> bytes:
    head: List[Tuple[int, str, Any]] = [(1, "i32", kind), (2, "i32", len(content)), (3, "i32", len(content))]
    if kind == 0:
        head.append((5, "struct", _struct((1, "i32", values), (2, "i32", encoding), (3, "i32", _RLE), (4, "i32", _RLE))))
    else:
        head.append((7, "struct", _struct((1, "i32", values), (2, "i32", encoding))))
    return _struct(*head) + content


class _Written:
    """How a column is written: its type, and the pages of some of its rows."""

    def __init__(self, column: Column) -> None:
        self.column, self.optional, self.dictionary = column, False, b""
        if column.kind == NUMBER:
            self.type = _DOUBLE
        elif column.kind == DATE:
            self.type, self.optional = _INT64, any(v is None for v in column.data)
        else:
            self.type = _BYTES
            gone = column.data < 0 if np is not None else [c < 0 for c in column.data]
            self.optional = bool(gone.any()) if np is not None else any(gone)
            values = [v.encode("utf-8", "replace") for v in column.values or []]
            self.dictionary = _page(2, b"".join(struct.pack("<I", len(v)) + v for v in values), len(values), _PLAIN)

    def schema(self) -> bytes:
        fields: List[Tuple[int, str, Any]] = [(1, "i32", self.type), (3, "i32", int(self.optional)), (4, "text", self.column.name)]
        if self.type == _BYTES:
            fields += [(6, "i32", 0), (10, "struct", _struct((1, "struct", _struct())))]
        elif self.type == _INT64:
            micros = _struct((2, "struct", _struct()))
            fields += [(6, "i32", 10), (10, "struct", _struct((8, "struct", _struct((1, "true", True), (2, "struct", micros)))))]
        return _struct(*fields)

    def page(self, lo: int, hi: int) -> bytes:
        data = self.column.data[lo:hi]
        if self.type == _DOUBLE:
            return _page(0, _little(data), hi - lo, _PLAIN)
        if self.type == _INT64:
            known = [v is not None for v in data]
            values = _little(array("q", [v for v in data if v is not None]))
            return _page(0, (_levels(known) if self.optional else b"") + values, hi - lo, _PLAIN)
        levels, codes = b"", data
        if self.optional:
            known = data >= 0 if np is not None else [c >= 0 for c in data]
            levels = _levels(known)
            codes = data[known] if np is not None else [c for c in data if c >= 0]
        many = len(self.column.values or [])
        width, numpys, kind = (8, "<u1", "B") if many <= 1 << 8 else (16, "<u2", "H") if many <= 1 << 16 else (32, "<u4", "I")
        packed = codes.astype(numpys).tobytes() if np is not None else _little(array(kind, codes))
        packed += b"\0" * (-len(codes) % 8 * (width // 8))
        return _page(0, levels + bytes([width]) + _runs(len(codes), packed), hi - lo, _BY_DICTIONARY)


def write_parquet(to: Any, columns: Sequence[Column]) -> None:
    """Write columns to a binary file, as Parquet."""
    rows = len(columns[0]) if columns else 0
    written = [_Written(c) for c in columns]
    to.write(b"PAR1")
    at, groups = 4, []
    for lo in range(0, rows, _GROUP) or [0]:
        hi = min(rows, lo + _GROUP)
        chunks, begin = [], at
        for w in written:
            page = w.page(lo, hi)
            fields: List[Tuple[int, str, Any]] = [
                (1, "i32", w.type),
                (2, "list of i32", [_PLAIN, _RLE, _BY_DICTIONARY] if w.dictionary else [_PLAIN, _RLE]),
                (3, "list of text", [w.column.name]),
                (4, "i32", 0),
                (5, "i64", hi - lo),
                (6, "i64", len(w.dictionary) + len(page)),
                (7, "i64", len(w.dictionary) + len(page)),
                (9, "i64", at + len(w.dictionary)),
            ]
            if w.dictionary:
                fields.append((11, "i64", at))
            chunks.append(_struct((2, "i64", at), (3, "struct", _struct(*fields))))
            to.write(w.dictionary)
            to.write(page)
            at += len(w.dictionary) + len(page)
        groups.append(_struct((1, "list of struct", chunks), (2, "i64", at - begin), (3, "i64", hi - lo)))
    root = _struct((4, "text", "schema"), (5, "i32", len(columns)))
    footer = _struct(
        (1, "i32", 1),
        (2, "list of struct", [root] + [w.schema() for w in written]),
        (3, "i64", rows),
        (4, "list of struct", groups),
        (6, "text", "accrete for Python"),
    )
    to.write(footer + struct.pack("<I", len(footer)) + b"PAR1")
