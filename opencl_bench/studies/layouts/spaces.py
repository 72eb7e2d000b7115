"""The spaces of the study: layouts and orders of arrays × coarsening × local sizes (× macros).

    record kernel ─▶ RecordSpace ─▶ the space that `coarsen bench --search` would search ─▶ its variants

Six are searched, the others only priced: they have too few points for a search. `METHOD.md` says why these values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from coarsen.errors import InvalidInputError
from coarsen.near_names import did_you_mean
from coarsen.opencl_bench.search.spaces import valid_choices
from coarsen.opencl_bench.search.variant_space import VariantSearchSpace
from coarsen.opencl_bench.sweep.plan import Space, SweepPlan
from coarsen.opencl_bench.sweep.points import DeviceLimits
from coarsen.opencl_bench.sweep.search_sweep import search_space
from coarsen.opencl_bench.workloads.benchmark import Benchmark, LocalSize
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.opencl_bench.workloads.records_driver import RECORDS_PREFIX
from coarsen.variant.data_layout import ArrayLayout, Order
from coarsen.variant.space import ArrayChoices
from coarsen.variant.transforms import DeviceKind
from coarsen.variant.variant import Variant

# The launch as it is has the local size of this preset, and the macros of the source.
_LAUNCHED = "small"
# No work-group of a space is larger, nor takes local memory from its launch: every device allows this.
_LIMITS = DeviceLimits(512, (512, 512, 512), 0)
_SOA = "soa"
_ROUND = ((16,), (32,), (64,), (128,), (256,))
_WIDE = ((8,), *_ROUND, (512,))


@dataclass(frozen=True)
class RecordSpace:
    """A space of a kernel on records.

    Attributes:
        name: of the kernel, without `records-`.
        space: the values that are combined.
        is_searched: whether it has enough points for a search.
    """

    name: str
    space: Space
    is_searched: bool = True

    @property
    def benchmark_name(self) -> str:
        """The benchmark's name."""
        return f"{RECORDS_PREFIX}{self.name}"

    @cached_property
    def benchmark(self) -> Benchmark:
        """The benchmark."""
        return find_benchmark(self.benchmark_name)

    @cached_property
    def default(self) -> Variant:
        """The kernel as its program launches it: what everything is timed against, and searches start from."""
        own = self.benchmark
        return Variant(own.preset(_LAUNCHED).local_size, (), own.own_definitions)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The arguments whose arrays may lie otherwise."""
        return tuple(choices.argument for choices in self.space.arrays or ())

    def searched(self, kind: DeviceKind) -> VariantSearchSpace:
        """Return the space as a search sees it.

        Args:
            kind: of the device, for which coarsened kernels are made.
        """
        plan = SweepPlan(self.benchmark_name, "", _LAUNCHED, space=self.space)
        return search_space(self.benchmark, plan, _LIMITS, kind)

    def variants(self, kind: DeviceKind) -> tuple[Variant, ...]:
        """Return the variants that may run, those of one code together, as written first.

        Args:
            kind: of the device, for which coarsened kernels are made.
        """
        space = self.searched(kind)
        found = [space.variant(choice) for choice in valid_choices(space)]
        codes = {code: place for place, code in enumerate(dict.fromkeys(each.code_variant() for each in found))}
        return tuple(sorted(found, key=lambda each: codes[each.code_variant()]))


def _choices(argument: str, *layouts: str, order: str = "") -> ArrayChoices:
    orders = (Order.parse(order),) if order else ()
    return ArrayChoices(argument, tuple(map(ArrayLayout.parse, layouts)), orders)


def _space(
    arrays: tuple[ArrayChoices, ...],
    factors: tuple[int, ...],
    local_sizes: tuple[LocalSize, ...],
    dimensions: tuple[int, ...] = (0,),
) -> Space:
    return Space(factors=factors, strides=(1,), dimensions=dimensions, local_sizes=local_sizes, arrays=arrays)


_ALL = (
    RecordSpace(
        "black_scholes_records",
        _space(
            (_choices("options", _SOA, "aosoa:8", "aosoa:32"), _choices("quotes", _SOA, "aosoa:8", "aosoa:32")),
            (1, 2, 4, 8),
            _WIDE,
        ),
    ),
    RecordSpace(
        "kd_bin",
        _space(
            (_choices("bounds", _SOA, "aosoa:8", "aosoa:32"), _choices("axes", _SOA), _choices("bins", _SOA)),
            (1, 2, 4),
            _ROUND,
        ),
    ),
    RecordSpace(
        "kd_split",
        _space(
            (
                _choices("bounds", _SOA, "aosoa:8"),
                _choices("places", _SOA),
                _choices("left", _SOA, "aosoa:8"),
                _choices("right", _SOA, "aosoa:8"),
            ),
            (1, 4),
            _ROUND[1:],
        ),
    ),
    RecordSpace(
        "lattice_boltzmann",
        _space(
            (
                _choices("before", _SOA, "aosoa:8", order="2,1,0"),
                _choices("after", _SOA, "aosoa:8", order="2,1,0"),
            ),
            (1, 2),
            ((16, 4, 1), (32, 2, 1), (64, 1, 1), (64, 4, 1), (32, 1, 1), (16, 1, 1)),
        ),
    ),
    RecordSpace(
        "reyes_dice",
        _space(
            (_choices("control", _SOA), _choices("vertices", _SOA, "aosoa:8", "aosoa:32", order="0,2,1")),
            (1, 2, 4),
            ((16, 4, 1), (32, 1, 1), (64, 1, 1), (64, 4, 1), (32, 4, 1), (8, 8, 1)),
            (0, 1),
        ),
    ),
    RecordSpace(
        "reyes_shade",
        _space(
            (
                _choices("vertices", _SOA, "aosoa:8", order="1,0"),
                _choices("colours", _SOA, "aosoa:8", order="1,0"),
            ),
            (1, 4),
            ((16, 4), (32, 4), (64, 1), (64, 4), (32, 1), (8, 8)),
        ),
    ),
    RecordSpace(
        "bitonic_global",
        _space((_choices("records", _SOA, "aosoa:8", "aosoa:32"),), (1, 2, 4), _ROUND[1:]),
        is_searched=False,
    ),
    RecordSpace(
        "nbody_records",
        _space((_choices("before", _SOA, "aosoa:8"), _choices("after", _SOA)), (1, 2, 4), _ROUND[1:]),
        is_searched=False,
    ),
    RecordSpace("mv_rows", _space((_choices("matrix", order="1,0"),), (1, 2, 4), _ROUND[1:]), is_searched=False),
    RecordSpace(
        "mv_columns", _space((_choices("matrix", order="1,0"),), (1, 2, 4), _ROUND[1:]), is_searched=False
    ),
)
SPACES: Mapping[str, RecordSpace] = MappingProxyType({each.name: each for each in _ALL})
# Its one array is passed to two kernels, of which one lies as written (`layout-same-buffer`).
NOT_LAID_OUT = "bitonic_local"


def chosen_spaces(names: Sequence[str] = ()) -> tuple[RecordSpace, ...]:
    """Return the spaces of some names, all if there are none. Raises InvalidInputError for an unknown one."""
    for name in names:
        if name not in SPACES:
            raise InvalidInputError(
                f"no space of the kernel '{name}'{did_you_mean(name, SPACES)}; there are {', '.join(SPACES)}"
            )
    return tuple(SPACES[name] for name in names or SPACES)
