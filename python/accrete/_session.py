"""The binary as a child that stays, or a server by its address.

A session sends requests, the routes that the server describes at /docs, and
returns what comes back. A child keeps everything in a private folder, which
the child removes when it ends and this process when the child did not.
"""

from __future__ import annotations

import atexit
import base64
import collections
import http.client
import io
import itertools
import json
import os
import queue
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import weakref
from typing import Any, Callable, Deque, Dict, List, Mapping, Optional, Tuple, Union

from ._errors import AccreteError, Died, OtherVersion, Problem
from ._version import __version__

__all__ = ["Session", "Child", "Server", "start", "connect", "default", "binary"]

Body = Union[None, Dict[str, Any], bytes]


def binary() -> str:
    """Where the binary is: ACCRETE_BINARY, the one of the wheel, or the one on the path."""
    name = "accrete.exe" if os.name == "nt" else "accrete"
    inside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_bin", name)
    for path in (os.environ.get("ACCRETE_BINARY"), inside, shutil.which(name)):
        if path and os.path.isfile(path):
            return path
    raise AccreteError(
        "the accrete binary is not found; install the wheel of this machine, put accrete on the path, or set ACCRETE_BINARY"
    )


class Session:
    """What models live in: a child process, or a server.

    Sessions are shared by copies of estimators, and are safe for threads.
    """

    where = "the server"

    def __init__(self) -> None:
        self._serial = itertools.count(1)
        self._unwanted: List[str] = []

    # What a kind of session does.
    def _send(self, method: str, path: str, body: Body, headers: Dict[str, str]) -> Tuple[int, Any]:
        raise NotImplementedError

    def close(self) -> None:
        """End it. What lived in a child is gone."""
        raise NotImplementedError

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __deepcopy__(self, _: Any) -> "Session":
        return self

    def __copy__(self) -> "Session":
        return self

    def request(self, method: str, path: str, body: Body = None, headers: Optional[Mapping[str, str]] = None) -> Any:
        """Send a request, and return its answer; a problem is raised."""
        self._tidy()
        status, answer = self._send(method, path, body, dict(headers or {}))
        if status >= 400:
            raise Problem(answer)
        return answer

    def job(self, path: str, body: Dict[str, Any], model: str = "") -> Dict[str, Any]:
        """Send what may take long, and wait for its result; an interrupt cancels it."""
        self._tidy()
        started = time.monotonic()
        href = ""
        try:
            status, answer = self._send("POST", path, body, {"Prefer": "wait=1"})
            if status == 202:
                href = answer["href"]
            while status == 202:
                time.sleep(min(2.0, max(0.01, 0.05 * (time.monotonic() - started))))
                status, told = self._send("GET", href, None, {})
                if status == 200:
                    if told.get("problem"):
                        raise Problem(told["problem"])
                    if told["state"] == "done":
                        return told["result"]
                    if told["state"] == "cancelled":
                        raise AccreteError("the job was cancelled; nothing was changed")
                    status = 202
        except KeyboardInterrupt:
            self._cancel(href, model)
            raise
        if status >= 400:
            raise Problem(answer)
        return answer

    def _cancel(self, href: str, model: str) -> None:
        try:
            jobs = [href] if href else []
            if not href and model:
                listed = self._send("GET", "/v1/jobs", None, {})[1].get("jobs", [])
                jobs = ["/v1/jobs/" + j["job"] for j in listed if j.get("model") == model and not j.get("ended")]
            for job in jobs:
                self._send("DELETE", job, None, {})
        except AccreteError:
            pass

    def _discard(self, name: str) -> None:
        """Have a model deleted with the next request: this is called while memory is tidied."""
        self._unwanted.append(name)

    def _tidy(self) -> None:
        while self._unwanted:
            try:
                self._send("DELETE", "/v1/models/" + quote(self._unwanted.pop()), None, {})
            except (AccreteError, IndexError):
                pass

    def table(self, write: Callable[[Any], None]) -> "Table":
        """A table that this session can read while it is open: write gets a binary file."""
        raise NotImplementedError

    def new_name(self, kind: str) -> str:
        """A name that nobody else uses."""
        return "%s%d" % (kind, next(self._serial))

    def check_version(self, any_version: bool = False) -> None:
        """Refuse another version than this package's."""
        theirs = str(self.request("GET", "/v1/whoami").get("version") or "")
        if theirs != __version__ and not any_version:
            self.close()
            raise OtherVersion(self.where, theirs, __version__)

    # What people ask of it.
    def models(self) -> List[Dict[str, Any]]:
        """The models that live here."""
        return self.request("GET", "/v1/models")["models"]

    def learners(self) -> List[Dict[str, Any]]:
        """The learners, with their settings.

        >>> "rulenet" in [l["name"] for l in default().learners()]
        True
        """
        return self.request("GET", "/v1/learners")["learners"]


class Table:
    """A table that lies where a session can read it, until it is closed."""

    def __init__(self, name: str, gone: Callable[[], None]) -> None:
        self.name, self._gone = name, gone

    def __enter__(self) -> str:
        return self.name

    def __exit__(self, *_: Any) -> None:
        self._gone()


def quote(text: str) -> str:
    return urllib.parse.quote(text, safe="@")


PREFIX = "accrete-py-"
WHOLE = getattr(select, "PIPE_BUF", 512)  # bytes that a pipe takes whole or not at all


class Child(Session):
    """The binary as a child on two pipes: accrete serve --stdio."""

    def __init__(self, path: Optional[str] = None, store: Optional[str] = None, any_version: bool = False) -> None:
        super().__init__()
        self.where = path or binary()
        self._pid = os.getpid()
        sweep()
        # The child makes the folder, for us alone, and removes it at its end.
        self._around = os.path.join(tempfile.gettempdir(), "%s%d-%s" % (PREFIX, self._pid, os.urandom(8).hex()))
        command = [self.where, "serve", "--stdio"]
        if store is None:
            command += ["--private", self._around]
            self._data = os.path.join(self._around, "data")
        else:
            os.mkdir(self._around, 0o700)
            command += ["--store", store, "--data", self._around]
            self._data = self._around
        options: Dict[str, Any] = {}
        if os.name == "nt":
            options["creationflags"] = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
        else:
            options["start_new_session"] = True  # an interrupt is ours, not the child's
        try:
            self._child = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0, **options
            )
        except OSError as err:
            shutil.rmtree(self._around, ignore_errors=True)
            raise AccreteError("the binary %s cannot be started: %s" % (self.where, err)) from err
        self._waiting: Dict[int, "queue.SimpleQueue[Any]"] = {}
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._lines: "queue.SimpleQueue[Optional[bytes]]" = queue.SimpleQueue()
        self._dead: List[Died] = []
        printed: Deque[bytes] = collections.deque(maxlen=200)
        errors = threading.Thread(target=_drain, args=(self._child.stderr, printed), daemon=True, name="accrete-stderr")
        errors.start()
        writer = threading.Thread(target=_write, args=(self._child.stdin, self._lines, self._writing), daemon=True, name="accrete-stdin")
        writer.start()
        reader = threading.Thread(
            target=_read,
            args=(self._child, self._waiting, self._lock, self._dead, printed, errors, self._lines, self._around),
            daemon=True,
            name="accrete-stdout",
        )
        reader.start()
        self._finalizer = weakref.finalize(self, _end, self._child, self._lines, self._around, self._pid)
        try:
            self.check_version(any_version)
        except BaseException:
            self.close()
            raise

    @property
    def alive(self) -> bool:
        """Whether the child is there, and this process the one that started it."""
        return not self._dead and self._finalizer.alive and self._pid == os.getpid()

    def close(self) -> None:
        self._finalizer()

    def _send(self, method: str, path: str, body: Body, headers: Dict[str, str]) -> Tuple[int, Any]:
        if self._pid != os.getpid():
            raise AccreteError("the model lives in the process %d, from which this one was forked; pickle it to take it along" % self._pid)
        line: Dict[str, Any] = {"method": method, "path": path}
        if isinstance(body, bytes):
            line.update(body=base64.b64encode(body).decode(), encoding="base64")
            headers.setdefault("Content-Type", "application/octet-stream")
        elif body is not None:
            line["body"] = body
        if headers:
            line["headers"] = headers
        number = line["id"] = next(self._serial)
        text = json.dumps(line, separators=(",", ":"), allow_nan=False).encode() + b"\n"
        answers: "queue.SimpleQueue[Any]" = queue.SimpleQueue()
        with self._lock:
            if self._dead:
                raise self._dead[0]
            self._waiting[number] = answers
        try:
            if len(text) <= WHOLE:
                try:
                    with self._writing:
                        self._child.stdin.write(text)  # type: ignore
                except (OSError, ValueError):
                    pass  # who reads notices that the child is gone, and says so
            else:
                self._lines.put(text)
            answer = _wait(answers)
        finally:
            with self._lock:
                self._waiting.pop(number, None)
        if isinstance(answer, BaseException):
            raise answer
        reply = json.loads(answer)
        content = reply.get("body")
        if reply.get("encoding") == "base64":
            content = base64.b64decode(content)
        return reply["status"], content

    def table(self, write: Callable[[Any], None]) -> Table:
        name = self.new_name("t")
        path = os.path.join(self._data, name)
        if self._dead:
            raise self._dead[0]

        def gone() -> None:
            try:
                os.remove(path)
            except OSError:
                pass

        try:
            with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o600), "wb") as f:
                write(f)
        except BaseException:
            gone()
            if self._dead:
                raise self._dead[0] from None
            raise
        return Table(name, gone)

    def __reduce__(self) -> Any:
        return (default, ())

    def __repr__(self) -> str:
        return "<accrete %s, process %d%s>" % (__version__, self._child.pid, "" if self.alive else ", ended")


def _write(to: Any, lines: "queue.SimpleQueue[Optional[bytes]]", writing: threading.Lock) -> None:
    """Write long lines as they come, in a thread of their own: an interrupt never cuts one in two."""
    try:
        for text in iter(lines.get, None):
            view = memoryview(text)
            with writing:
                while view:
                    view = view[to.write(view) :]
    except (OSError, ValueError):
        pass  # who reads notices that the child is gone, and says so
    try:
        to.close()
    except OSError:
        pass


def _wait(answers: "queue.SimpleQueue[Any]") -> Any:
    if os.name != "nt":
        return answers.get()
    while True:  # an interrupt is heard between waits
        try:
            return answers.get(timeout=0.5)
        except queue.Empty:
            pass


def _drain(stream: Any, printed: Deque[bytes]) -> None:
    with stream:
        for some in iter(lambda: stream.read(1 << 12), b""):
            printed.append(some)


def _read(child: Any, waiting: Dict[int, Any], lock: Any, dead: List[Died], printed: Deque[bytes], errors: Any, asked: Any, around: str) -> None:
    """Hand out answers as they come; when there are no more, say why, and tidy up."""
    lines = io.BufferedReader(child.stdout, 1 << 16)
    while True:
        try:
            line = lines.readline()
        except (OSError, ValueError):
            line = b""
        if not line.endswith(b"\n"):
            break
        # The id comes first in a reply: {"id":7,…
        try:
            number = int(line[6 : line.index(b",")])
        except ValueError:
            continue  # an answer to nobody
        if line.startswith(b'{"id":%d,"event"' % number):
            continue
        with lock:
            who = waiting.get(number)
        if who is not None:
            who.put(line)
    try:
        status: Optional[int] = child.wait(timeout=0.5)
    except subprocess.TimeoutExpired:
        child.kill()
        status = child.wait()
    errors.join(timeout=0.3)
    lines.close()
    asked.put(None)
    with lock:
        dead.append(Died(status, b"".join(printed).decode("utf-8", "replace")[-4000:]))
        for who in waiting.values():
            who.put(dead[0])
    shutil.rmtree(around, ignore_errors=True)


def _end(child: Any, lines: "queue.SimpleQueue[Optional[bytes]]", around: str, pid: int) -> None:
    """End a child, and see to it that nothing of it is left."""
    if os.getpid() != pid:
        return  # it is somebody else's
    lines.put(None)  # the end of its input, and so its own
    try:
        child.wait(timeout=5)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    shutil.rmtree(around, ignore_errors=True)


def sweep() -> None:
    """Remove what sessions left that were killed together with their child."""
    if os.name == "nt":
        return
    folder = tempfile.gettempdir()
    for name in os.listdir(folder):
        if not name.startswith(PREFIX):
            continue
        path = os.path.join(folder, name)
        try:
            pid = int(name[len(PREFIX) :].split("-")[0])
            if os.lstat(path).st_uid == os.getuid():
                os.kill(pid, 0)
        except ProcessLookupError:
            shutil.rmtree(path, ignore_errors=True)
        except (OSError, ValueError):
            continue


class Server(Session):
    """A server by its address, such as http://127.0.0.1:8765."""

    def __init__(self, address: str, token: Optional[str] = None, any_version: bool = False, timeout: float = 120.0) -> None:
        super().__init__()
        at = urllib.parse.urlsplit(address)
        if at.scheme not in ("http", "https") or not at.hostname:
            raise AccreteError("%r is no address of a server; expected one such as http://127.0.0.1:8765" % address)
        self.where = self.address = address.rstrip("/")
        self._token = token if token is not None else os.environ.get("ACCRETE_TOKEN")
        self._at, self._timeout, self._base = at, timeout, at.path.rstrip("/")
        self._mine = threading.local()
        self._unique = "py-" + os.urandom(5).hex() + "-"
        self.check_version(any_version)

    def _connection(self, fresh: bool) -> http.client.HTTPConnection:
        if fresh or getattr(self._mine, "connection", None) is None or self._mine.pid != os.getpid():
            kind = http.client.HTTPSConnection if self._at.scheme == "https" else http.client.HTTPConnection
            self._mine.connection = kind(str(self._at.hostname), self._at.port, timeout=self._timeout)
            self._mine.pid = os.getpid()
        return self._mine.connection

    def _send(self, method: str, path: str, body: Body, headers: Dict[str, str]) -> Tuple[int, Any]:
        data: Optional[bytes] = None
        if isinstance(body, bytes):
            data = body
            headers.setdefault("Content-Type", "application/octet-stream")
        elif body is not None:
            data = json.dumps(body, separators=(",", ":"), allow_nan=False).encode()
            headers["Content-Type"] = "application/json"
        if self._token:
            headers["Authorization"] = "Bearer " + self._token
        known = getattr(self._mine, "connection", None) is not None
        for fresh in (False, True):
            connection = self._connection(fresh)
            try:
                connection.request(method, self._base + path, data, headers)
                answer = connection.getresponse()
                content: Any = answer.read()
                break
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError, http.client.CannotSendRequest) as err:
                connection.close()
                if fresh or not known:  # only a connection that was kept may have ended meanwhile
                    raise AccreteError("the server %s hung up: %s" % (self.address, err)) from err
            except OSError as err:
                connection.close()
                self._mine.connection = None
                raise AccreteError("the server %s does not answer: %s" % (self.address, err)) from err
        kind = answer.headers.get("Content-Type", "")
        if "json" in kind:
            content = json.loads(content) if content else None
        elif kind.startswith(("text/", "image/svg")):
            content = content.decode("utf-8")
        return answer.status, content

    def new_name(self, kind: str) -> str:
        return self._unique + super().new_name(kind)

    def table(self, write: Callable[[Any], None]) -> Table:
        with tempfile.SpooledTemporaryFile(max_size=256 << 20) as f:
            write(f)
            f.seek(0)
            content = f.read()
        name = self.new_name("t")
        self.request("POST", "/v1/data?name=" + quote(name), content, {"Content-Type": "application/vnd.apache.parquet"})

        def gone() -> None:
            try:
                self._send("DELETE", "/v1/data/" + quote(name), None, {})
            except AccreteError:
                pass

        return Table(name, gone)

    def close(self) -> None:
        connection = getattr(self._mine, "connection", None)
        if connection is not None:
            connection.close()

    def __del__(self) -> None:
        if hasattr(self, "_mine"):
            self.close()

    def __reduce__(self) -> Any:
        return (connect, (self.address,))  # the token is not written down

    def __repr__(self) -> str:
        return "<accrete at %s>" % self.address


def start(path: Optional[str] = None, store: Optional[str] = None) -> Child:
    """Start the binary as a child: on a store of models, or on a private one that goes with it.

    >>> with start() as session:
    ...     session.models()
    []
    """
    return Child(path, store)


def connect(address: str, token: Optional[str] = None, any_version: bool = False) -> Server:
    """Use a server by its address; the token is ACCRETE_TOKEN's if none is given."""
    return Server(address, token, any_version)


_default: Optional[Child] = None
_starting = threading.Lock()


def default() -> Child:
    """The child that estimators share in this process; it is started when it is first needed."""
    global _default
    with _starting:
        if _default is None or not _default.alive:
            _default = Child()
        return _default


def session_of(where: Union[None, str, Session]) -> Session:
    """The session that is meant: the shared child, a server's address, or a session itself."""
    if where is None:
        return default()
    if isinstance(where, Session):
        return where
    with _starting:
        if where not in _servers:
            _servers[where] = Server(where)
        return _servers[where]


_servers: Dict[str, Server] = {}


def _close() -> None:
    if _default is not None:
        _default.close()


atexit.register(_close)
