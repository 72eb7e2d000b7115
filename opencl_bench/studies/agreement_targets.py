"""Targets of the fast path and lock-step, and whether they are met.

- With them on, no kernel takes more than 3 % longer than with them off, at any factor.
- The geometric mean over the kernels of the speed-up over factor 1, each at its best factor, is at least 1.
- At factor 8 the code has at most 2.5 times as many instructions as with them off.

A best factor is chosen by the numbers that it is reported by, so the mean is somewhat too large. Rows whose code
is the same with them on and off show how large noise is; they count for the mean, but nothing can be slower there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import geometric_mean

from coarsen.opencl_bench.studies.agreement import TransformComparison
from coarsen.opencl_bench.studies.static_effects import StaticEffect

LONGEST = 1.03
LEAST_MEAN = 1.0
LARGEST_CODE = 2.5


@dataclass(frozen=True, slots=True)
class Goal:
    """One of the targets: what was wanted, what was found, whether that is enough."""

    wanted: str
    found: str
    met: bool


def targets(rows: Sequence[TransformComparison], effects: Sequence[StaticEffect]) -> list[Goal]:
    """Return the targets that there are numbers for.

    `effects` are at the factor at which the code's size counts.
    """
    found = [_never_slower(rows), _mean(rows)] if rows else []
    return [*found, _code_size(effects)] if effects else found


def best_rows(rows: Iterable[TransformComparison]) -> list[TransformComparison]:
    """For each kernel the row of the highest speed-up over factor 1 with the transforms on."""
    best: dict[str, TransformComparison] = {}
    for row in rows:
        if row.benchmark not in best or row.on.ratio > best[row.benchmark].on.ratio:
            best[row.benchmark] = row
    return list(best.values())


def _never_slower(rows: Sequence[TransformComparison]) -> Goal:
    wanted = f"never more than {LONGEST - 1:.0%} slower on than off"
    changed = [row for row in rows if not row.same_code]
    if not changed:
        return Goal(wanted, "the same code everywhere", True)
    slower = sum(row.gain.ratio < 1 / LONGEST for row in changed)
    worst = min(changed, key=lambda row: row.gain.ratio)
    gain, where = worst.gain, f"{worst.benchmark}, factor {worst.factor}, dimension {worst.dimension}"
    found = (
        f"{slower} of {len(changed)} rows are; at worst {gain.ratio:.3f} times as fast "
        f"({gain.low:.3f} to {gain.high:.3f}): {where}"
    )
    return Goal(wanted, found, not slower)


def _mean(rows: Sequence[TransformComparison]) -> Goal:
    best = best_rows(rows)
    mean = geometric_mean(row.on.ratio for row in best)
    off: dict[str, float] = {}
    for row in rows:
        off[row.benchmark] = max(row.off.ratio, off.get(row.benchmark, 0.0))
    chosen = ", ".join(f"{row.benchmark} {row.on.ratio:.2f} at {row.factor}" for row in best)
    return Goal(
        f"geometric mean over factor 1, at the best factor, at least {LEAST_MEAN:.1f}",
        f"{mean:.3f} of {len(best)} kernels (off: {geometric_mean(off.values()):.3f}): {chosen}",
        mean >= LEAST_MEAN,
    )


def _code_size(effects: Sequence[StaticEffect]) -> Goal:
    worst = max(effects, key=lambda effect: effect.growth)
    return Goal(
        f"code at most {LARGEST_CODE} times as large on as off",
        f"at most {worst.growth:.2f} times: {worst.benchmark}, of {len(effects)} kernels",
        worst.growth <= LARGEST_CODE,
    )
