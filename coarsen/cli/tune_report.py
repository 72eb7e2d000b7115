"""How `coarsen tune` prints what it found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from coarsen.cli.output import counted, print_line, print_table
from coarsen.opencl_bench.measure.speedup import Speedup
from coarsen.opencl_bench.results.paste import paste_of_variant
from coarsen.opencl_bench.tuning.tuned import Tuned
from coarsen.variant.variant import shape
from coarsen.variant.variant_json import variant_to_json


def print_tuned(
    tuned: Tuned, file: str, location: str, reason: str, laid_out: Iterable[tuple[str, str]] = ()
) -> None:
    """Print a result for people, a field a line, and how to use it in a program.

    Args:
        tuned: what was found.
        file: the kernel's source.
        location: where it is remembered; empty where it is not.
        reason: why it is not.
        laid_out: further fields: what was found with arrays that lie otherwise.
    """
    fields = (*_fields(tuned), *laid_out)
    print_table(["field", "value"], ([name, value] for name, value in fields if value))
    print_line()
    for line in paste_of_variant(tuned.choice, tuned.kernel, file).lines:
        print_line(line)
    print_line(f"remembered in {location}" if location else f"not remembered for programs: {reason}")


def tuned_as_data(tuned: Tuned, location: str, reason: str) -> dict[str, Any]:
    """Return the same for JSON."""
    return {
        "kernel": tuned.kernel,
        "device": tuned.device,
        "global_size": list(tuned.global_size),
        "local_size": None if tuned.local_size is None else list(tuned.local_size),
        "is_faster": tuned.is_faster,
        "doubt": tuned.doubt or None,
        "choice": variant_to_json(tuned.choice),
        "speedup": asdict(tuned.speedup),
        "speedup_over_uncoarsened": _as_data(tuned.decision.over_uncoarsened),
        "processes": tuned.decision.processes,
        "trials": tuned.trials,
        "failed": tuned.failed,
        "wrong": list(tuned.wrong),
        "share": tuned.share,
        "seconds": tuned.seconds,
        "ending": tuned.ending,
        "store": location or None,
        "not_remembered": reason or None,
    }


def _as_data(speedup: Speedup | None) -> dict[str, Any] | None:
    return None if speedup is None else asdict(speedup)


def _fields(tuned: Tuned) -> Iterator[tuple[str, str]]:
    local_size = "left to the device" if tuned.local_size is None else shape(tuned.local_size)
    yield "kernel", tuned.kernel
    yield "device", tuned.device
    yield "tuned at", f"global size {shape(tuned.global_size)}, local size {local_size}"
    yield "choice", str(tuned.choice) if tuned.is_faster else f"as it is: {tuned.doubt or 'nothing is faster'}"
    if tuned.is_faster:
        yield "speed-up over the launch as it was", str(tuned.speedup)
        yield "over the fastest local size tried uncoarsened", str(tuned.decision.over_uncoarsened or "")
        yield "confirmed", f"in {counted_processes(tuned.decision.processes)}"
    yield "tried", _tried(tuned)
    yield "failed", counted(tuned.failed, "variant") if tuned.failed else ""
    yield "ended", tuned.ending


def counted_processes(number: int) -> str:
    """`1 new process`, `3 new processes`."""
    return "1 new process" if number == 1 else f"{number} new processes"


def _tried(tuned: Tuned) -> str:
    share = "" if tuned.share is None else f", {100 * tuned.share:.2g} % of those that may run,"
    return f"{counted(tuned.trials, 'variant')}{share} in {tuned.seconds:.1f} s"
