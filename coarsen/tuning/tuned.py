"""The result of tuning one launch."""

from __future__ import annotations

from dataclasses import dataclass

from coarsen.tuning.measure.speedup import Speedup
from coarsen.variant.variant import LocalSize, Variant, shape


@dataclass(frozen=True, slots=True)
class Conversion:
    """The seconds that a conversion takes, and the runs of the job until it pays; None where it never does."""

    seconds: float
    runs: int | None

    @property
    def sentence(self) -> str:
        """Say both."""
        took = f"to pack its arrays and unpack what it writes took the host {self.seconds * 1e3:.3g} ms"
        if self.runs is None:
            return f"{took}, which never pays"
        return f"{took}: that pays after {self.runs} run{'s' if self.runs > 1 else ''} on the same data"


@dataclass(frozen=True, slots=True)
class Decision:
    """The choice among finalists.

    Attributes:
        choice: the variant; the launch as it was where nothing is faster.
        speedup: of the choice over the launch as it was, with its interval.
        over_uncoarsened: over the fastest uncoarsened local size of those tried; None where no other one than the
            launch's own was timed again.
        processes: in how many new processes the choice was timed.
        nanoseconds: the launch as it was and the choice, medians of the last of these processes; zeros where
            neither was timed again.
        doubtful: the speed-up of the variant that may be the fastest, where its interval is too wide to tell and
            nothing is chosen for that; None where the choice is certain.
    """

    choice: Variant
    speedup: Speedup
    over_uncoarsened: Speedup | None
    processes: int
    nanoseconds: tuple[float, float]
    doubtful: Speedup | None = None


@dataclass(frozen=True, slots=True)
class LaidOutChoice:
    """The best variant whose arrays lie otherwise.

    Attributes:
        variant: with the arrays' plans.
        speedup: over the launch as it was, without the conversion.
        own_seconds: a run of the launch as it was.
        without: the speed-up of the best variant whose arrays lie as written; 1 where the launch as it was is.
        conversion: what packing and unpacking took the host, and after how many runs it pays beside that variant.
    """

    variant: Variant
    speedup: Speedup
    own_seconds: float
    without: float
    conversion: Conversion

    def gain_over(self, runs: int) -> float:
        """Return how many times as fast so many runs on the same data are, conversion included, as without.

        Args:
            runs: at least one.
        """
        seconds = self.conversion.seconds + runs * self.own_seconds / self.speedup.ratio
        return runs * self.own_seconds / self.without / seconds


@dataclass(frozen=True, slots=True)
class Tuned:
    """The result of tuning for a launch.

    Attributes:
        kernel: its name.
        device: where it ran.
        global_size: of the launch, in work-items.
        local_size: of the launch as it was, in work-items; None where it was left to the implementation.
        decision: what is chosen, and its speed-ups as timed in new processes.
        trials: how many variants were tried, those that failed too.
        failed: how many of these did not run, or not correctly.
        share: of the space's variants that may run, how many were tried; None where these were not counted.
        seconds: how long it all took.
        ending: why the search ended, in a few words.
        wrong: the variants whose results were wrong, each with what is wrong.
        laid_out: the best of the variants whose arrays lie otherwise; None where none was tried or is faster.
        laid_out_trials: how many of those were tried.
    """

    kernel: str
    device: str
    global_size: tuple[int, ...]
    local_size: LocalSize | None
    decision: Decision
    trials: int
    failed: int
    share: float | None
    seconds: float
    ending: str
    wrong: tuple[str, ...] = ()
    laid_out: LaidOutChoice | None = None
    laid_out_trials: int = 0

    @property
    def choice(self) -> Variant:
        """The variant that is chosen; the launch as it was where nothing is faster."""
        return self.decision.choice

    @property
    def speedup(self) -> Speedup:
        """The speed-up of the choice over the launch as it was, with its interval."""
        return self.decision.speedup

    @property
    def is_faster(self) -> bool:
        """Return True if anything is faster than the launch as it was."""
        return self.decision.processes > 0

    @property
    def doubt(self) -> str:
        """Return why nothing is certain, and nothing to be remembered, in words; empty where the choice is."""
        doubtful = self.decision.doubtful
        return "" if doubtful is None else f"{doubtful.doubt}; tune again when the machine has nothing else to do"

    def __str__(self) -> str:
        sizes = f"{shape(self.global_size)} work-items"
        tried = f"{self.trials} variants tried in {self.seconds:.1f} s"
        if self.doubt:
            return f"{self.kernel} on {self.device}, {sizes}: as it is, since {self.doubt}; {tried}"
        if not self.is_faster:
            return f"{self.kernel} on {self.device}, {sizes}: nothing is faster than the launch as it is; {tried}"
        gain = f"{self.speedup.ratio:.2f} ({self.speedup.low:.2f} to {self.speedup.high:.2f}) times as fast"
        count = self.decision.processes
        processes = "one new process" if count == 1 else f"{count} new processes"
        return f"{self.kernel} on {self.device}, {sizes}: {gain} with {self.choice}, in {processes}; {tried}"
