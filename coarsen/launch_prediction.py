"""From a kernel, a device and the sizes of a launch to the launch to use.

kernel ─▶ planned once ─┐
sizes, or usual ones ───┼─▶ grid of launches ─▶ inputs of each ─▶ launch model ─▶ LaunchPrediction
device ─▶ its profile ──┘
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from coarsen.analysis.whole_groups import groups_matter
from coarsen.cost.planned_work.planned_kernel import PlannedKernel
from coarsen.cost.work_counts import LaunchSizes, padded
from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import DeviceError, InvalidInputError, RefusalError
from coarsen.features.identity import kernel_identity
from coarsen.features.launch_size import launch_size, used_dimensions
from coarsen.ir.kernel import Kernel
from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS, DeviceDescriptor
from coarsen.models.launch.case import LaunchInputs, launch_inputs
from coarsen.models.launch.decision import Risk, decide
from coarsen.models.launch.device import LaunchDevice, launch_device
from coarsen.models.launch.grid import Candidate, OwnLaunch, launch_grid
from coarsen.models.launch.model import LaunchModel
from coarsen.models.launch.planning import KernelPlanner, PlannedLaunch, WorkPlanner
from coarsen.models.launch.prediction import LaunchPrediction, expected_launches
from coarsen.models.launch.storage import load_launch
from coarsen.models.launch.usual_sizes import usual_global_sizes
from coarsen.targets import Target
from coarsen.variant.coarsening import Level
from coarsen.variant.variant import Variant


@dataclass(frozen=True, slots=True)
class AskedLaunch:
    """A launch that is asked about.

    Attributes:
        local_size: None for what the kernel requires, or else the usual one.
        global_size: None where it isn't known.
        arguments: whole scalar arguments that are known, by name.
        dimension: the only one along which the launch may be coarsened; None for any.
    """

    local_size: tuple[int, ...] | None = None
    global_size: tuple[int, ...] | None = None
    arguments: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    dimension: int | None = None


def launch_model(folder: Path | None = None) -> LaunchModel:
    """Return the launch model in a folder; None for the package's. Raises InvalidInputError."""
    return _shipped() if folder is None else load_launch(folder)


@functools.cache
def _shipped() -> LaunchModel:
    return load_launch()


def predict_launch(
    kernel: Kernel, model: LaunchModel, target: Target, asked: AskedLaunch, risk: Risk = Risk.NEUTRAL
) -> LaunchPrediction:
    """Predict the launch to use for a lowered kernel.

    Args:
        kernel: what is launched.
        model: the launch model.
        target: the device.
        asked: the launch as it is, as far as it is known.
        risk: how much may be lost for what may be gained.

    Raises:
        DeviceError: the model has seen no device of this kind.
        InvalidInputError: sizes that the kernel can't be launched with.
        RefusalError: the kernel can't be coarsened.
    """
    note = _device_note(model, target.descriptor)
    device = device_of(target)
    own = own_launch(kernel, asked)
    grid = planned_grid(KernelPlanner(PlannedKernel(kernel)), own, device, asked)
    expected = model.expect(grid.inputs, device)
    first = grid.inputs[0]
    decisions = {each: model.decide(expected, first, each) for each in Risk}
    decision = decisions[risk]
    launches = expected_launches(grid.candidates, expected, decision)
    prediction = LaunchPrediction(
        kernel=kernel.name,
        device=target.descriptor.name,
        own=Variant(own.local_size),
        launches=launches,
        choice=decision.chosen,
        risk=risk,
        choices={each: made.chosen for each, made in decisions.items()},
        abstained=decision.abstained,
        influences=(),
        nearest=model.nearest(first),
        training_kernel=model.known_as(kernel_identity(kernel)),
        sizes_are_assumed=asked.global_size is None,
        device_note=note,
        unknown=grid.unknown,
    )
    explained = launches.index(prediction.explained)
    return prediction.explained_by(model.influences(first, explained))


@dataclass(frozen=True, slots=True)
class LaunchFactor:
    """The factor for a program that launches a kernel as it is told to, along one dimension; 1 for none."""

    factor: int
    dimension: int
    device_note: str


def predict_factor(
    kernel: Kernel, model: LaunchModel, target: Target, local_size: Sequence[int] | None
) -> LaunchFactor:
    """Predict the factor for launches of any global size at their own local size.

    Only neighbouring work-items along one dimension are merged: any launch can be coarsened so.

    Args:
        kernel: what is launched.
        model: the launch model.
        target: the device.
        local_size: of the launches; None for what the kernel requires, or else the usual one.

    Raises:
        DeviceError, InvalidInputError, RefusalError: as `predict_launch`.
    """
    note = _device_note(model, target.descriptor)
    device = device_of(target)
    asked = AskedLaunch(None if local_size is None else tuple(local_size))
    own = own_launch(kernel, asked)
    grid = planned_grid(KernelPlanner(PlannedKernel(kernel)), own, device, asked)
    expected, inputs = model.expect(grid.inputs, device), grid.inputs[0]
    kept = [place for place, variant in enumerate(inputs.variants) if _is_simple(variant, own)]
    coarsened = inputs.is_coarsened[kept]
    made = decide(expected.over_own[kept], coarsened, expected.distance, model.rules[Risk.NEUTRAL])
    chosen = inputs.variants[kept[made.chosen]].coarsenings
    if not chosen:
        return LaunchFactor(1, 0, note)
    return LaunchFactor(chosen[0].factor, chosen[0].dimension, note)


def _is_simple(variant: Variant, own: OwnLaunch) -> bool:
    """Return True for the own launch, and for neighbouring work-items of it merged along one dimension."""
    coarsenings = variant.coarsenings
    return (
        variant.local_size == own.local_size
        and not variant.transforms.wide_accesses
        and not variant.transforms.distinct
        and len(coarsenings) <= 1
        and all(each.level is Level.ITEM and each.stride == 1 for each in coarsenings)
    )


def device_of(target: Target) -> LaunchDevice:
    """Return a target as the launch model sees it. Raises InvalidInputError where its profile is damaged."""
    installed: DeviceDescription | None = target.installed
    device = launch_device(target.descriptor, installed.compute_units if installed else None)
    return device.limited(installed.max_work_group_size, installed.max_work_item_sizes) if installed else device


def own_launch(kernel: Kernel, asked: AskedLaunch) -> OwnLaunch:
    """Return the launch as it is, in as many dimensions as it has. Raises InvalidInputError."""
    required = kernel.required_work_group_size
    given = asked.local_size
    if required and given and padded(given) != required:
        wanted, named = ("×".join(map(str, size)) for size in (required, given))
        raise InvalidInputError(f"the kernel {kernel.name} requires the local size {wanted}, not {named}")
    whole = launch_size(kernel, given)
    used = max(index for index in range(3) if whole[index] > 1 or index == 0) + 1
    count = max(used_dimensions(kernel), used, len(given or ()), len(asked.global_size or ()))
    count = min(count, 3)
    global_size = padded(asked.global_size)[:count] if asked.global_size else None
    local_size = whole[:count]
    if global_size and any(items % extent for items, extent in zip(global_size, local_size, strict=True)):
        size, group = ("×".join(map(str, each)) for each in (global_size, local_size))
        raise InvalidInputError(f"the local size {group} does not divide the global size {size}")
    dimensions = tuple(range(count)) if asked.dimension is None else (asked.dimension,)
    if dimensions[0] >= count:
        size = "×".join(map(str, local_size))
        raise InvalidInputError(f"a launch with the local size {size} has no dimension {dimensions[0]}")
    return OwnLaunch(local_size, global_size, groups_matter(kernel), dimensions)


@dataclass(frozen=True)
class PlannedGrid:
    """The launches of a grid that can be carried out, with their inputs at each of the sizes."""

    candidates: tuple[Candidate, ...]
    inputs: tuple[LaunchInputs, ...]
    unknown: tuple[str, ...]


def planned_grid(planner: WorkPlanner, own: OwnLaunch, device: LaunchDevice, asked: AskedLaunch) -> PlannedGrid:
    """Return the grid of a launch, planned at its sizes, or at usual ones; what is refused is left out.

    Raises:
        RefusalError: the own launch's work can't be told.
        InvalidInputError: the sizes give no finite number of work.
    """
    planned = planned_launches(planner, own, device, asked)
    candidates = {candidate.variant: candidate for candidate in launch_grid(own, device)}
    unknown = dict.fromkeys(text for found in planned[0].values() for text in found.work.unknown)
    inputs = tuple(launch_inputs(found, device) for found in planned)
    return PlannedGrid(tuple(candidates[variant] for variant in planned[0]), inputs, tuple(unknown))


def planned_launches(
    planner: WorkPlanner, own: OwnLaunch, device: LaunchDevice, asked: AskedLaunch
) -> tuple[Mapping[Variant, PlannedLaunch], ...]:
    """Return the work of the same launches, those of the grid that are not refused, at each of the sizes.

    Raises:
        RefusalError: the own launch's work can't be told.
        InvalidInputError: the sizes give no finite number of work.
    """
    sizes = [asked.global_size] if asked.global_size else list(usual_global_sizes(own.local_size))
    variants = dict.fromkeys(candidate.variant for candidate in launch_grid(own, device))
    planned: list[dict[Variant, PlannedLaunch]] = []
    for size in sizes:
        found: dict[Variant, PlannedLaunch] = {}
        for variant in tuple(variants):
            original = LaunchSizes(padded(size), padded(variant.local_size))
            try:
                found[variant] = planner.planned(variant, original, asked.arguments)
            except RefusalError:
                if not variant.is_coarsened:
                    raise
                del variants[variant]
        planned.append(found)
    return tuple({variant: found[variant] for variant in variants} for found in planned)


def _device_note(model: LaunchModel, device: DeviceDescriptor) -> str:
    """Say what the model lacks of a device. Raises DeviceError where it has seen no CPU, or no GPU, at all."""
    data = model.card.get("data")
    cases = data.get("cases") if isinstance(data, dict) else None
    known = tuple(cases) if isinstance(cases, dict) else ()
    if device.name in known:
        return ""
    kind = "GPU" if device.is_gpu else "CPU"
    alike = sorted(
        name for name in known if name in DEVICE_DESCRIPTORS and DEVICE_DESCRIPTORS[name].is_gpu == device.is_gpu
    )
    if not alike:
        raise DeviceError(
            f"no launch was measured on {device.full_name}, nor on any other {kind}, so nothing can be predicted"
        )
    return (
        f"no launch was measured on {device.full_name}: this is what the model expects of a device like it, from "
        f"the {kind}s that it learned from ({', '.join(alike)})"
    )
