"""One thing to try: a kernel, a launch of it, a coarsening, the transforms that it may use, where arrays lie."""

from __future__ import annotations

import random
import re
from dataclasses import asdict, dataclass, replace
from typing import Any

from coarsen.variant.coarsening import Configuration
from coarsen.variant.data_plan import ArrayPlan
from coarsen.variant.pads import XOR, Pad
from coarsen.variant.placement import Place
from coarsen.variant.transforms import DeviceKind, Tile, Transforms, Use
from coarsen.variant.variant_json import array_to_json
from tests.fuzz import nodes
from tests.fuzz.draw_coarsening import draw_configuration
from tests.fuzz.field import last_read, weights_read
from tests.fuzz.generate import KernelGenerator, with_chain
from tests.fuzz.generate_fields import with_field
from tests.fuzz.launches import Launch, draw_launch
from tests.fuzz.render import DATA, MAX_GROUP, source

UNOPTIMISED = "-cl-opt-disable"
# Of the trials, those that take arguments as distinct, as they are.
_DISTINCT = 0.5
# Of the trials, those with long indices.
_LONG = 0.4
# Of the trials, those that read `data` from another memory; of kernels with a local array, those that pad it.
_PLACED, _PADDED = 0.4, 0.7
# Of the trials, those that read boxes of an array; of these, those that copy them to local memory.
_FIELDS, _BOXES = 0.3, 0.85
# Of the others, those that go on with parts under one condition.
_CHAINED = 0.3
# Of those that read boxes, the ones that copy them inside of loops instead.
_TILED = 0.4
_UNCOARSENED = 0.2
# And those in which one array alone is to be copied.
_NAMED = 0.25
_SHARED = "local uint shared["
_GROUPED = re.compile(r"get_local|get_group|get_num_groups|barrier")


@dataclass(frozen=True)
class FieldBuffers:
    """How many elements are passed for a field and for the windows' weights, and the width."""

    element: str
    elements: int
    weights: int
    width: int


@dataclass(frozen=True)
class Trial:
    """What is tried.

    `any_size` guards the kernel, so that the sizes need not divide; `free_local_size` is then the local size where
    it doesn't matter. `inputs` is the seed of the buffers' contents, `optimise` asks the device's compiler to.
    `tile_pad` elements are added to each row of a copy in a loop; None leaves it to the model of banks.
    """

    kernel: nodes.Kernel
    launch: Launch
    configuration: Configuration
    any_size: bool
    free_local_size: int
    transforms: Transforms
    inputs: int
    optimise: bool
    plans: tuple[ArrayPlan, ...] = ()
    tile_pad: int | None = None

    @property
    def arrays(self) -> tuple[ArrayPlan, ...]:
        """The plans of arrays that the kernel has."""
        text = self.source
        marks = {"shared": _SHARED, "field": "field[", "weights": "weights["}
        return tuple(plan for plan in self.plans if marks.get(plan.argument, "") in text)

    @property
    def has_boxes(self) -> bool:
        """Return True if boxes are to be copied to local memory."""
        return any(plan.place is Place.LOCAL and plan.shape is None for plan in self.arrays)

    @property
    def has_tiles(self) -> bool:
        """Return True if boxes are to be copied inside of loops."""
        return self.transforms.tile != Tile()

    @property
    def source(self) -> str:
        """The kernel's OpenCL C."""
        return source(self.kernel, self.launch.local_size)

    @property
    def field(self) -> FieldBuffers | None:
        """Return what is passed for the array that boxes are read of; None where there is none."""
        stencils = self.kernel.stencils
        if not stencils:
            return None
        field = stencils[0].field
        last = max(last_read(field, each.windows, each.taps, self.launch, each.bounds) for each in stencils)
        weights = max(weights_read(each.windows) for each in stencils)
        return FieldBuffers(field.element, last + 1, weights, field.width)

    def describe(self) -> str:
        """How to do it again by hand."""
        how = "; ".join(f"{c}" for c in self.configuration) + (", any size" if self.any_size else "")
        free = f", free local size {self.free_local_size}" if self.any_size else ""
        arrays = "".join(f"\n{plan}" for plan in self.arrays)
        launch = f"{self.launch}{free}, inputs {self.inputs}, optimised: {self.optimise}"
        return f"{how}\n{self.transforms}{arrays}\n{launch}"


def trial_of(seed: int) -> Trial:
    """The trial of a seed, always the same."""
    chosen = random.Random(f"launch {seed}")
    kernel = KernelGenerator(seed).kernel()
    launch = draw_launch(chosen, kernel.dimensions, kernel.counts_offset)
    any_size = chosen.random() < 0.25
    fields = random.Random(f"field {seed}")
    has_field = fields.random() < _FIELDS
    has_tiles = has_field and random.Random(f"tile {seed}").random() < _TILED
    if has_field:
        kernel = with_field(kernel, launch, fields, has_tiles=has_tiles)
    elif (chain := random.Random(f"chain {seed}")).random() < _CHAINED:
        kernel = with_chain(kernel, chain)
    # Some have tiles alone.
    is_uncoarsened = has_tiles and random.Random(f"alone {seed}").random() < _UNCOARSENED
    # Boxes are for the local size that is demanded, which a guard of work-items drops, but for tiles.
    grouped = (has_field and not has_tiles) or _GROUPED.search(source(kernel)) is not None
    configuration = draw_configuration(chosen, launch, any_size, grouped)
    return Trial(
        kernel,
        launch,
        () if is_uncoarsened else configuration,
        any_size,
        chosen.choice((1, 3, 4, 6, 8)),
        replace(
            _transforms(chosen, random.Random(f"distinct {seed}").random() < _DISTINCT),
            tile=_tile(random.Random(f"named {seed}"), source(kernel)) if has_tiles else Tile(),
            long_indices=random.Random(f"long {seed}").random() < _LONG,
        ),
        seed,
        optimise=chosen.random() < 0.25,
        plans=(*_plans(random.Random(f"arrays {seed}")), *(() if has_tiles else _boxes(fields))),
        tile_pad=random.Random(f"pad {seed}").choice((None, 1, 1, 2, 3)) if has_tiles else None,
    )


def _tile(chosen: random.Random, text: str) -> Tile:
    """A tile of all arrays, or of one."""
    arrays = [name for name in ("field", "weights", "data") if f"{name}[" in text]
    return Tile(f"8:{chosen.choice(arrays)}" if chosen.random() < _NAMED else "8")


def _tile_of_what_is_there(trial: Trial) -> str:
    """A trial's tile, of all arrays where shrinking has taken away the one that it names."""
    tile = trial.transforms.tile
    return tile if all(f"{name}[" in trial.source for name in tile.arrays) else str(tile.trips)


def _boxes(chosen: random.Random) -> tuple[ArrayPlan, ...]:
    """Boxes of the field, and of the weights if it has some."""
    arrays = [name for name, share in (("field", _BOXES), ("weights", 0.5)) if chosen.random() < share]
    return tuple(ArrayPlan(name, place=Place.LOCAL) for name in arrays)


def _plans(chosen: random.Random) -> tuple[ArrayPlan, ...]:
    """Where `data` is read, and how the rows of the static local array are kept apart, if there is one."""
    plans = []
    if chosen.random() < _PLACED:
        place = chosen.choice((Place.CONSTANT, Place.NONCOHERENT, Place.LOCAL))
        plans.append(ArrayPlan("data", shape=(DATA,) if place is Place.LOCAL else None, place=place))
    if chosen.random() < _PADDED:
        columns = chosen.choice((2, 4, 8, 16))
        pad = XOR if chosen.random() < 0.4 else Pad(elements=chosen.choice((1, 1, 2, 3, 5)))
        plans.append(ArrayPlan("shared", shape=(MAX_GROUP // columns, columns), pad=pad))
    return tuple(plans)


def _transforms(chosen: random.Random, distinct: bool) -> Transforms:
    uses = list(Use)
    return Transforms(
        fast_path=chosen.choice(uses),
        lock_step=chosen.choice(uses),
        wide_accesses=chosen.random() < 0.5,
        clean_up=chosen.random() < 0.7,
        device_kind=chosen.choice(list(DeviceKind)),
        distinct=distinct,
    )


def to_json(trial: Trial) -> dict[str, Any]:
    """What `attempt.py` needs of a trial, as JSON has it: the source in place of the tree."""
    return {
        "source": trial.source,
        "launch": asdict(trial.launch),
        "configuration": [asdict(coarsening) for coarsening in trial.configuration],
        "any_size": trial.any_size,
        "free_local_size": trial.free_local_size,
        "transforms": {**asdict(trial.transforms), "tile": _tile_of_what_is_there(trial)},
        "inputs": trial.inputs,
        "optimise": trial.optimise,
        "field": None if trial.field is None else asdict(trial.field),
        "tile_pad": trial.tile_pad,
        "arrays": {plan.argument: array_to_json(plan) for plan in trial.arrays},
    }
