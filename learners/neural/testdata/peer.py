"""Times scikit-learn's MLPClassifier on the sizes of bench_test.go, for
comparison in the same run:

    go test ./learners/neural -run - -bench 'Epoch|Small' && python3 learners/neural/testdata/peer.py
"""
import time
import warnings

import numpy as np
from sklearn.neural_network import MLPClassifier

warnings.filterwarnings("ignore")
rng = np.random.default_rng(0)


def seconds(X, y, units, batch, epochs):
    start = time.perf_counter()
    MLPClassifier((units,), batch_size=batch, max_iter=epochs, n_iter_no_change=10**6, random_state=1).fit(X, y)
    return time.perf_counter() - start


X, y = rng.random((60000, 784)), rng.integers(0, 10, 60000)
for kind in (np.float64, np.float32):
    Z = X.astype(kind)
    print(f"60000 x 784 -> 100 -> 10, {kind.__name__}: {min(seconds(Z, y, 100, 128, 1) for _ in range(2)):.2f} s for fit with one epoch,",
          f"{(seconds(Z, y, 100, 128, 4) - seconds(Z, y, 100, 128, 1)) / 3:.2f} s an epoch more")
X = rng.normal(size=(300, 10))
y = (X[:, 0] * X[:, 1] > 0).astype(int)
print(f"300 x 10 -> 20 -> 2: {1000 * min(seconds(X, y, 20, 32, 100) for _ in range(3)) / 100:.3f} ms an epoch")
