"""What other layouts are worth, conversion included: the best of several kinds over the kernel as written.

python -m coarsen.opencl_bench.studies.layouts.worth STORE|FILE … --conversions conversions.json [--sizes large]

Speed-ups are over the kernel as written at its best local size, in the same new process each, with Student's 95 %
interval over the processes. Conversion is by the host, of every array that lies otherwise, before and after.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.measure.speedup import Speedup, median
from coarsen.opencl_bench.records.measurement import Measurement, Role
from coarsen.opencl_bench.results.speedups import across_processes
from coarsen.opencl_bench.studies.input_rows import exit_code_of
from coarsen.opencl_bench.studies.input_tables import table as table_lines
from coarsen.opencl_bench.studies.layouts.conversions import Conversion, key_of, read_conversions
from coarsen.opencl_bench.studies.layouts.entrants import Entrant, best_of_each
from coarsen.opencl_bench.studies.layouts.sizes import Size
from coarsen.opencl_bench.studies.layouts.spaces import NOT_LAID_OUT, chosen_spaces
from coarsen.opencl_bench.studies.layouts.times import (
    SpaceTimes,
    all_times,
    geometric_mean,
    preset_of,
    read_rows,
    times_by_device,
)
from coarsen.variant.variant import Variant

_COMPARED = tuple(kind for kind in Entrant if kind is not Entrant.WRITTEN)


@dataclass(frozen=True)
class Worth:
    """What kinds of variants of a kernel are worth on a device.

    Attributes:
        name: of the space.
        best: the variant of each kind.
        gains: over the kernel as written at its best local size, by kind.
        written: seconds of a job of that.
        conversions: of the variants whose arrays lie otherwise, by kind, as far as they were measured.
    """

    name: str
    best: Mapping[Entrant, Variant]
    gains: Mapping[Entrant, Speedup]
    written: float
    conversions: Mapping[Entrant, Conversion]

    def with_conversion(self, kind: Entrant) -> float | None:
        """Return the speed-up of one launch with its conversion; None where that is not known."""
        if kind not in self.conversions or kind not in self.gains:
            return None
        return self.written / (self.written / self.gains[kind].ratio + self.conversions[kind].seconds)

    def launches(self, kind: Entrant) -> float | None:
        """Return after how many launches a conversion pays, infinity for never; None where that is not known."""
        if kind not in self.conversions or kind not in self.gains:
            return None
        gained = self.written * (1 - 1 / self.gains[kind].ratio)
        return math.ceil(self.conversions[kind].seconds / gained) if gained > 0 else math.inf


def worth_of(chosen: SpaceTimes, timed: SpaceTimes, conversions: Mapping[str, Conversion]) -> Worth | None:
    """Return what kinds of variants are worth; None where nothing was timed again.

    Args:
        chosen: the space, which the best of each kind are chosen by.
        timed: the same kernel, at the sizes that are told.
        conversions: by name.
    """
    best = {kind: variant for kind, variant in best_of_each(chosen).items() if timed.again.get(variant)}
    written = best.get(Entrant.WRITTEN)
    if written is None:
        return None
    origin = timed.again[written]
    gains = {
        kind: across_processes(
            Speedup(own / other, math.nan, math.nan)
            for own, other in zip(origin, timed.again[variant], strict=False)
        )
        for kind, variant in best.items()
    }
    keys = {kind: key_of(timed.space, timed.preset, variant) for kind, variant in best.items() if variant.arrays}
    known = {kind: conversions[key] for kind, key in keys.items() if key in conversions}
    return Worth(timed.space.name, best, gains, _seconds(timed, written), known)


def _seconds(times: SpaceTimes, variant: Variant) -> float:
    """The seconds of a job of a variant: the median over new processes of their medians."""
    own = [
        median(row.nanoseconds)
        for row in times.rows
        if row.role is Role.CONFIRMATION and row.candidate == variant and row.nanoseconds
    ]
    return median(own) / 1e9


def worth_lines(found: Sequence[Worth]) -> Iterator[str]:
    """Yield the tables of kernel times alone, and of the best layouts with their conversion."""
    head = ["kernel", "as written, ms", *(str(kind) for kind in _COMPARED)]
    rows = [[each.name, f"{each.written * 1e3:.3g}", *(_gain(each, kind) for kind in _COMPARED)] for each in found]
    yield from table_lines(head, [*rows, ["geometric mean", "", *(_mean(found, kind) for kind in _COMPARED)]])
    yield ""
    kinds = (Entrant.SOA, Entrant.LAYOUT, Entrant.EVERYTHING)
    head = ["kernel", *(f"{kind}: ms to convert; one launch; pays after" for kind in kinds)]
    yield from table_lines(head, [[each.name, *(_converted(each, kind) for kind in kinds)] for each in found])
    yield ""
    yield from table_lines(
        ["kernel", *map(str, Entrant)],
        [[each.name, *(str(each.best.get(kind, "–")) for kind in Entrant)] for each in found],
    )


def _gain(worth: Worth, kind: Entrant) -> str:
    gain = worth.gains.get(kind)
    return "–" if gain is None else f"{gain.ratio:.2f} ({gain.low:.2f}–{gain.high:.2f})"


def _mean(found: Sequence[Worth], kind: Entrant) -> str:
    """The geometric mean over the kernels that have such a variant; how many, where these are not all."""
    ratios = [each.gains[kind].ratio for each in found if kind in each.gains]
    if not ratios:
        return "–"
    return f"{geometric_mean(ratios):.2f}" + (f" ({len(ratios)})" if len(ratios) < len(found) else "")


def _converted(worth: Worth, kind: Entrant) -> str:
    launches, one = worth.launches(kind), worth.with_conversion(kind)
    if launches is None or one is None:
        is_as_written = kind in worth.best and not worth.best[kind].arrays
        return "nothing to convert" if is_as_written else "–"
    pays = "never" if math.isinf(launches) else f"{launches:.0f}"
    return f"{worth.conversions[kind].seconds * 1e3:.3g}; {one:.2f}; {pays}"


def transfer_lines(by_device: Mapping[str, Sequence[SpaceTimes]]) -> Iterator[str]:
    """Yield what the best of one device has on another, of the best there: all spaces, geometric mean, least."""
    rows = []
    for chosen_on, sources in by_device.items():
        cells = []
        for times_on in by_device.values():
            shares = _shares(sources, {times.space.name: times for times in times_on})
            cells.append(f"{geometric_mean(shares):.2f}; {min(shares):.2f} ({len(shares)})" if shares else "–")
        rows.append([chosen_on, *cells])
    yield from table_lines(["chosen on; share of the best on →", *by_device], rows)


def _shares(sources: Sequence[SpaceTimes], targets: Mapping[str, SpaceTimes]) -> list[float]:
    shares = []
    for source in sources:
        chosen = source.best(source.first)
        target = targets.get(source.space.name)
        best = target.best(target.first) if target is not None else None
        if target is None or best is None or chosen is None:
            continue
        there = _as_made_for(target, chosen)
        if there is not None:
            shares.append(min(1.0, target.time(best) / target.time(there)))
    return shares


def _as_made_for(times: SpaceTimes, chosen: Variant) -> Variant | None:
    """Return a variant of another device as it is made for a device; None where it did not run there.

    The kind of device is a part of the transforms, and decides over loops in lock-step.
    """
    alike = {replace(variant, transforms=chosen.transforms): variant for variant in times.first}
    return alike.get(chosen)


def main(words: Sequence[str] | None = None) -> int:
    """Print the tables of each device."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("rows", nargs="+", metavar="STORE|FILE")
    parser.add_argument(
        "--conversions", type=Path, required=True, metavar="FILE", help="as `conversions` wrote it"
    )
    parser.add_argument("--sizes", type=Size, choices=[*Size], default=Size.SEARCHED, help="which are told")
    parser.add_argument("--kernels", nargs="*", default=[], metavar="NAME", help="without records-; else all")
    asked = parser.parse_args(words)
    if not asked.conversions.exists():
        raise InvalidInputError(f"{asked.conversions} is not there: `conversions` writes it")
    rows, conversions = read_rows(asked.rows), read_conversions(asked.conversions)
    spaces = chosen_spaces(asked.kernels)
    by_device = all_times(spaces, rows)
    for device, measured in by_device.items():
        preset = preset_of(measured[0].environment, asked.sizes)
        print(f"\n{device}, preset {preset}\n")
        found = [worth for times in measured if (worth := _told(times, rows, asked.sizes, conversions))]
        lines = worth_lines(found) if found else ("nothing was timed in new processes",)
        for line in lines:
            print(line)
    print(f"\n{NOT_LAID_OUT}: its array is passed to a kernel that takes it as written [layout-same-buffer]\n")
    for line in transfer_lines(by_device):
        print(line)
    return 0


def _told(
    times: SpaceTimes, rows: Sequence[Measurement], size: Size, conversions: Mapping[str, Conversion]
) -> Worth | None:
    for timed in times_by_device(times.space, rows, size):
        if timed.device == times.device:
            return worth_of(times, timed, conversions)
    return None


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
