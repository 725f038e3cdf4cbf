"""Times scikit-learn on the table that the Go side wrote, and prints JSON.

Usage: peer.py DIR DEPTH. DIR has numbers.f64 (row-major), codes.i32
(row-major) and classes.i32, all little-endian, as written by main.go.
"""
import json
import sys
import time

import numpy as np
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.tree import DecisionTreeClassifier

folder, depth = sys.argv[1], int(sys.argv[2])
y = np.fromfile(folder + "/classes.i32", dtype="<i4")
numbers = np.fromfile(folder + "/numbers.f64", dtype="<f8").reshape(len(y), -1)
codes = np.fromfile(folder + "/codes.i32", dtype="<i4").reshape(len(y), -1)
half = len(y) // 2


def best_of(times, run):
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        result = run()
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


answer = {}
gauss_fit, gauss = best_of(3, lambda: GaussianNB().fit(numbers, y))
categories_fit, categories = best_of(3, lambda: CategoricalNB().fit(codes, y))
gauss_predict, _ = best_of(3, lambda: gauss.predict_proba(numbers))
categories_predict, _ = best_of(3, lambda: categories.predict_proba(codes))
answer["bayes fit"] = gauss_fit + categories_fit
answer["bayes predict"] = gauss_predict + categories_predict

# scikit-learn's trees take float32; the conversion is not counted.
both = np.asfortranarray(np.hstack([numbers, codes]), dtype=np.float32)
rows = np.ascontiguousarray(both)
new = lambda: DecisionTreeClassifier(criterion="entropy", max_depth=depth, random_state=1)
answer["tree fit"], tree = best_of(2, lambda: new().fit(both, y))
answer["tree predict"], _ = best_of(3, lambda: tree.predict_proba(rows))
answer["tree accuracy"] = float(new().fit(both[:half], y[:half]).score(rows[half:], y[half:]))
print(json.dumps(answer))
