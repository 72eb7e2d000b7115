"""The process in which attempts are made: a crash or a hang ends it, and not the one that asks.

    python -m tests.fuzz.worker

Each line of the standard input is a JSON object: an attempt, a device (a part of its name) and a form. Each line
of the standard output is one too: {"stage": …} before what may crash, {"kind": …, "detail": …} at the end.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sys
import warnings
from dataclasses import dataclass
from typing import Any, TextIO

import pyopencl as cl

from coarsen.devices.discovery import open_device
from coarsen.devices.selection import find_device
from coarsen.ir.processes import end_with_parent
from tests.fuzz.attempt import Attempt, Found, attempt
from tests.oclgrind.watch import Findings, watching

_UNTIL_THE_END = contextlib.ExitStack()


@dataclass(frozen=True)
class _Device:
    """A context on a device, and what a simulator has found on it; nothing on other devices."""

    context: cl.Context
    found: Found


@functools.cache
def _device(name: str) -> _Device:
    """The device that is called so."""
    described = find_device(name)
    if described.is_called("oclgrind"):
        watched = _UNTIL_THE_END.enter_context(watching(described))
        return _Device(watched.context, watched.findings)
    return _Device(cl.Context([open_device(described)]), Findings)


def _serve(answers: TextIO) -> None:
    def say(**fields: Any) -> None:  # noqa: ANN401 (whatever JSON takes)
        answers.write(json.dumps(fields) + "\n")
        answers.flush()

    for line in sys.stdin:
        wanted = json.loads(line)
        on, tried = _device(wanted["device"]), Attempt.of(wanted["attempt"])
        queue = cl.CommandQueue(on.context)
        verdict = attempt(tried, queue, wanted["form"], lambda stage: say(stage=stage), on.found)
        say(kind=verdict.kind, detail=verdict.detail)


def main() -> None:
    end_with_parent()
    warnings.filterwarnings("ignore")  # what drivers' compilers say
    # Drivers print to the standard output: answers go to what it was, all else to the standard error.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    with _UNTIL_THE_END:
        _serve(answers)


if __name__ == "__main__":
    main()
