"""A child process that does what drivers do on bad days."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import time

from coarsen.tuning.processes.child_process import Message, serve


def echo(request: Message) -> Message:
    return {"said": request["say"], "process": os.getpid()}


def chatter(request: Message) -> Message:
    os.write(1, b"a driver's remark on standard output, from C\n")
    print("another one, from Python", flush=True)
    return {"said": request["say"]}


def hang(request: Message) -> Message:
    time.sleep(request["seconds"])
    return {}


def crash(_request: Message) -> Message:
    print("assertion failed: the last words", file=sys.stderr)
    print(
        "PLEASE submit a bug report to https://vendor.example/ and include the crash backtrace.",
        file=sys.stderr,
        flush=True,
    )
    os.kill(os.getpid(), signal.SIGSEGV)
    return {}


def flood(request: Message) -> Message:
    for _ in range(request["megabytes"]):
        sys.stderr.write("x" * (1 << 20) + "\n")
    sys.stderr.flush()
    return {"said": "after the flood"}


def print_on(_request: Message) -> Message:
    """Print as a kernel's work-items do, and go on once what was printed is forgotten."""
    sys.stderr.write("x" * (1 << 21))
    sys.stderr.flush()
    while os.fstat(2).st_size > 1 << 20:
        time.sleep(0.01)
    return {"said": "forgotten"}


def hang_at_the_end(_request: Message) -> Message:
    atexit.register(time.sleep, 600)  # as a driver's destructor may
    raise ValueError("said before it hung")


def variable(request: Message) -> Message:
    return {"value": os.environ.get(request["name"])}


def leave(request: Message) -> Message:
    sys.exit(request["code"])


def fail(_request: Message) -> Message:
    raise ValueError("what a bug raises")


if __name__ == "__main__":
    print("a remark of a library that is loaded", flush=True)
    handlers = {"echo": echo, "chatter": chatter, "hang": hang, "crash": crash, "leave": leave, "fail": fail}
    serve(
        {
            **handlers,
            "flood": flood,
            "print on": print_on,
            "variable": variable,
            "hang at the end": hang_at_the_end,
        }
    )
