"""The process in which attempts are made: a crash or a hang ends it, and not the one that asks.

    python -m tests.fuzz.worker

Each line of the standard input is a JSON object: an attempt, a device (a part of its name) and a form. Each line
of the standard output is one too: {"stage": …} before what may crash, {"kind": …, "detail": …} at the end.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import warnings
from typing import Any, TextIO

import pyopencl as cl

from coarsen.backend.processes import end_with_parent
from coarsen.devices.discovery import open_device
from coarsen.devices.selection import find_device
from tests.fuzz.attempt import Attempt, attempt


@functools.cache
def context_of(name: str) -> cl.Context:
    """A context on the device that is called so."""
    return cl.Context([open_device(find_device(name))])


def _serve(answers: TextIO) -> None:
    def say(**fields: Any) -> None:  # noqa: ANN401 (whatever JSON takes)
        answers.write(json.dumps(fields) + "\n")
        answers.flush()

    for line in sys.stdin:
        wanted = json.loads(line)
        queue = cl.CommandQueue(context_of(wanted["device"]))
        verdict = attempt(Attempt.of(wanted["attempt"]), queue, wanted["form"], lambda stage: say(stage=stage))
        say(kind=verdict.kind, detail=verdict.detail)


def main() -> None:
    end_with_parent()
    warnings.filterwarnings("ignore")  # what drivers' compilers say
    # Drivers print to the standard output: answers go to what it was, all else to the standard error.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    _serve(answers)


if __name__ == "__main__":
    main()
