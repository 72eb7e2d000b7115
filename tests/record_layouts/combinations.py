"""The ways in which the arrays of a benchmark's kernel may lie, one after the other and together.

    arrays of the workload ─▶ layouts, orders, places of each alone, of all, mixed ─▶ × {uncoarsened, factor 4}

Whether extents are compiled in or passed comes by turns.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from coarsen.ir.kernel import Kernel
from coarsen.ir.types import AddressSpace, PointerType
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.tuning.workload.benchmark import Benchmark, BufferArgument, Workload
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.data_layout import AOS, ArrayLayout, Order
from coarsen.variant.data_plan import ArrayPlan
from coarsen.variant.placement import Place
from coarsen.variant.variant import Variant

PRESET, SEED = "test", 5
FACTOR = 4
LAYOUTS = tuple(map(ArrayLayout.parse, ("soa", "aosoa:4", "aosoa:5", "aosoa:32")))
# Of the arrays in turn, from the first and from the second on.
MIXED = (LAYOUTS[0], LAYOUTS[2], AOS, LAYOUTS[3])
# The largest array that a copy in local memory may have.
MOST_LOCAL_BYTES = 16384


@dataclass(frozen=True)
class Combination:
    """A kernel, and how its arrays lie."""

    name: str
    variant: Variant

    def __str__(self) -> str:
        return f"{self.name}: {self.variant}"


@dataclass(frozen=True)
class KernelArrays:
    """The arrays of a benchmark's kernel: the shape of each in elements, and the bytes of one.

    Attributes:
        shapes: by argument, the arguments in their order.
        sizes: bytes of an element, by argument.
        in_global: the arguments in global memory, which may be placed elsewhere.
    """

    shapes: Mapping[str, tuple[int, ...]]
    sizes: Mapping[str, int]
    in_global: frozenset[str]

    @classmethod
    def of(cls, benchmark: Benchmark, workload: Workload, kernel: Kernel) -> KernelArrays:
        """Return the arrays of a benchmark's kernel."""
        types = {argument.name: argument.type for argument in kernel.arguments}
        own = next(launch for launch in workload.launches if launch.kernel == benchmark.kernel)
        buffers = {
            name: workload.buffers[argument.name]
            for name, argument in zip(types, own.arguments, strict=True)
            if isinstance(argument, BufferArgument)
        }
        shapes = {name: array.shape for name, array in buffers.items()}
        in_global = {
            name
            for name, type_ in types.items()
            if isinstance(type_, PointerType) and type_.address_space == AddressSpace.GLOBAL
        }
        return cls(shapes, {name: array.itemsize for name, array in buffers.items()}, frozenset(in_global))


def combinations(name: str, arrays: KernelArrays) -> Iterator[Combination]:
    """Yield every combination of a kernel's arrays, uncoarsened and coarsened.

    Args:
        name: of the benchmark.
        arrays: of its kernel.
    """
    benchmark = find_benchmark(name)
    own = Variant(benchmark.preset(PRESET).local_size, (), benchmark.own_definitions)
    plans = dict.fromkeys(map(_by_name, _plans(arrays)))
    for number, chosen in enumerate(plans):
        for factor in (1, FACTOR):
            laid = tuple(_with_shape(plan, arrays) if (number + factor) % 2 else plan for plan in chosen)
            coarsenings = (Coarsening(factor),) if factor > 1 else ()
            yield Combination(name, replace(own, coarsenings=coarsenings, arrays=laid))


def _by_name(plans: tuple[ArrayPlan, ...]) -> tuple[ArrayPlan, ...]:
    return tuple(sorted(plans, key=lambda plan: plan.argument))


def _plans(arrays: KernelArrays) -> Iterator[tuple[ArrayPlan, ...]]:
    names = tuple(arrays.shapes)
    for layout in LAYOUTS:
        yield tuple(ArrayPlan(name, layout) for name in names)
        yield from ((ArrayPlan(name, layout),) for name in names)
    for first in (0, 1):
        laid = zip(names, itertools.cycle(MIXED[first:] + MIXED[:first]), strict=False)
        yield tuple(ArrayPlan(name, layout) for name, layout in laid if layout != AOS)
    for name, shape in arrays.shapes.items():
        yield from ((plan,) for plan in _orders(name, len(shape)))
        if name in arrays.in_global:
            yield from ((plan,) for plan in _places(name, arrays))


def _orders(name: str, dimensions: int) -> Iterator[ArrayPlan]:
    for permutation in itertools.permutations(range(dimensions)):
        if permutation != tuple(range(dimensions)):
            yield from (ArrayPlan(name, layout, Order(permutation)) for layout in (AOS, *LAYOUTS[:2]))


def _places(name: str, arrays: KernelArrays) -> Iterator[ArrayPlan]:
    for layout, place in itertools.product((AOS, LAYOUTS[0]), (Place.CONSTANT, Place.NONCOHERENT)):
        yield ArrayPlan(name, layout, place=place)
    if math.prod(arrays.shapes[name]) * arrays.sizes[name] <= MOST_LOCAL_BYTES:
        yield ArrayPlan(name, shape=arrays.shapes[name], place=Place.LOCAL)


def _with_shape(plan: ArrayPlan, arrays: KernelArrays) -> ArrayPlan:
    return replace(plan, shape=arrays.shapes[plan.argument])
