"""What drives the binary: versions, ends, interrupts, and what is left behind."""

import os
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest

import accrete
from accrete import AccreteClassifier, Died, OtherVersion, Problem
from accrete._session import PREFIX, Child

X = [["red", 1.0], ["blue", None], ["red", 2.0], ["green", 3.5]] * 10
Y = ["yes", "no", "yes", "no"] * 10
SLOW = dict(learner="mlp", settings={"hidden": 200, "epochs": 1000000, "validation": 0})


def left():
    """What sessions have in the folder of temporary files."""
    return [n for n in os.listdir(tempfile.gettempdir()) if n.startswith((PREFIX, "accrete-"))]


def until(what, seconds=10):
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.02)
    return what()


class Fake:
    """A program in place of the binary."""

    def __init__(self, case, body):
        self.path = os.path.join(tempfile.mkdtemp(prefix="fake-"), "accrete")
        case.addCleanup(lambda: os.remove(self.path))
        with open(self.path, "w") as f:
            f.write("#!%s\nimport sys, json, time\n%s" % (sys.executable, textwrap.dedent(body)))
        os.chmod(self.path, 0o700)


class Versions(unittest.TestCase):
    def test_another_version_is_refused(self):
        fake = Fake(self, """
            for line in sys.stdin:
                print(json.dumps({"id": json.loads(line)["id"], "status": 200, "body": {"version": "9.9.9"}}, separators=(",", ":")), flush=True)
            """)
        with self.assertRaises(OtherVersion) as told:
            Child(fake.path)
        self.assertIn("9.9.9", str(told.exception))
        self.assertIn(accrete.__version__, str(told.exception))
        self.assertEqual(left(), [n for n in left() if "-%d-" % os.getpid() in n and accrete._session._default])

    def test_one_that_knows_no_pipes(self):
        fake = Fake(self, "sys.exit('Error: unknown flag: --private')")
        with self.assertRaises(Died) as told:
            Child(fake.path)
        self.assertIn("unknown flag: --private", str(told.exception))

    def test_none(self):
        with self.assertRaisesRegex(accrete.AccreteError, "cannot be started"):
            Child("/no/such/accrete")


class Ends(unittest.TestCase):
    def test_a_killed_child_is_noticed_within_a_second(self):
        session = Child()
        threading.Timer(0.5, lambda: (marks.append(time.monotonic()), os.kill(session._child.pid, signal.SIGKILL))).start()
        marks = []
        with self.assertRaisesRegex(Died, "killed by signal 9"):
            AccreteClassifier(server=session, **SLOW).fit(X, Y)
        self.assertLess(time.monotonic() - marks[0], 1)
        self.assertFalse(session.alive)
        with self.assertRaises(Died):
            session.models()
        self.assertTrue(until(lambda: not os.path.exists(session._around)))

    def test_what_it_printed_is_said(self):
        fake = Fake(self, """
            for n, line in enumerate(sys.stdin):
                if n == 1:
                    sys.stderr.write("panic: out of cheese\\n"); sys.exit(3)
                print(json.dumps({"id": json.loads(line)["id"], "status": 200, "body": {"version": "%s"}}, separators=(",", ":")), flush=True)
            """ % accrete.__version__)
        session = Child(fake.path)
        with self.assertRaises(Died) as told:
            session.models()
        self.assertIn("ended with status 3", str(told.exception))
        self.assertIn("out of cheese", str(told.exception))

    def test_the_shared_child_is_started_again(self):
        model = AccreteClassifier(learner="bayes").fit(X, Y)
        os.kill(accrete.default()._child.pid, signal.SIGKILL)
        self.assertTrue(until(lambda: not model.model_._session.alive))
        with self.assertRaises(Died):
            model.predict(X)
        self.assertEqual(list(model.fit(X, Y).predict([["red", 1.0]])), ["yes"])

    def test_an_interrupt_cancels_the_job(self):
        session = Child()
        self.addCleanup(session.close)
        for after in (0.3, 1.6):  # while the answer is awaited, and while the job is watched
            threading.Timer(after, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            with self.assertRaises(KeyboardInterrupt):
                AccreteClassifier(server=session, **SLOW).fit(X, Y)
            states = lambda: [j["state"] for j in session.request("GET", "/v1/jobs")["jobs"]]
            self.assertTrue(until(lambda: set(states()) == {"cancelled"}), states())

    def test_a_fork_is_told(self):
        model = AccreteClassifier(learner="bayes").fit(X, Y)
        child = os.fork()
        if child == 0:
            try:
                model.predict(X)
            except accrete.AccreteError as err:
                os._exit(0 if "pickle" in str(err) else 1)
            os._exit(2)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertEqual(list(model.predict([["red", 1.0]])), ["yes"])

    def test_threads_share_a_session(self):
        session, said = Child(), []
        self.addCleanup(session.close)

        def work(n):
            model = AccreteClassifier(learner="bayes", server=session).fit(X, Y)
            said.extend(model.predict([["red", 1.0]])[0] for _ in range(20))

        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(said, ["yes"] * 80)
        session.models()  # with the next request unwanted models go
        self.assertEqual(session.models(), [])


class Traces(unittest.TestCase):
    """Nothing of people's data is left."""

    script = """
        import os, signal, sys
        sys.path.insert(0, os.environ["PYTHONPATH"].split(os.pathsep)[0])
        from accrete import AccreteClassifier, default
        model = AccreteClassifier().fit([["SECRET-%d" % (i % 3), i] for i in range(900)], ["a", "b", "c"] * 300)
        model.predict([["SECRET-1", i] for i in range(900)])
        print(default()._child.pid, flush=True)
        """

    def run_it(self, after):
        folder = tempfile.mkdtemp(prefix="trace-")
        environment = dict(os.environ, TMPDIR=folder, PYTHONPATH=os.path.abspath(".."))
        child = subprocess.run([sys.executable, "-B", "-c", textwrap.dedent(self.script + after)], env=environment, stdout=subprocess.PIPE, timeout=60)
        return folder, child

    def test_at_the_end(self):
        folder, child = self.run_it("")
        self.assertEqual((child.returncode, os.listdir(folder)), (0, []))

    def test_when_the_child_is_killed(self):
        folder, child = self.run_it("os.kill(default()._child.pid, signal.SIGKILL)\n        import time; time.sleep(0.5)\n        print(os.listdir(os.environ['TMPDIR']))")
        self.assertEqual((child.stdout.split()[-1], os.listdir(folder)), (b"[]", []))

    def test_when_this_process_is_killed(self):
        folder, child = self.run_it("os.kill(os.getpid(), signal.SIGKILL)")
        self.assertEqual(child.returncode, -signal.SIGKILL)
        self.assertTrue(until(lambda: not os.listdir(folder)), os.listdir(folder))

    def test_when_both_are_killed(self):
        folder, child = self.run_it("os.kill(default()._child.pid, signal.SIGKILL); os.kill(os.getpid(), signal.SIGKILL)")
        self.assertEqual(child.returncode, -signal.SIGKILL)
        was, tempfile.tempdir = tempfile.tempdir, folder
        try:
            accrete._session.sweep()  # as the next session does
        finally:
            tempfile.tempdir = was
        self.assertEqual(os.listdir(folder), [])

    def test_while_it_runs(self):
        session = Child()
        self.addCleanup(session.close)
        model = AccreteClassifier(server=session, learner="bayes").fit(X * 10, Y * 10)
        model.predict(X * 10)
        self.assertEqual(os.listdir(session._data), [])  # tables go as soon as they were read
        self.assertEqual(stat.S_IMODE(os.stat(session._around).st_mode), 0o700)
        with self.assertRaises(Problem):
            session.job("/v1/learn", {"data": "/etc/passwd", "target": "x"})


class Servers(unittest.TestCase):
    def test_by_its_address(self):
        folder = tempfile.mkdtemp()
        server = subprocess.Popen([accrete.binary(), "serve", "--listen", "127.0.0.1:0", "--store", folder], stderr=subprocess.PIPE)
        self.addCleanup(server.stderr.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        address = server.stderr.readline().split()[-1].decode()
        threading.Thread(target=server.stderr.read, daemon=True).start()
        session = accrete.connect(address)
        self.addCleanup(session.close)
        self.addCleanup(lambda: accrete._session._servers.pop(address).close())
        model = AccreteClassifier(learner="bayes", server=session).fit(X, Y)
        here = AccreteClassifier(learner="bayes").fit(X, Y)
        many = X * 30
        self.assertEqual([list(p) for p in model.predict_proba(many)], [list(p) for p in here.predict_proba(many)])
        self.assertEqual(list(model.predict([["red", 1.0]])), ["yes"])
        self.assertEqual(session.request("GET", "/v1/data")["data"], [])
        kept = accrete.learn("weather", learner="bayes", name="weather", where=address)
        self.assertEqual(accrete.open_model("weather", address).predict([{"outlook": "overcast"}]), kept.predict([{"outlook": "overcast"}]))
        self.assertEqual(here.merge(model).describe().rows, 80)
        del model
        session.models()
        self.assertEqual([m["model"] for m in session.models()], ["weather"])
        with self.assertRaisesRegex(accrete.AccreteError, "no address"):
            accrete.connect("localhost:1")
        with self.assertRaisesRegex(accrete.AccreteError, "does not answer"):
            accrete.connect("http://127.0.0.1:1")


if __name__ == "__main__":
    unittest.main()
