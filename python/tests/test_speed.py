"""What Python costs beside the command, in CPU seconds: run with ACCRETE_LONG=1."""

import csv
import os
import resource
import subprocess
import tempfile
import time
import unittest

import accrete
from accrete import AccreteClassifier

try:
    import numpy as np
    import pandas as pd
except ImportError as err:  # pragma: no cover
    raise unittest.SkipTest("numpy and pandas are not there (scripts/python): %s" % err)

ROWS = 100000


def used(child=None):
    """CPU seconds so far: of this process, of children that ended, and of one that did not."""
    mine = [resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    seconds = sum(r.ru_utime + r.ru_stime for r in mine)
    if child is not None:
        with open("/proc/%d/stat" % child) as f:
            ticks = f.read().rsplit(")", 1)[1].split()[11:13]
        seconds += sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
    return seconds


@unittest.skipUnless(os.environ.get("ACCRETE_LONG"), "minutes of measuring: ACCRETE_LONG=1")
class Speed(unittest.TestCase):
    def test_beside_the_command(self):
        random = np.random.RandomState(0)
        numbers = random.normal(size=(ROWS, 10))
        frame = pd.DataFrame(numbers, columns=["x%d" % i for i in range(10)])
        for name in frame.columns[:5]:
            frame[name] = pd.cut(frame[name], 8, labels=list("abcdefgh")).astype(str)
        y = np.where(numbers[:, 0] + numbers[:, 9] ** 2 > 1, "yes", "no")
        with tempfile.TemporaryDirectory() as folder:
            frame.assign(answer=y).to_csv(os.path.join(folder, "t.csv"), index=False, quoting=csv.QUOTE_MINIMAL)

            def command(*arguments):
                before = used()
                with open(os.path.join(folder, "out"), "wb") as out:
                    subprocess.run([accrete.binary(), *arguments], cwd=folder, stdout=out, stderr=subprocess.DEVNULL, check=True)
                return used() - before

            for learner in ("bayes", "tree", "rulenet"):
                learnt = command("learn", "t.csv", "--target", "answer", "--learner", learner, "--folds", "0", "--name", learner)
                said = command("predict", learner, "t.csv")
                pid, before = accrete.default()._child.pid, 0.0
                before = used(pid)
                model = AccreteClassifier(learner=learner).fit(frame, y)
                fitted = used(pid) - before
                before = used(pid)
                model.predict(frame)
                predicted = used(pid) - before
                before, began = used(pid), time.monotonic()
                for i in range(500):
                    model.predict(frame.iloc[i : i + 1])
                one, wall = (used(pid) - before) / 500, (time.monotonic() - began) / 500
                print("%-8s learn %.2f s, fit %.2f s; predict %.2f s and %.2f s; a row %.2f ms (%.2f ms on the clock)" % (learner, learnt, fitted, said, predicted, 1e3 * one, 1e3 * wall))
                self.assertLess(fitted, 2 * learnt)
                self.assertLess(predicted, 2 * said)
                self.assertLess(one, 1e-3)


if __name__ == "__main__":
    unittest.main()
