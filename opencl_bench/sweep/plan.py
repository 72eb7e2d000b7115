"""The plan of a sweep: which benchmark, at which sizes, over which space, how measured."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from coarsen.opencl_bench.records.code import Form
from coarsen.opencl_bench.records.measurement import Method
from coarsen.opencl_bench.workloads.benchmark import LocalSize
from coarsen.variant.coarsening import MOST_MERGED, Level
from coarsen.variant.space import ArrayChoices, TransformChoices
from coarsen.variant.variant import Variant

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
        sample_seed: what they are drawn from.
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
    sample_seed: int = 0
    arrays: tuple[ArrayChoices, ...] | None = None
    variants: tuple[Variant, ...] | None = None


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """The sweep of one benchmark on one device.

    `benchmark` is a name of the suite, or the path of a TOML file that describes a user's kernel. `device` is what
    a person calls it (see `coarsen.devices.selection.find_device`). `confirms`: the best configurations are timed
    once more, in several new processes each (see `confirmation`).
    """

    benchmark: str | Path
    device: str
    preset: str = "cpu"
    seed: int = 0
    space: Space = field(default_factory=Space)
    method: Method = field(default_factory=Method)
    form: Form = "opencl_c"
    confirms: bool = True
