"""The inner side of a child process: answers requests, one JSON object per line, until its input ends.

What anything in the process prints to standard output (drivers do) goes to standard error; only answers reach the
parent. The process ends with its parent, whatever it is doing.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TextIO

Message = Mapping[str, Any]
Handler = Callable[[Message], Message]

_PR_SET_PDEATHSIG = 1


def serve(handlers: Mapping[str, Handler]) -> None:
    """Answer requests: `{"do": name, …}` goes to the handler of that name, whose result is the answer.

    An exception ends the process: the parent finds it dead, with the traceback on its standard error.
    """
    end_with_parent()
    with _answers() as answers:
        for line in sys.stdin:
            request = json.loads(line)
            answers.write(json.dumps(handlers[request["do"]](request)) + "\n")
            answers.flush()


def end_with_parent() -> None:
    """Let the kernel kill this process when its parent ends, on Linux; elsewhere the end of its input does."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


@contextlib.contextmanager
def _answers() -> Iterator[TextIO]:
    """The pipe to the parent, to which nothing else in this process can write from now on."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with answers:
        yield answers
