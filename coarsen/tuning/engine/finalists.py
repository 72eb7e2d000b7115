"""The best variants of a search, timed again in new processes: what is chosen, or that nothing is faster.

trials ─▶ the two fastest, and the fastest uncoarsened launch beside the own ─▶ up to 3 new processes ─▶ Decision

The largest of many noisy numbers is too large, and how fast code runs changes from process to process. So a
variant is chosen only if it is faster than the launch as it was in these processes, with its whole interval; and
clearly so where the time sufficed for fewer than three. From an interval that is too wide nothing follows, neither
that a variant is faster nor that none is: it is timed again in more processes while there is time.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence

from coarsen.errors import DeviceError
from coarsen.tuning.engine.choice import most_doubtful
from coarsen.tuning.engine.row_measurer import RowMeasurer
from coarsen.tuning.engine.speedups import across_processes, over_another, speedup_of
from coarsen.tuning.measure.speedup import CLEAR_GAIN, Speedup, median
from coarsen.tuning.progress import Deadline
from coarsen.tuning.records.measurement import Invalidity, Measurement
from coarsen.tuning.tuned import Decision
from coarsen.variant.variant import Variant

Confirmed = Mapping[Variant, Sequence[Measurement]]

# What is timed again is, in so many new processes.
PROCESSES = 3
# Of those that look faster than the launch as it is, so many are timed again.
FINALISTS = 2
# Nothing that gains less is worth another process.
_LEAST_GAIN = 1.01
# Nor is another uncoarsened launch that gains less, beside a choice that gains more.
_LEAST_GAIN_OF_LAUNCH = 1.05

# In so many processes finalists are timed at most, where fewer leave it uncertain.
_MOST_PROCESSES = 3 * PROCESSES

_AS_IT_WAS = Speedup(1.0, 1.0, 1.0)


def finalists(gains: Mapping[Variant, float]) -> tuple[Variant, ...]:
    """Return the variants that are timed again, the fastest first; none where nothing looks faster.

    Those whose arrays lie otherwise come last, as many of them: a program that converts nothing can't have them.

    Args:
        gains: how many times as fast as the launch as it is each variant was that ran correctly.
    """
    plain = {each: gain for each, gain in gains.items() if not each.arrays}
    laid_out = {each: gain for each, gain in gains.items() if each.arrays}
    return (*_finalists(plain), *_finalists(laid_out))


def _finalists(gains: Mapping[Variant, float]) -> tuple[Variant, ...]:
    faster = sorted((each for each in gains if gains[each] > _LEAST_GAIN), key=lambda each: -gains[each])
    launches = [each for each in faster if not each.coarsenings and gains[each] > _LEAST_GAIN_OF_LAUNCH]
    return tuple(dict.fromkeys((*faster[:FINALISTS], *launches[:1])))


def confirm(
    variants: Sequence[Variant],
    own: Variant,
    measurers: Iterable[RowMeasurer],
    deadline: Deadline | None = None,
    first: int = 0,
) -> Confirmed | None:
    """Time variants again, in each process another one first; what fails in one is not timed in the next.

    A process that the time does not suffice for counts for nothing, unless it is the first: of that, the variants
    count that were timed. Each process is ended once it was used.

    Args:
        variants: from `finalists`, or those of a sweep.
        own: the launch as it is, which each is timed in turns with.
        measurers: each with a new process; at most `PROCESSES` are used.
        deadline: when it has to be over; None for no such moment.
        first: the number of the first process, among all that these are timed in.

    Returns:
        The rows of each variant that failed nowhere; None where the time did not suffice for one of them.

    Raises:
        DeviceError: the device can't be opened, or the launch as it is does not run on it any more.
        InvalidInputError: the kernel isn't what it was.
    """
    rows: dict[Variant, tuple[Measurement, ...]] = dict.fromkeys(variants, ())
    for invocation, measurer in enumerate(itertools.islice(measurers, PROCESSES), first):
        found, is_whole = _confirmed(in_turn(tuple(rows), invocation), own, measurer, invocation, deadline)
        measurer.close()
        correct = {row.candidate: row for row in found if row.invalidity is Invalidity.CORRECT}
        if not is_whole and (invocation or not correct):
            return rows if invocation else None
        rows = {variant: (*known, correct[variant]) for variant, known in rows.items() if variant in correct}
    return rows


def in_turn(variants: Sequence[Variant], invocation: int) -> tuple[Variant, ...]:
    """Return variants in the order of a process: another one begins in each."""
    start = invocation % len(variants) if variants else 0
    return (*variants[start:], *variants[:start])


def confirm_again(
    confirmed: Confirmed, own: Variant, measurers: Callable[[], Sequence[RowMeasurer]], deadline: Deadline
) -> Confirmed:
    """Time variants in further processes, as long as their intervals are too wide to tell, and there is time.

    Args:
        confirmed: from `confirm`.
        own: the launch as it is.
        measurers: makes `PROCESSES` of them, each with a new process.
        deadline: when it has to be over.

    Returns:
        The rows of each variant that failed nowhere, those of `confirmed` first.
    """
    for first in range(PROCESSES, _MOST_PROCESSES, PROCESSES):
        if deadline.is_over or not _is_doubtful(confirmed, own):
            break
        more = confirm(tuple(confirmed), own, measurers(), deadline, first) or {}
        confirmed = {variant: (*confirmed[variant], *rows) for variant, rows in more.items()}
    return confirmed


def _is_doubtful(confirmed: Confirmed, own: Variant) -> bool:
    """Return True if nothing can be chosen for lack of certainty; arrays that lie otherwise are a choice apart."""
    laid_out = {variant: rows for variant, rows in confirmed.items() if variant.arrays}
    plain = {variant: rows for variant, rows in confirmed.items() if not variant.arrays}
    return any(decide(variants, own).doubtful is not None for variants in (plain, laid_out))


def _confirmed(
    variants: Sequence[Variant], own: Variant, measurer: RowMeasurer, invocation: int, deadline: Deadline | None
) -> tuple[list[Measurement], bool]:
    """The rows of one process, and whether there was time for all of them."""
    rows: list[Measurement] = []
    try:
        for variant in variants:
            if deadline is not None and deadline.is_over:
                return rows, False
            rows.append(measurer.confirmed(variant, own, invocation))
    except DeviceError:
        if deadline is not None and deadline.is_over:
            return rows, False
        raise
    # One that ran correctly was timed to its end, however late it is.
    is_late = deadline is not None and deadline.is_over
    return rows, not is_late or all(row.invalidity is Invalidity.CORRECT for row in rows)


def decide(
    confirmed: Confirmed, own: Variant, is_sure: Callable[[Speedup], bool] = lambda gain: gain.is_certain
) -> Decision:
    """Return what is chosen: the fastest whose interval is sure and lies above 1, or the launch as it was."""
    gains = {variant: gain for variant, rows in confirmed.items() if (gain := gain_of(rows)) is not None}
    # Of few processes, which say little of others, a gain has to be large, too.
    least = {variant: 1.0 if len(rows) >= PROCESSES else CLEAR_GAIN for variant, rows in confirmed.items()}
    clear = {each: gain for each, gain in gains.items() if is_sure(gain) and gain.low > least[each]}
    if not clear:
        return Decision(own, _AS_IT_WAS, None, 0, (0.0, 0.0), most_doubtful(gains.values()))
    choice = max(clear, key=lambda variant: clear[variant].ratio)
    rows = confirmed[choice]
    last = rows[-1]
    return Decision(
        choice,
        clear[choice],
        _over_uncoarsened(choice, confirmed, gains),
        len(rows),
        (median(last.baseline_nanoseconds), median(last.nanoseconds)),
    )


def gain_of(rows: Iterable[Measurement]) -> Speedup | None:
    """Return the speed-up over some processes; None where no row has one.

    Its interval is Student's of their means, or that of all their intervals: the latter of fewer than three
    processes, whose scatter says nothing; and where each of many was clearly faster by itself, however much they
    differ.

    Args:
        rows: one for each process.
    """
    known = [gain for gain in map(speedup_of, rows) if gain is not None]
    if not known:
        return None
    mean = across_processes(known)
    hull = Speedup(mean.ratio, min(gain.low for gain in known), max(gain.high for gain in known))
    return hull if len(known) < PROCESSES or hull.low > max(mean.low, CLEAR_GAIN) else mean


def _over_uncoarsened(choice: Variant, confirmed: Confirmed, gains: Mapping[Variant, Speedup]) -> Speedup | None:
    """The speed-up over the fastest uncoarsened launch; None where only the launch as it was is known."""
    launches = [variant for variant in gains if not variant.coarsenings]
    if not launches:
        return None
    launch = max(launches, key=lambda variant: gains[variant].ratio)
    if launch == choice:
        return _AS_IT_WAS
    if gains[launch].ratio <= 1:
        return gains[choice]
    return over_another(map(speedup_of, confirmed[choice]), map(speedup_of, confirmed[launch]))
