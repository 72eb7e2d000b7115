"""The plan of a sweep: which benchmark, at which sizes, over which space, how measured."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coarsen.base.codec import WHOLE_NUMBERS
from coarsen.errors import InvalidInputError
from coarsen.tuning.measure.variant_launch import LEFT_OPEN, needs_local_size, not_launched, undivided
from coarsen.tuning.records.code import Form
from coarsen.tuning.records.measurement import Method
from coarsen.tuning.workload.benchmark import Benchmark, Launch, LocalArgument, LocalSize
from coarsen.variant.coarsening import DIMENSIONS, MOST_MERGED, Coarsening, Level
from coarsen.variant.space import (
    MACRO,
    ArrayChoices,
    Dimension,
    TransformChoices,
    VariantSpace,
    coarsening_dimensions,
)
from coarsen.variant.transforms import DeviceKind
from coarsen.variant.variant import Variant

if TYPE_CHECKING:
    from coarsen.devices.discovery import DeviceDescription


DEFAULT_FACTORS = (1, 2, 4, 8, 16, 32)
DEFAULT_STRIDES = (1, 8, 32)


@dataclass(frozen=True, slots=True)
class Space:
    """The optimisation space: every combination of these.

    Args:
        factors: coarsening factors, 1 for uncoarsened.
        strides: how far apart the merged work-items stand, in local ids.
        dimensions: of the NDRange; the benchmark's own where None.
        local_sizes: of the launch before coarsening, in work-items; the benchmark's own where None.
        definitions: per macro, the values to try; those of the benchmark where the macro isn't named here.
        levels: what is merged: work-items, work-groups, or either.
        at_once: how many coarsenings a variant may have, over dimensions and levels.
        most_merged: how many work-items a variant may merge into one, the product of its factors.
        transforms: the values of each transform, the default first.
        sample: how many coarsened variants to draw instead of trying all; None for all.
        arrays: how arrays of the kernel's arguments may lie, beside as written; as the benchmark says where None.
        variants: exactly these, the uncoarsened ones first; nothing above has a say then. None for combinations.
    """

    factors: tuple[int, ...] = DEFAULT_FACTORS
    strides: tuple[int, ...] = DEFAULT_STRIDES
    dimensions: tuple[int, ...] | None = None
    local_sizes: tuple[LocalSize, ...] | None = None
    definitions: tuple[tuple[str, tuple[str, ...]], ...] = ()
    levels: tuple[Level, ...] = (Level.ITEM,)
    at_once: int = 1
    most_merged: int = MOST_MERGED
    transforms: TransformChoices = field(default_factory=TransformChoices)
    sample: int | None = None
    arrays: tuple[ArrayChoices, ...] | None = None
    variants: tuple[Variant, ...] | None = None


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """The sweep of one benchmark on one device.

    `benchmark` is a name of the suite, or the path of a TOML file that describes a user's kernel. `device` is what
    a person calls it (see `coarsen.devices.selection.find_device`). `confirms`: the best configurations are timed
    once more, in several new processes each (see `finalists`).
    """

    benchmark: str | Path
    device: str
    preset: str = "cpu"
    seed: int = 0
    space: Space = field(default_factory=Space)
    method: Method = field(default_factory=Method)
    form: Form = "opencl_c"
    confirms: bool = True

    def __post_init__(self) -> None:
        if self.seed not in WHOLE_NUMBERS:
            raise InvalidInputError(f"the seed {self.seed} has more than 64 bits, and no row could hold it")


# The optimisation space of a benchmark, point by point, and what is wrong with a point before it is compiled.
#
#     local sizes × -D values × (uncoarsened, or coarsenings × transforms)
#
# Rules that need no compiler are checked here: what the coarsened launch must divide, what the device can hold,
# what the algorithm asks of its work-groups. A point that breaks one stays in the list, with the reason.

# A larger space would never be finished, and listing it alone takes minutes.
MOST_CHOICES = 5_000_000


# A sweep measures a few in a second: more would take days.
MOST_POINTS = 200_000


@dataclass(frozen=True, slots=True)
class DeviceLimits:
    """The limits of a device: work-items per work-group, in all and per dimension, and bytes of local memory."""

    max_work_group_size: int
    max_work_item_sizes: tuple[int, ...]
    local_memory: int


@dataclass(frozen=True, slots=True)
class Point:
    """A candidate, and in one sentence why it can't run; None if nothing is known against it."""

    candidate: Variant
    violation: str | None


def limits_of(device: DeviceDescription) -> DeviceLimits:
    """Return the limits of a device."""
    return DeviceLimits(device.max_work_group_size, device.max_work_item_sizes, device.local_memory)


def points(
    benchmark: Benchmark, preset: str, space: Space, limits: DeviceLimits, device_kind: DeviceKind = DeviceKind.ANY
) -> list[Point]:
    """Return every point of a space, or the sample that it asks for, or the variants that it lists, each once.

    The uncoarsened ones come first, whether or not 1 is among the space's factors, since every speed-up is over
    the best of them; of these the preset's own local size, where the space has it, is the very first. The others
    follow, those of one local size together.

    Args:
        benchmark: gives dimensions, local sizes and -D values where the space leaves them open.
        preset: decides which local size comes first, and the extents of the problem.
        space: what to combine.
        limits: those of the device.
        device_kind: what coarsened kernels are made for.

    Raises:
        InvalidInputError: no such preset, a factor, dimension or stride that is none, an empty local size; more
            points than can be tried.
    """
    if space.variants is not None:
        benchmark.preset(preset)
        violation = LaunchConstraint(benchmark, preset, limits)
        return [Point(variant, violation(variant)) for variant in space.variants]
    variants = variant_space(benchmark, preset, space, limits, device_kind)
    uncoarsened = uncoarsened_variants(benchmark, variants)
    if space.sample is not None:
        known = {*uncoarsened}
        coarsened = list(variants.sample(space.sample, seed=0, skip=lambda variant: variant in known))
    else:
        if variants.choices > MOST_CHOICES:
            _check_count(benchmark, variants.choices)
        coarsened = [variant for variant in variants if not variant.is_original]
        _check_count(benchmark, len(coarsened))
    ordered = [*uncoarsened, *sorted(coarsened, key=_order(uncoarsened, space))]
    return [Point(variant, variants.violation(variant)) for variant in ordered]


def variant_space(
    benchmark: Benchmark, preset: str, space: Space, limits: DeviceLimits, device_kind: DeviceKind = DeviceKind.ANY
) -> VariantSpace:
    """Return the variants of a benchmark that a space asks for. Arguments and errors are those of `points`."""
    _check_coarsenings(benchmark, space)
    return VariantSpace(
        (
            *_local_size_dimension(benchmark, preset, space),
            *(Dimension(MACRO + name, values) for name, values in _definitions(benchmark, space)),
            *_coarsening_dimensions(benchmark, space),
            *space.transforms.dimensions(),
            *_array_dimensions(benchmark, space),
        ),
        space.at_once,
        space.most_merged,
        device_kind,
        (LaunchConstraint(benchmark, preset, limits),),
        benchmark.local_size_of,
    )


def uncoarsened_variants(benchmark: Benchmark, variants: VariantSpace) -> list[Variant]:
    """Return the uncoarsened variants of a space, also those that break a constraint.

    Raises:
        InvalidInputError: more than can be tried.
    """
    kept = (d for d in variants.dimensions if d.name == "local_size" or d.name.startswith(MACRO))
    originals = VariantSpace(tuple(kept), local_size_of=variants.local_size_of)
    # Before anything is written down.
    _check_count(benchmark, originals.choices)
    return list(originals)


def _check_count(benchmark: Benchmark, count: int) -> None:
    """Raise InvalidInputError for a space that no sweep could get through."""
    if count > MOST_POINTS:
        raise InvalidInputError(
            f"{benchmark.name}: the space has up to {count} configurations, and at most {MOST_POINTS} are "
            "measured: give fewer values of macros, local sizes, factors or strides, or have some drawn "
            "(--space sample=NUMBER)"
        )


def _order(uncoarsened: Sequence[Variant], space: Space) -> Callable[[Variant], tuple[Any, ...]]:
    """Return a sort key: local size, macros; dimensions, factors, strides as the space lists them; transforms."""
    groups = {variant: number for number, variant in enumerate(uncoarsened)}
    dimensions, factors, strides = (
        {value: place for place, value in reversed(list(enumerate(values)))}
        for values in (space.dimensions or (), space.factors, space.strides)
    )

    def order(variant: Variant) -> tuple[Any, ...]:
        places = [
            (dimensions.get(c.dimension, c.dimension), factors[c.factor], strides.get(c.stride, 0))
            for c in variant.coarsenings
        ]
        levels = [c.level is Level.GROUP for c in variant.coarsenings]
        transforms = tuple(map(str, asdict(variant.transforms).values()))
        arrays = tuple(map(str, variant.arrays))
        return groups[variant.uncoarsened()], len(places), levels, places, variant.any_size, transforms, arrays

    return order


def _local_size_dimension(benchmark: Benchmark, preset: str, space: Space) -> Iterator[Dimension]:
    """The dimension of local sizes; none where they follow from macros."""
    if benchmark.local_size_of is None:
        yield Dimension("local_size", tuple(_local_sizes(benchmark, preset, space)))
    elif space.local_sizes is not None:
        raise InvalidInputError(f"{benchmark.name}: its local size follows from its parameters; give these (-D)")


def _local_sizes(benchmark: Benchmark, preset: str, space: Space) -> list[LocalSize]:
    own = benchmark.preset(preset).local_size
    wanted = space.local_sizes
    if wanted is None:
        # Coarsening needs to know what it divides.
        wanted = tuple(filter(None, benchmark.local_sizes_of(preset)))
        if not wanted:
            raise InvalidInputError(
                f"{benchmark.name}: its local size is left open; say which to try (--space local-size=64), "
                "or have it tuned (coarsen tune)"
            )
    # A stable sort: the preset's own first, the others as they are.
    return sorted(dict.fromkeys(wanted), key=lambda local_size: local_size != own)


def _definitions(benchmark: Benchmark, space: Space) -> Iterator[tuple[str, tuple[str, ...]]]:
    values = {**benchmark.tunables, **dict(space.definitions)}
    for name in sorted(values):
        yield name, tuple(dict.fromkeys(values[name]))


def _own_dimensions(benchmark: Benchmark, space: Space) -> tuple[int, ...]:
    return tuple(dict.fromkeys(benchmark.dimensions if space.dimensions is None else space.dimensions))


def _coarsening_dimensions(benchmark: Benchmark, space: Space) -> Iterator[Dimension]:
    for level in dict.fromkeys(space.levels):
        if level is Level.ITEM and not space.strides:
            continue
        for dimension in _own_dimensions(benchmark, space):
            yield from coarsening_dimensions(level, dimension, space.factors, space.strides)


def _array_dimensions(benchmark: Benchmark, space: Space) -> Iterator[Dimension]:
    chosen = benchmark.arrays if space.arrays is None else space.arrays
    yield from (dimension for choices in chosen for dimension in choices.dimensions())


def _check_coarsenings(benchmark: Benchmark, space: Space) -> None:
    """Raise InvalidInputError for a factor, a dimension or a stride that is none."""
    for dimension, factor, stride in itertools.product(
        _own_dimensions(benchmark, space), space.factors, space.strides
    ):
        Coarsening(factor, dimension, stride)
    if space.at_once < 1:
        raise InvalidInputError(f"at least one dimension is coarsened at once, not {space.at_once}")


class LaunchConstraint:
    """Reason against a variant's launches: that they can't be made, don't divide, or don't fit the device.

    Launches of one local size and one choice of macros are made once.
    """

    def __init__(self, benchmark: Benchmark, preset: str, limits: DeviceLimits) -> None:
        self._benchmark = benchmark
        self._preset = preset
        self._limits = limits
        self._launches: dict[Variant, tuple[Launch, ...] | str] = {}

    def __call__(self, variant: Variant) -> str | None:
        """Say in one sentence why a variant can't be launched; None where nothing is known against it."""
        launches = self._launches_of(variant)
        if isinstance(launches, str):
            return launches
        if variant.is_rewritten and launches and not any(map(self._benchmark.coarsens, launches)):
            return not_launched(self._benchmark.kernel)
        # Launches that aren't coarsened stay as they are.
        made_of = [
            (each, variant if self._benchmark.coarsens(each) else variant.uncoarsened()) for each in launches
        ]
        return next((text for each, kind in made_of for text in self._violations(each, kind)), None)

    def _launches_of(self, variant: Variant) -> tuple[Launch, ...] | str:
        original = variant.uncoarsened()
        if original not in self._launches:
            try:
                self._launches[original] = self._benchmark.launches(
                    self._preset, variant.local_size, variant.definitions
                )
            except InvalidInputError as error:
                self._launches[original] = str(error)
        return self._launches[original]

    def _violations(self, launch: Launch, variant: Variant) -> Iterator[str]:
        if not launch.local_size and (variant.transforms.is_tiled or needs_local_size(variant.coarsenings)):
            yield LEFT_OPEN
            return
        # Launches may be known for smaller problems alone: whether work-groups divide shows when they are made.
        items = [coarsening for coarsening in variant.coarsenings if coarsening.level is Level.ITEM]
        beyond = [c.dimension for c in variant.coarsenings if c.dimension >= len(launch.global_size)]
        reason = f"the NDRange has no dimension {beyond[0]}" if beyond else undivided(launch, items)
        if reason is not None and (beyond or not variant.any_size):
            yield reason
            return
        factor = {coarsening.dimension: coarsening.factor for coarsening in items}
        coarsened = tuple(max(extent // factor.get(d, 1), 1) for d, extent in enumerate(launch.local_size))
        yield from _too_large(coarsened, self._limits)
        groups = math.prod(c.factor for c in variant.coarsenings if c.level is Level.GROUP)
        # The arguments of merged work-groups: each brings its own local memory.
        local_bytes = groups * sum(
            entry.byte_count for entry in launch.arguments if isinstance(entry, LocalArgument)
        )
        if local_bytes > self._limits.local_memory:
            yield f"it needs {local_bytes} bytes of local memory, the device has {self._limits.local_memory}"


def _too_large(local_size: LocalSize, limits: DeviceLimits) -> Iterator[str]:
    count = math.prod(local_size)
    if count > limits.max_work_group_size:
        yield f"a work-group would have {count} work-items, the device allows {limits.max_work_group_size}"
    # A device of fewer than three dimensions is none that OpenCL knows; a description made by hand may be short.
    allowed = (*limits.max_work_item_sizes, *[1] * DIMENSIONS)
    for dimension, (extent, most) in enumerate(zip(local_size, allowed, strict=False)):
        if extent > most:
            yield f"a work-group would have {extent} work-items along {dimension}, the device allows {most}"
