"""The best configuration of a case: the one definition behind every table, figure, page and report.

rows of a case ─▶ those over the newest baseline, as confirmed ─▶ Choice ─▶ the best, or the baseline left as it is

- Rows over another baseline than the newest comparison's are other measurements: they are counted, never mixed in.
- Where anything was confirmed (timed once more, in new processes), only what was confirmed can be the best, and of
  this only what was in the most processes. What failed in one of them can't be the best.
- Nothing is the best that is not faster: the best is the fastest of those whose interval lies above 1, or else the
  baseline itself, at 1.
- An uncoarsened configuration that beats the baseline becomes the baseline: all speed-ups are then over it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from coarsen.tuning.engine.speedups import across_processes, over_another, quotient
from coarsen.tuning.measure.speedup import CLEAR_GAIN, Speedup
from coarsen.tuning.records.measurement import Role


@dataclass(frozen=True, slots=True)
class Choice:
    """The best of a case, and what it was chosen from.

    Attributes:
        rows: one for each configuration, the latest, as confirmed where it was (with the key of its last
            confirmation); all speed-ups are over `baseline`.
        confirmed: the keys of those that were confirmed.
        baseline: the launch that speed-ups are over; None where it is not known.
        timed_over: the launch that rows were timed against: another one where an uncoarsened one was faster.
        best: the row of the best configuration; None where nothing is faster and the baseline has no row.
        speedup: of the best over `baseline`; None where nothing has one.
        challenger: the fastest row of other code that may be the best; the best, if one is.
        itself: what the launch that all was timed against has against itself in several new processes; None
            where that was not measured.
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
    itself: Speedup | None
    looked_at: frozenset[str]
    others: tuple[Hashable, ...]

    @property
    def processes(self) -> int:
        """In how many new processes the best was timed, the baseline too where it is that; 0 where in none."""
        return len(self.best.confirmations) if self.best else 0


def most_doubtful(gains: Iterable[Speedup]) -> Speedup | None:
    """Return the largest of those that may be gains, but are too uncertain to be chosen; None for none."""
    doubts = [gain for gain in gains if not gain.is_certain and gain.high > CLEAR_GAIN]
    return max(doubts, key=lambda gain: gain.ratio, default=None)


def choose(rows: Iterable[Compared], exact: Exact | None = None) -> Choice:
    """Choose the best of a case.

    Args:
        rows: comparisons and confirmations of one case; rows of other roles are not looked at.
        exact: gives the speed-up of a row with its interval, where the rows' own have none; asked for those of
            `looked_at` alone.
    """
    known = sorted(rows, key=lambda row: row.started)
    comparisons = [row for row in known if row.role is Role.COMPARISON]
    baseline = _newest_baseline(comparisons)
    alike = [row for row in comparisons if row.baseline in (baseline, None)]
    again = [row for row in known if row.role is Role.CONFIRMATION and row.baseline == baseline]
    confirmed = [*_as_confirmed(alike, again)]
    own = next((row for row in confirmed if row.is_original and row.launch == baseline and row.gain), None)
    # At 1 if it is the baseline's own: what that had against itself says how noisy the clock is.
    shown = tuple(replace(row, gain=ITSELF) if own and row.key == own.key else row for row in confirmed)
    faster = _fastest_other_launch(shown, baseline)
    contenders = _contenders(shown, confirmed_only=bool(again))
    looked_at = [row for row in (faster, *contenders) if row] or ([own] if own else [])
    return _decided(
        Choice(
            rows=shown,
            confirmed=frozenset(row.key for row in shown if row.confirmations),
            baseline=baseline,
            timed_over=baseline,
            best=replace(own, gain=ITSELF) if own else None,
            speedup=ITSELF if any(row.gain for row in shown) else None,
            challenger=None,
            itself=own.gain if own and len(own.confirmations) > 1 else None,
            looked_at=frozenset(key for row in looked_at for key in row.keys),
            others=_others(comparisons, baseline),
        ),
        faster,
        contenders,
        exact or _own,
    )


def _decided(choice: Choice, faster: Compared | None, contenders: Sequence[Compared], exact: Exact) -> Choice:
    """The choice over a faster uncoarsened launch, with the first contender that beats it as the best."""
    launch = faster if faster is not None and _is_faster(faster, exact) else None
    if launch is not None:
        choice = replace(
            choice,
            rows=tuple(replace(row, gain=_gain_over(row, launch, _own)) for row in choice.rows),
            baseline=launch.launch,
            best=replace(launch, gain=ITSELF),
            speedup=ITSELF,
        )
    gains = [(row, _gain_over(row, launch, exact) if launch else _exact_gain(row, exact)) for row in contenders]
    known = [replace(row, gain=gain) for row, gain in gains]
    best = next((row for row in known if row.gain and _lies_above(row.gain, 1.0)), None)
    if best is None:
        return replace(choice, challenger=known[0] if known else None)
    return replace(choice, challenger=best, best=best, speedup=best.gain)


def _own(row: Compared) -> Speedup | None:
    return row.gain


def _newest_baseline(comparisons: Sequence[Compared]) -> Hashable | None:
    """The baseline of the latest comparison that has times, or else of the latest that has a baseline."""
    timed = [row.baseline for row in comparisons if row.baseline is not None and row.gain]
    known = timed or [row.baseline for row in comparisons if row.baseline is not None]
    return known[-1] if known else None


def _others(comparisons: Iterable[Compared], baseline: Hashable | None) -> tuple[Hashable, ...]:
    others = dict.fromkeys(row.baseline for row in comparisons if row.gain)
    return tuple(other for other in others if other not in (baseline, None))


def _fastest_other_launch(rows: Iterable[Compared], baseline: Hashable | None) -> Compared | None:
    """The fastest uncoarsened launch that is not the baseline, of the confirmed ones where any was confirmed.

    None where none looks faster than the baseline.
    """
    others = [row for row in rows if row.is_original and row.launch != baseline]
    eligible = [row for row in others if row.confirmations] or others
    return max((row for row in eligible if row.ratio > 1), key=lambda row: row.ratio, default=None)


def _is_faster(row: Compared, exact: Exact) -> bool:
    """Return True if an uncoarsened launch beats the baseline: clearly, where it was not confirmed."""
    gain = _exact_gain(row, exact)
    return gain is not None and _lies_above(gain, 1.0 if row.confirmations else CLEAR_GAIN)


def _contenders(rows: Sequence[Compared], *, confirmed_only: bool) -> tuple[Compared, ...]:
    """The configurations of other code that may be the best, the fastest first; just it where none was confirmed.

    They are coarsened, or their arrays lie otherwise.
    """
    changed = sorted((row for row in rows if not row.is_original and row.gain), key=lambda row: -row.ratio)
    if not confirmed_only:
        return tuple(changed[:1])
    most = max((len(row.confirmations) for row in changed), default=0)
    return tuple(row for row in changed if row.confirmations and len(row.confirmations) == most)


def _lies_above(gain: Speedup, least: float) -> bool:
    """Return True if the interval lies above a speed-up; where it is not known, the speed-up itself."""
    return (gain.ratio if math.isnan(gain.low) else gain.low) > least


# What the choice of the best looks at: rows of a case, each as it was confirmed.
#
# comparisons, confirmations ─▶ one Compared for each configuration, which stands for all of its processes

ITSELF = Speedup(1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Compared:
    """A row, or the rows that it stands for; configurations and launches are whatever tells them apart.

    Args:
        key: the row's.
        configuration: all of it.
        launch: the same uncoarsened.
        baseline: the launch that it was timed against; None where it never ran.
        factor: of its coarsening.
        is_rearranged: whether arrays lie otherwise than in the source, or the kernel is rewritten without merging.
        role: what it was measured for.
        started: when, in seconds since any moment.
        gain: its speed-up over the baseline; None where it has none.
        invocation: which process of several it was confirmed in, from 0.
        confirmations: the rows, one for each process, that this one stands for; none if it stands for itself.
    """

    key: str
    configuration: Hashable
    launch: Hashable
    baseline: Hashable | None
    factor: int
    role: Role
    started: float
    gain: Speedup | None
    invocation: int = 0
    confirmations: tuple[Compared, ...] = ()
    is_rearranged: bool = False

    @property
    def is_original(self) -> bool:
        """Return True if it is the kernel as written: nothing is merged, and arrays are read as in the source."""
        return self.factor == 1 and not self.is_rearranged

    @property
    def ratio(self) -> float:
        """The speed-up, 0 where there is none."""
        return self.gain.ratio if self.gain else 0.0

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the rows that it stands for."""
        return tuple(each.key for each in self.confirmations or (self,))


# Gives the speed-up of a row with its interval.
Exact = Callable[[Compared], Speedup | None]


def _as_confirmed(comparisons: Iterable[Compared], confirmations: Iterable[Compared]) -> Iterator[Compared]:
    """Yield one row for each configuration that was compared: the last, with the speed-up of its confirmations.

    What failed when it was confirmed has failed. All are in the order of time.
    """
    found: dict[Hashable, dict[int, Compared]] = {}
    for row in confirmations:
        found.setdefault(row.configuration, {})[row.invocation] = row
    for name, row in {row.configuration: row for row in comparisons}.items():
        own = tuple(found.get(name, {}).values())
        failed = [each for each in own if each.gain is None]
        if failed or not own:
            yield failed[-1] if failed else row
            continue
        # Without the interval, which takes time and is known to few, where there is one process.
        yield replace(own[-1], gain=_exact_gain(replace(row, confirmations=own), _own), confirmations=own)


def _exact_gain(row: Compared, exact: Exact) -> Speedup | None:
    """The speed-up of a row, of all of its processes where it was confirmed; `exact` is asked where none are."""
    if len(row.confirmations) > 1:
        return across_processes(each.gain for each in row.confirmations if each.gain)
    return exact(row.confirmations[0] if row.confirmations else row)


def _gain_over(row: Compared, launch: Compared, exact: Exact) -> Speedup | None:
    """The speed-up over another launch than the baseline, which both were timed against.

    Where both were confirmed as often, process by process, unless one had to be started again in between.
    """
    if row.key == launch.key:
        return ITSELF
    own, others = ({each.invocation: each.gain for each in one.confirmations} for one in (row, launch))
    if len(own) > 1 and own.keys() == others.keys():
        return over_another(own.values(), (others[name] for name in own))
    gain = _exact_gain(row, exact)
    return quotient(gain, _exact_gain(launch, exact) or ITSELF) if gain else None
