"""The inner side of a child process: answers requests, one JSON object per line, until its input ends.

What anything in the process prints to standard output (drivers do) goes to standard error; only answers reach the
parent. The process ends with its parent, whatever it is doing.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TextIO

from coarsen.backend.processes import end_with_parent

Message = Mapping[str, Any]
Handler = Callable[[Message], Message]


def serve(handlers: Mapping[str, Handler]) -> None:
    """Answer requests: `{"do": name, …}` goes to the handler of that name, whose result is the answer.

    An exception ends the process: the parent finds it dead, with the traceback on its standard error.
    """
    end_with_parent()  # elsewhere than on Linux the end of its input ends it
    with _answers() as answers:
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
