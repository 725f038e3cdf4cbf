"""The notebook of docs/examples is run, and says what it said. To write it anew
after a change, and read it: python3 test_notebook.py --rewrite"""

import os
import sys
import unittest

try:
    import nbformat
    import pandas  # noqa: F401, which the notebook uses
    import sklearn  # noqa: F401
    from nbclient import NotebookClient
except ImportError as err:  # pragma: no cover
    raise unittest.SkipTest("Jupyter and pandas are not there (scripts/python): %s" % err)

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "examples", "penguins.ipynb")


def execute():
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    os.environ["PYTHONPATH"] = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    book = nbformat.read(PATH, as_version=4)
    NotebookClient(book, timeout=120, kernel_name="python3", resources={"metadata": {"path": os.path.dirname(PATH)}}).execute()
    for cell in book.cells:
        cell.metadata.pop("execution", None)
    book.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}, "language_info": {"name": "python"}}
    return book


def texts(book):
    """What each cell prints and shows, as text."""
    said = []
    for cell in book.cells:
        if cell.cell_type == "code":
            shown = [o.get("text") or o.get("data", {}).get("text/plain", "") for o in cell.outputs]
            said.append((cell.source, "".join("".join(s) for s in shown)))  # what is printed comes in pieces of any size
    return said


class Notebook(unittest.TestCase):
    def test_it_runs(self):
        self.maxDiff = None
        for (source, was), (_, now) in zip(texts(nbformat.read(PATH, as_version=4)), texts(execute())):
            self.assertEqual(was, now, source)


if __name__ == "__main__":
    if sys.argv[1:] == ["--rewrite"]:
        nbformat.write(execute(), PATH)
    else:
        unittest.main()
