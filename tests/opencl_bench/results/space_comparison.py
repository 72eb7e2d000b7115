"""The best of each kernel in two sweeps over different spaces, side by side, as the README of the data shows it.

Each speed-up is over the best uncoarsened local size of its own sweep, as it was confirmed. A kernel that one of
the two has not is left out of both means.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.results.best import BestRow, launch_words
from coarsen.tuning.measure.speedup import Speedup
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.variant import Variant


@dataclass(frozen=True, slots=True)
class Comparison:
    """A kernel's best in two sweeps; None where a sweep has none."""

    kernel: str
    old: BestRow | None
    new: BestRow | None

    @property
    def cells(self) -> tuple[str, ...]:
        """The line of the table."""
        before = f"{self.old.speedup.ratio:.2f}" if self.old else ""
        if self.new is None:
            return (self.kernel, before, "", "", "")
        baseline = launch_words(self.new.baseline)
        if self.new.is_coarsened:
            return (self.kernel, before, baseline, short_words(self.new.candidate), numbers(self.new.speedup))
        return (self.kernel, before, baseline, "as it is", f"1.00{self._challenger()}")

    def _challenger(self) -> str:
        if self.new is None or self.new.challenger is None or self.new.challenger_speedup is None:
            return ""
        return f"; {short_words(self.new.challenger.candidate)} had {numbers(self.new.challenger_speedup)}"


def comparisons(old: Iterable[BestRow], new: Iterable[BestRow]) -> tuple[Comparison, ...]:
    """Return the kernels of either sweep, in the order of their names.

    Args:
        old, new: the best of one device each.

    Raises:
        InvalidInputError: a kernel is there twice: the rows are of several devices, forms or presets.
    """
    before, after = (_by_kernel(rows) for rows in (old, new))
    names = sorted({*before, *after}, key=str.casefold)
    return tuple(Comparison(name, before.get(name), after.get(name)) for name in names)


def means(found: Sequence[Comparison]) -> tuple[float, float]:
    """Return the geometric means of the old and the new speed-ups, over the kernels that have both."""
    both = [(each.old.speedup.ratio, each.new.speedup.ratio) for each in found if each.old and each.new]
    old, new = zip(*both, strict=True)
    return statistics.geometric_mean(old), statistics.geometric_mean(new)


def short_words(candidate: Variant) -> str:
    """Return a configuration in few words: `groups 4 along 1, 8 along 0, stride 32, wide; 32×8`."""
    parts = [_words(coarsening) for coarsening in candidate.coarsenings]
    parts += ["wide"] if candidate.transforms.wide_accesses else []
    return f"{', '.join(parts)}; {launch_words(candidate)}"


def numbers(gain: Speedup) -> str:
    """Return a speed-up with its interval: `1.42 (1.41–1.43)`."""
    return f"{gain.ratio:.2f} ({gain.low:.2f}–{gain.high:.2f})"


def _by_kernel(rows: Iterable[BestRow]) -> dict[str, BestRow]:
    found: dict[str, BestRow] = {}
    for row in rows:
        if found.setdefault(row.case.benchmark, row) is not row:
            raise InvalidInputError(
                f"{row.case.benchmark} is there twice: give rows of one device, form and preset"
            )
    return found


def _words(coarsening: Coarsening) -> str:
    level = "groups " if coarsening.level is Level.GROUP else ""
    stride = f", stride {coarsening.stride}" if coarsening.stride > 1 else ""
    return f"{level}{coarsening.factor} along {coarsening.dimension}{stride}"
