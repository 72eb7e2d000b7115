"""Events of a sweep, reported to an observer, and how it ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from coarsen.base.bug_report import bug_message
from coarsen.errors import CoarsenError, InternalError, InvalidInputError, VerificationError
from coarsen.tuning.records.measurement import Invalidity, Measurement
from coarsen.tuning.search.searcher import Found
from coarsen.variant.variant import Variant


@dataclass(frozen=True, slots=True)
class SearchProgress:
    """The progress of a search; limits are None where there are none.

    Attributes:
        trial: the number of the trial that begins, from 1 on.
        most_trials: how many there are at most.
        seconds: wall-clock time of the trials before.
        most_seconds: after how many no further one begins.
    """

    trial: int
    most_trials: int | None
    seconds: float = 0.0
    most_seconds: float | None = None

    def __str__(self) -> str:
        trials = f"trial {self.trial}" + (f" of {self.most_trials}" if self.most_trials is not None else "")
        return trials + (f", {self.seconds:.0f} of {self.most_seconds:g} s" if self.most_seconds else "")


class SweepObserver:
    """Base class of sweep observers; does nothing. Methods are called in the thread that sweeps."""

    def planned(self, benchmark: str, device: str, configurations: int) -> None:
        """Note that the sweep of a benchmark begins; it has so many rows, stored ones included."""

    def compiling(self, configurations: int) -> None:
        """Note that so many configurations are compiled, before any is measured (on a CPU, which does both)."""

    def measuring(self, benchmark: str, candidate: Variant) -> None:
        """Note that a configuration is about to be measured."""

    def trying(self, progress: SearchProgress) -> None:
        """Note that a search begins a trial."""

    def stored(self, measurement: Measurement, measured: bool) -> None:
        """Note that a row is in the store: just measured, or (`measured` is false) found there."""


@dataclass(frozen=True, slots=True)
class Searched:
    """The result of a search over the variants of a space.

    Attributes:
        searcher: its name.
        found: what it found; its times are relative to the baseline's.
        best: the fastest variant before any is confirmed; None if nothing could run.
        choices: how many configurations may be tried; None where the space is too large to be counted.
    """

    searcher: str
    found: Found
    best: Variant | None
    choices: int | None

    @property
    def tried(self) -> int:
        """The number of configurations tried, failed ones too."""
        return len(self.found.trace)

    @property
    def failed(self) -> int:
        """The number of those that have no time."""
        return sum(trial.time is None for trial in self.found.trace)

    @property
    def share(self) -> float | None:
        """The share of the configurations that was tried; None where these are not counted."""
        return self.tried / self.choices if self.choices else None


class CollectingObserver(SweepObserver):
    """Passes everything on to another observer and keeps the rows."""

    def __init__(self, onwards: SweepObserver) -> None:
        self._onwards = onwards
        self._rows: list[Measurement] = []
        self.measured = 0

    @property
    def rows(self) -> Sequence[Measurement]:
        """The rows so far."""
        return self._rows

    def planned(self, benchmark: str, device: str, configurations: int) -> None:
        """See `SweepObserver`."""
        self._onwards.planned(benchmark, device, configurations)

    def compiling(self, configurations: int) -> None:
        """See `SweepObserver`."""
        self._onwards.compiling(configurations)

    def measuring(self, benchmark: str, candidate: Variant) -> None:
        """See `SweepObserver`."""
        self._onwards.measuring(benchmark, candidate)

    def trying(self, progress: SearchProgress) -> None:
        """See `SweepObserver`."""
        self._onwards.trying(progress)

    def stored(self, measurement: Measurement, measured: bool) -> None:
        """See `SweepObserver`."""
        self._rows.append(measurement)
        self.measured += measured
        self._onwards.stored(measurement, measured)


# Ending of a sweep that came to nothing: in one line, and as the exit code of the command line.


def problem_of(error: Exception) -> tuple[str, int]:
    """Return an error in one line, and its exit code."""
    text = " ".join(str(error).split())
    if isinstance(error, CoarsenError) and not isinstance(error, InternalError):
        return text, error.exit_code
    return bug_message(error), InternalError.exit_code


def exit_code_without_baseline(rows: Iterable[Measurement]) -> int:
    """Return the exit code where no uncoarsened configuration runs correctly.

    The device works, but there is nothing that others could be verified against.
    """
    endings = {row.invalidity for row in rows}
    has_run = endings & {Invalidity.CORRECTNESS, Invalidity.RUNTIME, Invalidity.TIMEOUT}
    return VerificationError.exit_code if has_run else InvalidInputError.exit_code
