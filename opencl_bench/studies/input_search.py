"""Criterion 10: searches replayed on the stored grids of kernels that adapt, input by input.

python -m coarsen.opencl_bench.studies.input_search STORE … [--kernels NAME …] [--inputs NUMBER]

quality    the best time of the grid over the best time that a search has found, by the same stored times
share      of the grid's valid versions, how many it tried

A warm search starts from what was best on the nearest inputs that were searched before, as the first stage of
tuning does; all its runs are counted, those of the start too. Grids of fewer than 64 versions are left out.
Intervals are 95 %, by bootstrap over inputs, those of a group together; a search that draws has several seeds,
whose logarithms are averaged first.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from coarsen.models.inputs.times import VersionTimes
from coarsen.opencl_bench.inputs.grid_searches import Entry, Searched, mean_share, quality_of, searched
from coarsen.opencl_bench.search.guided import GuidedSearcher
from coarsen.opencl_bench.search.staircase import StaircaseSearcher
from coarsen.opencl_bench.studies.input_command import stores_parser
from coarsen.opencl_bench.studies.input_rows import exit_code_of, stored_kernels
from coarsen.opencl_bench.studies.input_tables import scored, table

LEAST_VERSIONS = 64
# Quality and share of the runs: what must be reached, and what is aimed at.
MUST, AIM = (0.97, 0.30), (0.98, 0.15)
SEEDS = (0, 1, 2)
ALL = "all kernels"


# The first is the paper's search, the second that of the first stage of tuning, which the criterion is for.
ENTRIES = (
    Entry(StaircaseSearcher(), None),
    Entry(GuidedSearcher(), MUST[1], SEEDS, is_warm=True),
    Entry(GuidedSearcher(), AIM[1], SEEDS, is_warm=True),
    Entry(GuidedSearcher(), MUST[1], SEEDS),
)


def searched_grid(kernel: str, times: VersionTimes, inputs: int | None = None) -> tuple[Searched, ...]:
    """Return the searches of one kernel's grid; none where it is too small.

    Args:
        kernel: its name.
        times: the whole grid.
        inputs: on how many of them, those that fill the space of features best; all if None.
    """
    return () if len(times.versions) < LEAST_VERSIONS else (*searched(kernel, times, ENTRIES, inputs),)


def lines(found: Sequence[Searched]) -> Iterator[str]:
    """Yield the table: each kernel, then all together, with what the criterion says of each."""
    names = list(dict.fromkeys(each.entry for each in found))
    kernels = list(dict.fromkeys(each.kernel for each in found))
    groups = [(kernel, [each for each in found if each.kernel == kernel]) for kernel in kernels]
    rows = (
        [kernel, name, scored(quality_of(own)), f"{mean_share(own):.1%}", _verdict(own)]
        for kernel, group in [*groups, (ALL, list(found))]
        for name in names
        if (own := [each for each in group if each.entry == name])
    )
    yield from table(["kernel", "search", "quality", "of the versions tried", "criterion 10"], rows)


def _verdict(found: Sequence[Searched]) -> str:
    quality, share = quality_of(found).value, mean_share(found)
    if quality >= AIM[0] and share <= AIM[1]:
        return "better"
    return "yes" if quality >= MUST[0] and share <= MUST[1] else "no"


def main(words: Sequence[str] | None = None) -> int:
    """Print a table for each device of some stores."""
    parser = stores_parser(__doc__)
    parser.add_argument("--inputs", type=int, metavar="NUMBER", help="on so many inputs of each; else on all")
    asked = parser.parse_args(words)
    by_device: dict[str, list[Searched]] = {}
    for stored in stored_kernels(asked.stores, asked.kernels):
        if not stored.complete:
            print(f"{stored.kernel.name} on {stored.device}: no input has all rows", file=sys.stderr)
            continue
        found = searched_grid(stored.kernel.name, stored.times, asked.inputs)
        by_device.setdefault(stored.device, []).extend(found)
    for device, found_there in by_device.items():
        print(f"\n{device}\n")
        print("\n".join(lines(found_there)))
    return 0 if any(by_device.values()) else 1


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
