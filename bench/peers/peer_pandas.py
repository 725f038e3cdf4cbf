"""How fast pandas and SciPy read files."""
import sys

import pandas
import scipy
from scipy.io import arff

import peer

work, path, method = sys.argv[1:4]
if work == "version":
    # read_parquet needs an engine of its own, which says so if it is missing.
    if method == "pyarrow":
        import pyarrow
    peer.say(part="version", text={"pandas": pandas.__version__, "SciPy": scipy.__version__}.get(method, "") or pyarrow.__version__)
    sys.exit()
budget = float(dict(a.split("=", 1) for a in sys.argv[4:])["budget"])
read = {
    "read_csv": pandas.read_csv,
    "read_parquet": pandas.read_parquet,
    "loadarff": lambda p: arff.loadarff(p)[0],
}[method]
seconds, rows = peer.repeat(budget, peer.REPEATS, lambda: len(read(path)))
peer.say(part="read", seconds=seconds, rows=rows)
peer.say_memory()
