"""What the Python peers have in common: the data, the protocol and the clock.

A peer defines METHODS, a dictionary from a method's name to a class with
fit(table, rows), proba(table, rows) over all classes, and where it can,
update(table, row), size() in bytes and reading() as (rules, tests). encode(table)
is called once before the clock starts: conversion is not counted.
"""
import json
import os
import pickle
import statistics
import sys
import time

import numpy as np

FOLDS, BATCH, SINGLES, REPEATS = 10, 100_000, 200, 25


class Table:
    """numbers (NaN missing) and codes (-1 missing), row-major; y the class."""

    def __init__(self, folder):
        kinds = [line.split() for line in open(folder + "/columns.txt")]
        width = sum(8 if k[0] == "numeric" else 4 for k in kinds)
        path = folder + "/cells.bin"
        self.rows = os.path.getsize(path) // width
        numbers, codes, self.values = [], [], []
        with open(path, "rb") as f:
            for k in kinds:
                if k[0] == "numeric":
                    numbers.append(np.fromfile(f, "<f8", self.rows))
                else:
                    codes.append(np.fromfile(f, "<i4", self.rows))
                    self.values.append(int(k[1]))
        if kinds[-1][0] == "numeric":
            self.y, self.classes = numbers.pop(), 0
        else:
            self.y, self.classes = codes.pop(), self.values.pop()
        stack = lambda columns, kind: np.column_stack(columns) if columns else np.empty((self.rows, 0), kind)
        self.numbers, self.codes = stack(numbers, float), stack(codes, np.int32)
        if np.isinf(self.numbers).any():
            self.numbers = np.clip(self.numbers, -1e30, 1e30)
        self.missing = bool(np.isnan(self.numbers).any() or (self.codes < 0).any())

    def ordinal(self):
        """Numbers and codes side by side, for trees; missing is NaN."""
        codes = self.codes.astype(np.float32)
        codes[codes < 0] = np.nan
        return np.hstack([self.numbers.astype(np.float32), codes])

    def one_hot(self):
        """Numbers, and a column for each value of each nominal column."""
        hot = [(self.codes[:, [i]] == np.arange(k)) for i, k in enumerate(self.values)]
        return np.hstack([self.numbers] + hot) if hot else self.numbers

    def whole(self, p, classes):
        """Probabilities of the classes seen, spread over all classes."""
        if p.shape[1] == self.classes:
            return p
        out = np.zeros((len(p), self.classes))
        out[:, classes] = p
        return out


def filler(table, x):
    """Fills missing numbers with the median of the training rows x. Tables
    without missing cells are not looked at again."""
    if not table.missing:
        return lambda rows: rows
    median = np.nan_to_num(np.nanmedian(x, axis=0))
    return lambda rows: np.where(np.isnan(rows), median, rows)


def say(**part):
    print(json.dumps(part), flush=True)


def repeat(budget, times, work):
    seconds, total = [], 0.0
    while not seconds or (total < budget and len(seconds) < times):
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
        total += seconds[-1]
    return seconds, result


def say_memory():
    try:
        for line in open("/proc/self/status"):
            if line.startswith("VmHWM:"):
                say(part="memory", bytes=1024 * int(line.split()[1]))
    except OSError:
        pass


def speed(make, folder, budget):
    table = Table(folder)
    model = make()
    model.encode(table)
    say(part="loaded")

    def fit():
        fresh = make()
        fresh.x = model.x
        return fresh.fit(table, slice(None))

    seconds, model = repeat(budget, REPEATS, fit)
    say(part="fit", seconds=seconds)
    say(part="size", bytes=model.size())
    n = min(BATCH, table.rows)
    seconds, _ = repeat(budget, REPEATS, lambda: model.proba(table, slice(0, n)))
    say(part="predict", seconds=seconds, rows=n)
    rows = (slice(r, r + 1) for r in range(n))
    seconds, _ = repeat(budget, min(SINGLES, n), lambda: model.proba(table, next(rows)))
    say(part="single", seconds=seconds, rows=1)
    if hasattr(model, "update"):
        seconds, _ = repeat(budget, REPEATS, lambda: model.update(table, slice(0, 1)))
        say(part="update", seconds=seconds, rows=1)
    say_memory()


def folds(make, folder, out):
    table = Table(folder)
    fold = np.fromfile(folder + "/folds.i32", "<i4")
    p = np.zeros((table.rows, table.classes))
    readings = []
    encoded = make()
    encoded.encode(table)
    for k in range(FOLDS):
        model = make()
        model.x = encoded.x
        model.fit(table, np.flatnonzero(fold != k))
        test = np.flatnonzero(fold == k)
        p[test] = model.proba(table, test)
        if hasattr(model, "reading"):
            readings.append(model.reading())
    p.astype("<f8").tofile(out)
    part = {"part": "folds"}
    if readings:
        part["rules"] = statistics.mean(r for r, _ in readings)
        part["tests"] = statistics.mean(t for _, t in readings)
    say(**part)


def neighbours(make, folder):
    """Learns the first half of the rows and answers the others."""
    table = Table(folder)
    model = make()
    model.encode(table)
    half = table.rows // 2
    clock, busy = time.perf_counter(), time.process_time()
    model.fit(table, slice(0, half))
    say(part="fit", seconds=[time.perf_counter() - clock], cpu=time.process_time() - busy)
    clock, busy = time.perf_counter(), time.process_time()
    p = model.proba(table, slice(half, None))
    seconds, cpu = time.perf_counter() - clock, time.process_time() - busy
    say(part="predict", seconds=[seconds], cpu=cpu, rows=len(p), right=float((p.argmax(axis=1) == table.y[half:]).mean()))


def numbers(make, folder, out):
    """Answers each fold by the others: one-hot names, medians for missing
    numbers, all columns with mean 0 and deviation 1 on the training rows."""
    table = Table(folder)
    fold = np.fromfile(folder + "/folds.i32", "<i4")
    x, said = table.one_hot().astype(float), np.zeros(table.rows)
    for k in range(FOLDS):
        train, test = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        fill = filler(table, x[train])
        rows = fill(x[train])
        mean, deviation = rows.mean(axis=0), rows.std(axis=0)
        deviation[deviation == 0] = 1
        model = make().fit((rows - mean) / deviation, table.y[train])
        said[test] = model.predict((fill(x[test]) - mean) / deviation)
    said.astype("<f8").tofile(out)


def words(make, folder):
    """Reads and learns the texts of one file, and reads and answers those of another."""
    import pandas
    read = lambda name: pandas.read_csv(folder + "/" + name, keep_default_na=False, dtype=str)
    clock, busy = time.perf_counter(), time.process_time()
    rows = read("train.csv")
    model = make().fit(rows["text"], rows["class"])
    del rows
    say(part="fit", seconds=[time.perf_counter() - clock], cpu=time.process_time() - busy)
    clock, busy = time.perf_counter(), time.process_time()
    rows = read("test.csv")
    p = model.predict_proba(rows["text"])
    seconds, cpu = time.perf_counter() - clock, time.process_time() - busy
    right = float((model.classes_[p.argmax(axis=1)] == rows["class"].to_numpy()).mean())
    say(part="predict", seconds=[seconds], cpu=cpu, rows=len(p), right=right)
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM:"):
            say(part="memory", bytes=1024.0 * int(line.split()[1]))


class Model:
    """A model made of an estimator with scikit-learn's methods."""

    def fit(self, table, rows):
        self.estimator = self.new().fit(self.x[rows], table.y[rows])
        return self

    def proba(self, table, rows):
        return table.whole(self.estimator.predict_proba(self.x[rows]), self.estimator.classes_)

    def size(self):
        return len(pickle.dumps(self.estimator))


def main(methods, version):
    work, folder, method = sys.argv[1:4]
    keys = dict(a.split("=", 1) for a in sys.argv[4:])
    if work == "version":
        say(part="version", text=version)
    elif work == "speed":
        speed(methods[method], folder, float(keys["budget"]))
    elif work == "folds":
        folds(methods[method], folder, keys["out"])
    elif work == "neighbours":
        neighbours(methods[method], folder)
    elif work == "numbers":
        numbers(methods[method], folder, keys["out"])
    elif work == "words":
        words(methods[method], folder)
    else:
        sys.exit("unknown work " + work)
