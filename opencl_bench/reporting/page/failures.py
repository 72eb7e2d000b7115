"""Configurations without a speed-up, by how they ended and why."""

from __future__ import annotations

from collections.abc import Iterable

from coarsen.opencl_bench.records.measurement import Invalidity, Measurement
from coarsen.opencl_bench.reporting.page.content import FailureGroup, Failures
from coarsen.opencl_bench.results.speedups import speedup_of

# In the words of `opencl_bench/data/README.md`.
ENDINGS = {
    Invalidity.CORRECT: "timed",
    Invalidity.CONSTRAINTS: "broke a constraint",
    Invalidity.TIMEOUT: "given up",
    Invalidity.COMPILE: "not compiled",
    Invalidity.RUNTIME: "failed while running",
    Invalidity.CORRECTNESS: "wrong results",
}
_NO_CLOCK = "the device's clock is too coarse for it: a duration of 0"


def failures_of(place: str, measurements: Iterable[Measurement]) -> Failures | None:
    """A kernel's at a place, largest group first; None where everything has a speed-up.

    Args:
        place: its slug.
        measurements: of one kernel there, of any role; a configuration that failed in several counts once.
    """
    groups: dict[tuple[Invalidity, str], dict[str, None]] = {}
    for row in measurements:
        if row.invalidity is not Invalidity.CORRECT:
            groups.setdefault((row.invalidity, row.reason), {})[str(row.candidate)] = None
        elif speedup_of(row, interval=False) is None:
            groups.setdefault((row.invalidity, _NO_CLOCK), {})[str(row.candidate)] = None
    if not groups:
        return None
    ordered = sorted(groups.items(), key=lambda entry: -len(entry[1]))
    excluded = [entry for entry in ordered if entry[0][0] is Invalidity.CONSTRAINTS]
    tried = [entry for entry in ordered if entry[0][0] is not Invalidity.CONSTRAINTS]
    return Failures(place, *(tuple(_group(*entry) for entry in entries) for entries in (tried, excluded)))


def _group(what: tuple[Invalidity, str], configurations: Iterable[str]) -> FailureGroup:
    ending, reason = what
    word = "no time" if ending is Invalidity.CORRECT else ENDINGS[ending]
    return FailureGroup(word, reason or "no reason was stored", tuple(configurations))
