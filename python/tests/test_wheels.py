"""The wheel: built without network, installed into a fresh environment, used in three lines."""

import base64
import csv
import hashlib
import importlib.util
import io
import os
import platform
import subprocess
import sys
import tempfile
import unittest
import zipfile

import accrete

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
SCRIPT = os.path.join(ROOT, "scripts", "wheels")
MACHINES = {"x86_64": "amd64", "AMD64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
THREE_LINES = """\
from accrete import AccreteClassifier
model = AccreteClassifier().fit([["weak"], ["strong"]] * 10, ["yes", "no"] * 10)
print(model.predict([["weak"]])[0])
"""


def build(folder, target, binary):
    command = [sys.executable, "-B", SCRIPT, accrete.__version__, target, "--binary", binary, "--out", folder]
    environment = dict(os.environ, WHEEL_LEVEL="1")
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout.decode().strip()


class Wheels(unittest.TestCase):
    def test_each_system(self):
        with tempfile.TemporaryDirectory() as folder:
            small = os.path.join(folder, "small")
            with open(small, "wb") as f:
                f.write(b"a binary")
            names = set()
            for target in ("linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"):
                path = build(folder, target, small)
                with open(path, "rb") as f:
                    first = f.read()
                with zipfile.ZipFile(path) as z:
                    self.check(z)
                build(folder, target, small)
                with open(path, "rb") as f:
                    self.assertEqual(first, f.read(), "the same inputs give the same bytes")
                names.add(os.path.basename(path))
            self.assertEqual(len(names), 6)

    def check(self, z):
        """RECORD lists every file with its hash and size; tags are those of the name; the binary can be run."""
        info = [n for n in z.namelist() if n.endswith("/RECORD")][0].rsplit("/", 1)[0]
        listed = {row[0]: row[1:] for row in csv.reader(io.StringIO(z.read(info + "/RECORD").decode()))}
        self.assertEqual(set(listed), set(z.namelist()))
        for name, (digest, size) in listed.items():
            if digest:
                content = z.read(name)
                self.assertEqual(digest, "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode())
                self.assertEqual(int(size), len(content))
        tags = [l.split("-")[-1] for l in z.read(info + "/WHEEL").decode().splitlines() if l.startswith("Tag:")]
        self.assertTrue(z.filename.endswith("-" + ".".join(tags) + ".whl"))
        binary = [n for n in z.namelist() if "/_bin/" in n][0]
        self.assertEqual(z.getinfo(binary).external_attr >> 16, 0o100755)
        self.assertIn(b'__version__ = "%s"' % accrete.__version__.encode(), z.read("accrete/_version.py"))

    def test_installed(self):
        if importlib.util.find_spec("pip") is None or importlib.util.find_spec("venv") is None:
            self.skipTest("pip or venv is not there (scripts/python)")
        target = "%s/%s" % (platform.system().lower(), MACHINES.get(platform.machine(), platform.machine()))
        with tempfile.TemporaryDirectory() as folder:
            wheel = build(folder, target, accrete.binary())
            fresh = os.path.join(folder, "fresh")
            subprocess.run([sys.executable, "-m", "venv", "--without-pip", fresh], check=True)
            inside = os.path.join(fresh, "bin", "python")
            environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "ACCRETE"))}
            pip = [sys.executable, "-m", "pip", "--python", inside, "install", "--no-index", "--no-deps", "--no-compile", "--quiet", wheel]
            installed = subprocess.run(pip, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if b"--python" in installed.stdout:
                self.skipTest("this pip cannot install into another environment")
            self.assertEqual(installed.returncode, 0, installed.stdout.decode())
            environment["PATH"] = os.path.join(fresh, "bin")  # nothing else is found
            said = subprocess.run([inside, "-c", THREE_LINES], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual((said.returncode, said.stdout), (0, b"yes\n"))
            said = subprocess.run([os.path.join(fresh, "bin", "accrete"), "version"], env=environment, stdout=subprocess.PIPE)
            self.assertIn(accrete.__version__.encode(), said.stdout)


if __name__ == "__main__":
    unittest.main()
