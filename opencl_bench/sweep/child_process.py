"""The outer side of a child process: asks it, waits no longer than allowed, kills it.

A driver may crash, hang or eat all memory; in a process of its own that costs one configuration, not the sweep.
The process is started with the first request and again after it died.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from typing import IO, Any

READ_BYTES = 1 << 16
# What a driver or an assertion says last, on its way down.
LAST_WORDS_BYTES = 2000


class ChildTimedOutError(Exception):
    """The child did not answer in time and was killed."""


class ChildDiedError(Exception):
    """The child ended instead of answering; the message is one line."""


class ChildProcess:
    """A Python module run as a process that answers requests (see `serving`).

    Args:
        module: the module's full name.
        arguments: its command line.
    """

    def __init__(self, module: str, *arguments: str) -> None:
        self._command = [sys.executable, "-m", module, *arguments]
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None
        self._unread = b""

    def __enter__(self) -> ChildProcess:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    @property
    def is_running(self) -> bool:
        """Whether there is a process that can be asked; what it was told before still holds."""
        return self._process is not None and self._process.poll() is None

    def ask(self, request: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        """The child's answer.

        Args:
            request: what JSON takes, with the handler's name under "do".
            timeout: seconds to wait for the answer.

        Raises:
            ChildTimedOutError: no answer in time; the child is dead by now.
            ChildDiedError: it ended; the message says how.
        """
        if not self.is_running:
            self.close()
            self._start()
        deadline = time.monotonic() + timeout
        try:
            self._send(json.dumps(request).encode() + b"\n", deadline)
            line = self._line(deadline)
        except TimeoutError:
            self.close()
            raise ChildTimedOutError(f"no answer within {timeout:.1f} s") from None
        except (EOFError, OSError):
            raise ChildDiedError(self._how_it_died()) from None
        except BaseException:  # interrupted: nobody would read the answer
            self.close()
            raise
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """Kill the process and all that it started."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout, self._errors):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
        self._process = self._errors = None
        self._unread = b""

    def _start(self) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as the process)
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,
            bufsize=0,
        )
        assert self._process.stdin is not None
        os.set_blocking(self._process.stdin.fileno(), False)

    def _send(self, line: bytes, deadline: float) -> None:
        """Write without blocking: a child that hangs does not empty its pipe. Raises TimeoutError, OSError."""
        pipe = self._running().stdin
        assert pipe is not None
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_WRITE)
            while line:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise TimeoutError
                line = line[os.write(pipe.fileno(), line) :]

    def _line(self, deadline: float) -> bytes:
        """One line of the child's output. Raises TimeoutError, EOFError."""
        process = self._running()
        assert process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._unread:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise TimeoutError
                read = os.read(process.stdout.fileno(), READ_BYTES)
                if not read:
                    raise EOFError
                self._unread += read
        line, _, self._unread = self._unread.partition(b"\n")
        return line

    def _how_it_died(self) -> str:
        process = self._running()
        code = process.wait()
        last_words = self._last_words()
        self.close()
        if code < 0:
            name = signal.Signals(-code).name if -code in {*signal.Signals} else str(-code)
            return f"the process died of signal {name}" + (f": {last_words}" if last_words else "")
        return f"the process ended with code {code}" + (f": {last_words}" if last_words else "")

    def _last_words(self) -> str:
        if self._errors is None:
            return ""
        self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, self._errors.tell() - LAST_WORDS_BYTES))
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return " ".join(lines[-1].split())[:300] if lines else ""

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise EOFError
        return self._process
