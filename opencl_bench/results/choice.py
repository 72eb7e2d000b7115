"""The best configuration of a case: the one definition behind every table, figure, page and report.

rows of a case ─▶ those over the newest baseline, as confirmed ─▶ Choice ─▶ the best, or the baseline left as it is

- Rows over another baseline than the newest comparison's are other measurements: they are counted, never mixed in.
- Where anything was confirmed (timed once more, in a new process), only what was confirmed can be the best.
- Nothing is the best that is not faster: unless its interval lies above 1, the baseline itself is the best, at 1.
- An uncoarsened configuration that beats the baseline becomes the baseline: all speed-ups are then over it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

from coarsen.opencl_bench.measure.speedup import Speedup
from coarsen.opencl_bench.records.measurement import Role
from coarsen.opencl_bench.results.speedups import quotient

# Smaller gains are what the same code shows against itself on a CPU, significant or not (data/README.md).
CLEAR_GAIN = 1.05
ITSELF = Speedup(1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Compared:
    """What the choice of the best looks at in a row; configurations and launches are whatever tells them apart.

    Args:
        key: the row's.
        configuration: all of it.
        launch: the same uncoarsened.
        baseline: the launch that it was timed against; None where it never ran.
        factor: of its coarsening.
        role: what it was measured for.
        started: when, in seconds since any moment.
        gain: its speed-up over the baseline; None where it has none.
    """

    key: str
    configuration: Hashable
    launch: Hashable
    baseline: Hashable | None
    factor: int
    role: Role
    started: float
    gain: Speedup | None

    @property
    def ratio(self) -> float:
        """The speed-up, 0 where there is none."""
        return self.gain.ratio if self.gain else 0.0


@dataclass(frozen=True, slots=True)
class Choice:
    """The best of a case, and what it was chosen from.

    Attributes:
        rows: one for each configuration, the latest, with its confirmation's key and speed-up where there is one;
            all speed-ups are over `baseline`.
        confirmed: the keys of those that are confirmations.
        baseline: the launch that speed-ups are over; None where it is not known.
        timed_over: the launch that rows were timed against: another one where an uncoarsened one was faster.
        best: the row of the best configuration; None where nothing is faster and the baseline has no row.
        speedup: of the best over `baseline`; None where nothing has one.
        challenger: the fastest coarsened row, which the best is unless it is not faster than the baseline.
        looked_at: the keys of the rows whose intervals decide.
        others: the launches that left out rows were timed against.
    """

    rows: tuple[Compared, ...]
    confirmed: frozenset[str]
    baseline: Hashable | None
    timed_over: Hashable | None
    best: Compared | None
    speedup: Speedup | None
    challenger: Compared | None
    looked_at: frozenset[str]
    others: tuple[Hashable, ...]

    @property
    def is_confirmed(self) -> bool:
        """Whether the best was timed once more; leaving a kernel as it is needs no confirmation of its own."""
        return self.best is not None and self.best.key in self.confirmed


def choose(rows: Iterable[Compared], exact: Callable[[Compared], Speedup | None] | None = None) -> Choice:
    """Choose the best of a case.

    Args:
        rows: comparisons and confirmations of one case; rows of other roles are not looked at.
        exact: gives the speed-up of a row with its interval, where the rows' own have none.
    """
    known = sorted(rows, key=lambda row: row.started)
    comparisons = [row for row in known if row.role is Role.COMPARISON]
    baseline = _newest_baseline(comparisons)
    alike = [row for row in comparisons if row.baseline in (baseline, None)]
    again = [row for row in known if row.role is Role.CONFIRMATION and row.gain and row.baseline == baseline]
    latest, confirmations = _latest(alike), _latest(again)
    shown = [_at_one(confirmations.get(name, row), baseline) for name, row in latest.items()]
    confirmed = frozenset(row.key for row in confirmations.values())
    faster = _fastest_other_launch(shown, baseline)
    challenger = _challenger(shown, confirmed)
    own = _row_of(shown, baseline)
    looked_at = (row.key for row in (faster, challenger or own) if row)
    return _decided(
        Choice(
            rows=tuple(shown),
            confirmed=confirmed,
            baseline=baseline,
            timed_over=baseline,
            best=own,
            speedup=ITSELF if any(row.gain for row in shown) else None,
            challenger=challenger,
            looked_at=frozenset(looked_at),
            others=_others(comparisons, baseline),
        ),
        faster,
        exact or _own,
    )


def _decided(choice: Choice, faster: Compared | None, exact: Callable[[Compared], Speedup | None]) -> Choice:
    """The choice over a faster uncoarsened launch, and with the challenger as the best if it is faster."""
    if faster is not None and _is_faster(faster, choice.confirmed, exact):
        over = exact(faster) or ITSELF
        choice = replace(
            choice,
            rows=tuple(_rebased(row, faster, over) for row in choice.rows),
            baseline=faster.launch,
            best=replace(faster, gain=ITSELF),
            speedup=ITSELF,
        )
        known, exact = exact, lambda row: _over(known(row), over)
    if choice.challenger is None:
        return choice
    gain = exact(choice.challenger)
    challenger = replace(choice.challenger, gain=gain)
    if gain is None or not _lies_above(gain, 1.0):
        return replace(choice, challenger=challenger)
    return replace(choice, challenger=challenger, best=challenger, speedup=gain)


def _own(row: Compared) -> Speedup | None:
    return row.gain


def _newest_baseline(comparisons: Sequence[Compared]) -> Hashable | None:
    """The baseline of the latest comparison that has times, or else of the latest that has a baseline."""
    timed = [row.baseline for row in comparisons if row.baseline is not None and row.gain]
    known = timed or [row.baseline for row in comparisons if row.baseline is not None]
    return known[-1] if known else None


def _latest(rows: Iterable[Compared]) -> dict[Hashable, Compared]:
    """The last row of each configuration."""
    return {row.configuration: row for row in rows}


def _others(comparisons: Iterable[Compared], baseline: Hashable | None) -> tuple[Hashable, ...]:
    others = dict.fromkeys(row.baseline for row in comparisons if row.gain)
    return tuple(other for other in others if other not in (baseline, None))


def _row_of(rows: Iterable[Compared], launch: Hashable | None) -> Compared | None:
    """The row of a launch itself."""
    return next((row for row in rows if row.factor == 1 and row.launch == launch and row.gain), None)


def _at_one(row: Compared, launch: Hashable | None) -> Compared:
    """The row; at 1 if it is of the launch itself: what it had against itself says how noisy the clock is."""
    is_it = row.factor == 1 and row.launch == launch and row.gain is not None
    return replace(row, gain=ITSELF) if is_it else row


def _fastest_other_launch(rows: Iterable[Compared], baseline: Hashable | None) -> Compared | None:
    """The fastest uncoarsened launch that is not the baseline; None where none looks faster than it."""
    others = [row for row in rows if row.factor == 1 and row.launch != baseline and row.ratio > 1]
    return max(others, key=lambda row: row.ratio, default=None)


def _is_faster(row: Compared, confirmed: frozenset[str], exact: Callable[[Compared], Speedup | None]) -> bool:
    """Whether an uncoarsened launch beats the baseline: clearly, where it was not timed once more."""
    gain = exact(row)
    return gain is not None and _lies_above(gain, 1.0 if row.key in confirmed else CLEAR_GAIN)


def _challenger(rows: Sequence[Compared], confirmed: frozenset[str]) -> Compared | None:
    """The fastest coarsened configuration, of the confirmed ones where anything was confirmed."""
    eligible = [row for row in rows if row.factor > 1 and row.gain and (not confirmed or row.key in confirmed)]
    return max(eligible, key=lambda row: row.ratio, default=None)


def _lies_above(gain: Speedup, least: float) -> bool:
    """Whether the interval lies above a speed-up; where it is not known, the speed-up itself."""
    return (gain.ratio if math.isnan(gain.low) else gain.low) > least


def _over(gain: Speedup | None, over: Speedup) -> Speedup | None:
    return quotient(gain, over) if gain else None


def _rebased(row: Compared, launch: Compared, over: Speedup) -> Compared:
    return replace(row, gain=ITSELF if row.key == launch.key else _over(row.gain, over))
