"""Kernels with several versions of which the best depends on the input: what their drivers in `adaptive` share.

A version is a variant: a local size, coarsenings, and `-D` macros of whole numbers, of which `IMPL` chooses
between implementations. The driver gives each version its launches; what they compute is the same for all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coarsen.dispatch.features import Feature
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.benchmark import (
    KERNEL_FOLDER,
    Benchmark,
    Launch,
    LocalSize,
    Preset,
    Size,
    Workload,
)
from coarsen.opencl_bench.workloads.clock import Clock
from coarsen.opencl_bench.workloads.driver_tools import round_up
from coarsen.opencl_bench.workloads.input_space import InputSpace, presets_of
from coarsen.variant.coarsening import Level
from coarsen.variant.space import MACRO, Constraint, Dimension, VariantSpace, coarsening_dimensions
from coarsen.variant.variant import Variant, shape

ADAPTIVE_PREFIX = "adaptive-"
LIST_FOLDER = Path(__file__).parent / "adaptive" / "data"
FLOAT_BYTES = 4

# The number that a caller can supply of the buffers of a workload, by their names.
SuppliedFeature = Callable[[Mapping[str, NDArray[Any]]], float]
# The values of each macro, its default first.
Macros = Mapping[str, tuple[int, ...]]
MakeWorkload = Callable[[Size, LocalSize, np.random.Generator], Workload]
MakeLaunches = Callable[[Size, LocalSize], tuple[Launch, ...]]


@dataclass(frozen=True)
class AdaptiveKernel:
    """A kernel, its versions, and the inputs that these are for.

    Args:
        kernel: the name of the function that a version's coarsening is for, and of the file in `kernels/adaptive`.
        inputs: the sizes and contents to tune for.
        test: small sizes, of no round numbers where the kernel guards.
        local_sizes: those of the versions; the first is that of the kernel's source.
        make_workload: as a `Benchmark` has it; buffers and reference don't depend on the version.
        make_launches: as a `Benchmark` has it; None for one whose launches are found with the workload.
        macros: the values of each, the first that of the kernel's source.
        rules: say which combinations are no version.
        factors: of coarsening, along any one dimension; none for a kernel whose versions are written by hand.
        strides: between merged work-items.
        other_kernels: those of the same source that launches name besides.
        features: formulas over what the default version's launch of `kernel` passes, by name.
        supplied: what only the contents of the buffers tell, by name.
        own: the benchmark whose kernel and driver are taken, where they are those of the suite.
    """

    kernel: str
    inputs: InputSpace
    test: Size
    local_sizes: tuple[LocalSize, ...]
    make_workload: MakeWorkload
    make_launches: MakeLaunches | None = None
    macros: Macros = field(default_factory=dict)
    rules: tuple[Constraint, ...] = ()
    factors: tuple[int, ...] = ()
    strides: tuple[int, ...] = (1,)
    other_kernels: tuple[str, ...] = ()
    features: Mapping[str, str] = field(default_factory=dict)
    supplied: Mapping[str, SuppliedFeature] = field(default_factory=dict)
    own: Benchmark | None = None

    @property
    def name(self) -> str:
        """The benchmark's name."""
        return f"{ADAPTIVE_PREFIX}{self.kernel}"

    @property
    def list_file(self) -> Path:
        """The list of the inputs."""
        return LIST_FOLDER / f"{self.kernel}.csv"

    @property
    def default(self) -> Variant:
        """The version that the kernel's source has without any choice."""
        definitions = tuple((name, str(values[0])) for name, values in self.macros.items())
        return Variant(self.local_sizes[0], (), definitions)

    @property
    def all_features(self) -> tuple[Feature, ...]:
        """Return what a version may be chosen by: of what a launch passes, then what the caller supplies."""
        passed = (Feature(name, expression) for name, expression in self.features.items())
        return (*passed, *(Feature(name, None) for name in self.supplied))

    @cached_property
    def listed(self) -> Mapping[str, Size]:
        """The inputs by their names: sizes, and settings of contents."""
        return {name: preset.size for name, preset in presets_of(self.list_file, ()).items()}

    @cached_property
    def benchmark(self) -> Benchmark:
        """The benchmark, with a preset for each input beside `test`."""
        local_size = self.local_sizes[0]
        dimensions = tuple(range(len(local_size)))
        return Benchmark(
            name=self.name,
            dimensions=dimensions,
            presets={"test": Preset(self.test, local_size), **presets_of(self.list_file, local_size)},
            divisible_local_sizes=dict.fromkeys(dimensions, local_size),
            make_workload=self._checked_workload,
            local_sizes=self.local_sizes,
            tunables={name: tuple(map(str, values)) for name, values in self.macros.items()},
            make_launches=self._checked_launches if self.make_launches else None,
            other_kernels=self.other_kernels,
            clock=Clock.SPAN,
            # Buffers and results are the same for all versions, and scratch suffices for each.
            input_macros=() if self.make_launches else None,
            shared_local_size=local_size if self.make_launches else None,
            kernel_name=self.kernel,
            source_file=self.own.kernel_file if self.own else KERNEL_FOLDER / "adaptive" / f"{self.kernel}.cl",
        )

    def _checked_workload(self, size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
        self._check(size, local_size)
        return self.make_workload(size, local_size, generator)

    def _checked_launches(self, size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
        assert self.make_launches is not None
        self._check(size, local_size)
        return self.make_launches(size, local_size)

    def _check(self, size: Size, local_size: LocalSize) -> None:
        """Raise InvalidInputError unless there is a version with the macro values that are among the sizes.

        Scratch suffices for the versions alone.
        """
        if self.own is None and local_size not in self.local_sizes:
            known = ", ".join(map(shape, self.local_sizes))
            raise InvalidInputError(f"{self.name}: the local size is one of {known}, not {shape(local_size)}")
        chosen = values_of(self.macros, size)
        for name, value in chosen.items():
            if value not in self.macros[name]:
                raise InvalidInputError(f"{self.name}: {name} is one of {self.macros[name]}, not {value}")
        definitions = tuple((name, str(value)) for name, value in chosen.items())
        reason = self.space.violation(Variant(local_size, (), definitions))
        if reason is not None:
            raise InvalidInputError(f"{self.name}: {reason}")

    @cached_property
    def space(self) -> VariantSpace:
        """The versions, and what rules others out, as a space to search; at most one coarsening at once."""
        macros = (Dimension(f"{MACRO}{n}", tuple(map(str, values))) for n, values in self.macros.items())
        coarsenings = (
            entry
            for dimension in range(len(self.local_sizes[0]) if self.factors else 0)
            for entry in coarsening_dimensions(Level.ITEM, dimension, self.factors, self.strides)
        )
        return VariantSpace(
            dimensions=(Dimension("local_size", self.local_sizes), *macros, *coarsenings),
            most_coarsenings=1,
            constraints=(*self.rules, factors_divide),
        )

    @cached_property
    def versions(self) -> tuple[Variant, ...]:
        """All versions, the default one first."""
        return tuple(variant for variant in self.space if self.space.violation(variant) is None)


def macro(variant: Variant, name: str) -> int:
    """Return the whole number that a variant gives a macro. Raises KeyError where it gives none."""
    return int(dict(variant.definitions)[name])


def factors_divide(variant: Variant) -> str | None:
    """Rule out factors and strides that don't divide the work-group: `make_launches` fills whole work-groups."""
    for each in variant.coarsenings:
        if variant.local_size[each.dimension] % (each.factor * each.stride):
            return f"{each} doesn't divide the work-group of {variant.local_size}"
    return None


def only_with(macros: Macros, name: str, chooser: str, *choices: int) -> Constraint:
    """Return the rule that a macro keeps its default unless another one has one of some values.

    Without it, two versions would be the same code.
    """
    default = macros[name][0]

    def rule(variant: Variant) -> str | None:
        if macro(variant, chooser) in choices or macro(variant, name) == default:
            return None
        return f"{name} has an effect only where {chooser} is {' or '.join(map(str, choices))}"

    return rule


def coarsened_only_with(chooser: str, *choices: int) -> Constraint:
    """Return the rule that work-items are merged only where a macro has one of some values."""

    def rule(variant: Variant) -> str | None:
        if not variant.is_coarsened or macro(variant, chooser) in choices:
            return None
        return f"the kernel is coarsened only where {chooser} is {' or '.join(map(str, choices))}"

    return rule


def lanes_fit(implementation: int) -> Constraint:
    """Return the rule that a work-group holds all LANES work-items of a piece, where IMPL is of those."""

    def rule(variant: Variant) -> str | None:
        if macro(variant, "IMPL") != implementation or macro(variant, "LANES") <= variant.local_size[0]:
            return None
        return f"a work-group of {variant.local_size[0]} can't hold {macro(variant, 'LANES')} lanes"

    return rule


def values_of(macros: Macros, size: Size) -> dict[str, int]:
    """Return the value of each macro: what the size has of it, or its default."""
    return {name: size.get(name, values[0]) for name, values in macros.items()}


def items_for(work: int, each: int, group: int) -> tuple[int]:
    """Return the work-items that take `each` pieces of work, as whole work-groups, one at least."""
    return (round_up(max(-(-work // each), 1), group),)
