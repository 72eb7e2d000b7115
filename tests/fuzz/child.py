"""Makes attempts in a child process (`worker.py`), which is started again when one ends it."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.fuzz.attempt import COARSENED, ORIGINAL, Verdict
from tests.fuzz.trial import Trial, to_json

TIME_LIMIT_SECONDS = 60.0
_REPOSITORY = Path(__file__).parents[2]


@dataclass(frozen=True)
class Target:
    """A device, by a part of its name, and the form in which it gets coarsened kernels."""

    device: str
    form: str

    def __str__(self) -> str:
        return f"{self.device}/{self.form}"


class Child:
    """One child process; a context manager, since the process must end."""

    def __init__(self, time_limit: float = TIME_LIMIT_SECONDS) -> None:
        self._time_limit = time_limit
        self._process: subprocess.Popen[bytes] | None = None
        self._unread = b""
        self._folder = tempfile.TemporaryDirectory(prefix="coarsen-fuzz-")
        self._errors = Path(self._folder.name, "errors")

    def __enter__(self) -> Child:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()
        self._folder.cleanup()

    def judge(self, trial: Trial, target: Target) -> Verdict:
        """What comes of a trial on a device; what ends the process counts if it ends a new one, too."""
        first = self._judge(trial, target)
        return first if self._process is not None else self._judge(trial, target)

    def _judge(self, trial: Trial, target: Target) -> Verdict:
        request = {"attempt": to_json(trial), "device": target.device, "form": target.form}
        process = self._running()
        assert process.stdin is not None
        stage = COARSENED
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            for answer in self._answers(process):
                if "kind" in answer:
                    return Verdict(answer["kind"], answer["detail"])
                stage = answer["stage"]
        except TimeoutError:
            self._stop()
            return _ended(stage, "hang", f"no answer within {self._time_limit:g} s")
        except BrokenPipeError:
            pass
        status = process.wait()
        self._process = None
        return _ended(stage, "crash", f"{_cause(status)}: {self._last_words()}")

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._unread = b""
            # PoCL keeps what it compiles: not beyond this process.
            environment = os.environ | {"POCL_CACHE_DIR": self._folder.name, "PYTHONWARNINGS": "ignore"}
            with self._errors.open("wb") as errors:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "tests.fuzz.worker"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    cwd=_REPOSITORY,
                    env=environment,
                )
        return self._process

    def _answers(self, process: subprocess.Popen[bytes]) -> Iterator[dict[str, Any]]:
        """The lines that come, until the process ends; raises TimeoutError when none comes in time."""
        assert process.stdout is not None
        pipe = process.stdout.fileno()
        until = time.monotonic() + self._time_limit
        while True:
            while b"\n" in self._unread:
                line, self._unread = self._unread.split(b"\n", 1)
                yield json.loads(line)
            ready, _, _ = select.select([pipe], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                raise TimeoutError
            received = os.read(pipe, 65536)
            if not received:
                return
            self._unread += received

    def _last_words(self) -> str:
        lines = self._errors.read_text(errors="replace").strip().splitlines()
        return lines[-1][:200] if lines else "without a word"

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    pipe.close()
            self._process = None


def _ended(stage: str, kind: str, detail: str) -> Verdict:
    """What the end of the process at a stage means: the original's is not this package's fault."""
    return Verdict("original", f"{kind}: {detail}") if stage == ORIGINAL else Verdict(kind, detail)


def _cause(status: int) -> str:
    return signal.Signals(-status).name if status < 0 else f"exit status {status}"
