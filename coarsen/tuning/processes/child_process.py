"""The outer side of a child process: asks it, waits no longer than allowed, kills it.

A driver may crash, hang or use up all memory; in a process of its own that costs one configuration, not the sweep.
The process is started with the first request and again after it died.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, TextIO

from coarsen.ir.processes import end_with_parent

READ_BYTES = 1 << 16
# The last messages of a driver or an assertion before a crash.
LAST_WORDS_BYTES = 2000
# Vendors' compilers print remarks at every build.
MOST_ERROR_BYTES = 1 << 20
# A kernel that prints in every work-item must not fill the disk before it ends.
FORGETTING_SECONDS = 0.5
# An LLVM inside a driver reports every crash as its own.
NO_LAST_WORDS = "PLEASE submit a bug report"
DIED = "the process died of signal"
# A driver may hang while its process ends; in the kernel of the operating system it can't even be killed.
DYING_SECONDS = 5.0
# PyOpenCL would add what it holds to the options of every build, which no row's key would show.
# Kernels are measured as they are: a layer that substitutes some has no shelf there.
LEFT_OUT_VARIABLES = ("PYOPENCL_BUILD_OPTIONS", "COARSEN_SHELF")
# Its caches fail where the home folder can't be written to, and suffer from processes that are killed.
SET_VARIABLES = {"PYOPENCL_NO_CACHE": "1"}


class ChildTimedOutError(Exception):
    """No answer of the child in time; it was killed."""


class ChildDiedError(Exception):
    """The child ended instead of answering; the message is one line."""


class ChildProcess:
    """A Python module run as a process that answers requests (see `serve`).

    Args:
        module: the module's full name.
        arguments: its command line.
        variables: of its environment, besides those of this process.
    """

    def __init__(self, module: str, *arguments: str, variables: Mapping[str, str] | None = None) -> None:
        self._variables = {**SET_VARIABLES, **(variables or {})}
        # Packages are found where this process finds them, not in a folder that it happens to be started in.
        self._command = [sys.executable, "-P", "-m", module, *arguments]
        self._process: subprocess.Popen[bytes] | None = None
        self._requests: socket.socket | None = None
        self._errors: IO[bytes] | None = None
        self._unread = b""
        self._starting = threading.Lock()
        self._is_over = False

    def __enter__(self) -> ChildProcess:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    @property
    def is_running(self) -> bool:
        """Return True if there is a process that can be asked; it then still knows what it was told before."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start the process ahead of its first request, which it then need not be waited for.

        Raises:
            ChildDiedError: the system starts none.
        """
        if not self.is_running:
            self.close()
            self._start()

    def ask(self, request: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        """Return the child's answer.

        Args:
            request: what JSON takes, with the handler's name under "do".
            timeout: seconds to wait for the answer.

        Raises:
            ChildTimedOutError: no answer in time; the child is dead by now.
            ChildDiedError: it ended; the message says how.
        """
        self.start()
        self._forget_errors()
        deadline = time.monotonic() + timeout
        try:
            assert self._requests is not None
            self._requests.settimeout(timeout)
            self._requests.sendall(json.dumps(request).encode() + b"\n")
            return self._answer(deadline)
        except TimeoutError:
            self.close()
            raise ChildTimedOutError(f"no answer within {timeout:.1f} s") from None
        except (EOFError, OSError):
            raise ChildDiedError(self._how_it_died()) from None
        except BaseException:  # interrupted: nobody would read the answer
            self.close()
            raise

    def close(self) -> None:
        """Kill the process and all that it started; what can't be killed is left alone after a while."""
        process, self._process = self._process, None
        self._unread = b""
        if process is not None:
            _signal(process)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(DYING_SECONDS)
        for file in (self._requests, self._errors, process.stdout if process is not None else None):
            if file is not None:
                file.close()
        self._requests = self._errors = None

    def end(self) -> None:
        """Kill the process for good, from any thread: a request in another ends, and no more are taken."""
        with self._starting:
            self._is_over = True
            if self._process is not None:
                _signal(self._process)

    def _start(self) -> None:
        """Start the process. Raises ChildDiedError if the system starts none."""
        environment = {name: value for name, value in os.environ.items() if name not in LEFT_OUT_VARIABLES}
        environment |= self._variables
        environment["PYTHONPATH"] = os.pathsep.join(path or str(Path.cwd()) for path in sys.path)
        with self._starting:
            if self._is_over:
                raise ChildDiedError("no more processes are wanted")
            # A socket, since writing to a pipe would hang with a child that hangs.
            self._requests, requests = socket.socketpair()
            try:
                self._errors = _appended_file()
                self._process = subprocess.Popen(
                    self._command,
                    stdin=requests.fileno(),
                    stdout=subprocess.PIPE,
                    stderr=self._errors,
                    start_new_session=True,
                    bufsize=0,
                    env=environment,
                )
            except OSError as error:
                raise ChildDiedError(f"the process can't be started: {error.strerror}") from None
            finally:
                requests.close()

    def _answer(self, deadline: float) -> dict[str, Any]:
        """The next line that is an answer: a library may print before the child has secured its output.

        Raises TimeoutError, EOFError.
        """
        while True:
            with contextlib.suppress(ValueError):
                answer = json.loads(self._line(deadline))
                if isinstance(answer, dict):
                    return answer

    def _line(self, deadline: float) -> bytes:
        """One line of the child's output. Raises TimeoutError, EOFError."""
        if self._process is None or self._process.stdout is None:
            raise EOFError
        output, waiting = self._process.stdout.fileno(), select.poll()
        waiting.register(output, select.POLLIN)
        while b"\n" not in self._unread:
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise TimeoutError
            if not waiting.poll(min(remaining, FORGETTING_SECONDS) * 1e3):
                self._forget_errors()
                continue
            read = os.read(output, READ_BYTES)
            if not read:
                raise EOFError
            self._unread += read
        line, _, self._unread = self._unread.partition(b"\n")
        return line

    def _forget_errors(self) -> None:
        """Begin the file of what the child writes to its standard error anew, once it is long."""
        if self._errors is not None and os.fstat(self._errors.fileno()).st_size > MOST_ERROR_BYTES:
            os.truncate(self._errors.fileno(), 0)

    def _how_it_died(self) -> str:
        process = self._process
        if process is None:
            return "the process was ended"
        try:
            ending = _ending(process.wait(DYING_SECONDS))
        except subprocess.TimeoutExpired:
            ending = "the process hung when it was to end"
        said = self._last_words()
        self.close()
        return ending + (f": {said}" if said else "")

    def _last_words(self) -> str:
        """The last line of the child's standard error that tells anything."""
        assert self._errors is not None
        self._errors.seek(max(0, self._errors.seek(0, os.SEEK_END) - LAST_WORDS_BYTES))
        said = self._errors.read().decode(errors="replace").strip().splitlines()
        lines = [line for line in said if not line.startswith(NO_LAST_WORDS)]
        return " ".join(lines[-1].split())[:300] if lines else ""


def _appended_file() -> IO[bytes]:
    """Return a file without a name, to whose end is written whatever was read of it. Raises OSError."""
    file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 (it is closed with the process)
    fcntl.fcntl(file, fcntl.F_SETFL, fcntl.fcntl(file, fcntl.F_GETFL) | os.O_APPEND)
    return file


def _ending(code: int) -> str:
    if code >= 0:
        return f"the process ended with code {code}"
    name = signal.Signals(-code).name if -code in {*signal.Signals} else str(-code)
    return f"{DIED} {name}"


def _signal(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


# The inner side of a child process: answers requests, one JSON object per line, until its input ends.
#
# What anything in the process prints to standard output (drivers do) goes to standard error; only answers reach
# the parent. The process ends with its parent, whatever it is doing.

Message = Mapping[str, Any]
Handler = Callable[[Message], Message]


def serve(handlers: Mapping[str, Handler]) -> None:
    """Answer requests: `{"do": name, …}` goes to the handler of that name, whose result is the answer.

    An exception ends the process: the parent finds it dead, with the traceback on its standard error.
    """
    end_with_parent()  # elsewhere than on Linux the end of its input ends it
    with _answers() as answers:
        if _is_abandoned(answers):
            return
        for line in sys.stdin:
            request = json.loads(line)
            answers.write(json.dumps(handlers[request["do"]](request)) + "\n")
            answers.flush()


@contextlib.contextmanager
def _answers() -> Iterator[TextIO]:
    """The pipe to the parent, to which nothing else in this process can write from now on."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with answers:
        yield answers


def _is_abandoned(answers: TextIO) -> bool:
    """Return True if the parent ended while this process started, and so did not end it: nobody reads answers."""
    hung_up = select.poll()
    hung_up.register(answers, 0)
    return bool(hung_up.poll(0))
