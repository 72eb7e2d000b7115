"""From a kernel and a device to the launch, or the factor, to use, by the one model that answers for the device.

kernel ─▶ planned once ─┐
sizes, or usual ones ───┼─▶ grid of launches ─▶ inputs of each ─▶ launch model ─▶ LaunchPrediction
device ─▶ its profile ──┘

kernel, dimension ─▶ features ─▶ the cascade of the device ─▶ Prediction: both have a `factor`
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from coarsen.analysis.control_flow import ControlFlow
from coarsen.analysis.legality import groups_matter
from coarsen.cost.planned_work.planned_kernel import PlannedKernel
from coarsen.cost.work_counts import LaunchSizes, padded
from coarsen.errors import DeviceError, InvalidInputError, RefusalError
from coarsen.features import feature_table
from coarsen.features.feature_table import kernel_identity
from coarsen.features.kernel_facts import launch_size, used_dimensions
from coarsen.ir.kernel import Kernel
from coarsen.models.launch import Risk
from coarsen.models.launch.case import launch_inputs
from coarsen.models.launch.device import LaunchDevice, launch_device
from coarsen.models.launch.grid import OwnLaunch, launch_grid, usual_global_sizes
from coarsen.models.launch.model import LaunchModel
from coarsen.models.launch.planning import PlannedLaunch, WorkPlanner
from coarsen.models.launch.prediction import LaunchPrediction, expected_launches, how_fared
from coarsen.models.launch.storage import load_launch
from coarsen.targets import Target, target_of
from coarsen.user_models import ModelName, answering_model, chosen_cascade, launch_model_folder
from coarsen.variant.coarsening import Level
from coarsen.variant.variant import Variant

if TYPE_CHECKING:
    from coarsen.devices.discovery import DeviceDescription
    from coarsen.models import Prediction


@dataclass(frozen=True, slots=True)
class AskedLaunch:
    """A launch that is asked about.

    Attributes:
        local_size: None for what the kernel requires, or else the usual one.
        global_size: None where it isn't known.
        arguments: whole scalar arguments that are known, by name.
        dimension: the only one along which the launch may be coarsened; None for any.
        factors_only: whether only neighbouring work-items along one dimension are merged, at the launch's own
            local size: any launch can be coarsened so.
    """

    local_size: tuple[int, ...] | None = None
    global_size: tuple[int, ...] | None = None
    arguments: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    dimension: int | None = None
    factors_only: bool = False


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
        DeviceError: the model learned nothing from the device.
        InvalidInputError: sizes that the kernel can't be launched with.
        RefusalError: the kernel can't be coarsened.
    """
    _check_learned(model, target)
    device = device_of(target)
    own = own_launch(kernel, asked)
    planned = planned_launches(WorkPlanner(PlannedKernel(kernel)), own, device, asked)
    candidates = {candidate.variant: candidate for candidate in launch_grid(own, device)}
    unknown = dict.fromkeys(text for found in planned[0].values() for text in found.work.unknown)
    inputs = tuple(launch_inputs(found, device) for found in planned)
    expected, first = model.expect(inputs, device), inputs[0]
    considered = first
    if asked.factors_only:
        kept = [place for place, variant in enumerate(first.variants) if _is_factor(variant, own)]
        considered, expected = first.only(kept), expected.only(kept)
    decisions = {each: model.decide(expected, considered, each, over_own=asked.factors_only) for each in Risk}
    decision = decisions[risk]
    launches = expected_launches(tuple(candidates[each] for each in considered.variants), expected, decision)
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
        unknown=tuple(unknown),
        has_loops=bool(ControlFlow(kernel).loops),
        fared=how_fared(model.card, target.descriptor.name, risk),
    )
    explained = first.variants.index(prediction.explained.variant)
    return replace(prediction, influences=model.influences(first, explained))


def _is_factor(variant: Variant, own: OwnLaunch) -> bool:
    """Return True for the own launch, and for neighbouring work-items of it merged along one dimension."""
    coarsenings = variant.coarsenings
    return (
        variant.local_size == own.local_size
        and not variant.transforms.assuming
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


def learned_devices(model: LaunchModel) -> tuple[str, ...]:
    """Return the names of the devices that a launch model learned from, as its card says."""
    data = model.card.get("data")
    cases = data.get("cases") if isinstance(data, dict) else None
    return tuple(map(str, cases)) if isinstance(cases, dict) else ()


def _check_learned(model: LaunchModel, target: Target) -> None:
    """Raise DeviceError where the model learned nothing from a device."""
    known = learned_devices(model)
    if target.descriptor.name not in known:
        names = ", ".join(sorted(known)) or "no device"
        raise DeviceError(
            f"there is no model of {target}: the launch model learned from {names}; "
            "where the device is here, `coarsen tune` measures instead"
        )


# The factor alone, by whichever model answers.


def predict_factor(
    kernel: Kernel,
    device: str,
    dimension: int | None = None,
    local_size: Sequence[int] | None = None,
    folder: Path | None = None,
    *,
    model: ModelName | None = None,
    shipped: bool = False,
) -> LaunchPrediction | Prediction:
    """Predict a factor by the model that answers for a device.

    Args:
        kernel: what is launched.
        device: a name that a cascade has, or any that `target_of` takes.
        dimension: of the NDRange, along which the kernel is coarsened; None: any for the launch model, 0 for a
            cascade.
        local_size: of the launch before coarsening; None for what the kernel requires, or else the usual one.
        folder: with the model; the user's own if None, or the shipped one where there is none.
        model: the one to ask; None for the one that answers for the device.
        shipped: whether the user's own models are passed over.

    Raises:
        DeviceError: there is no such device, or no model of it.
        InvalidInputError: a local size that the kernel can't be launched with, or any for a cascade; a model's
            files are damaged.
        RefusalError: the kernel can't be coarsened.
    """
    if (model or answering_model(device, folder, shipped=shipped)) is ModelName.LAUNCH:
        return predict_by_launch_model(kernel, device, dimension, local_size, folder, shipped=shipped)
    if local_size is not None:
        raise InvalidInputError(
            f"the cascade of {device} takes no local size: its features do not depend on it; leave it out, or "
            "name another model"
        )
    cascade, _ = chosen_cascade(device, folder, shipped=shipped)
    return cascade.predict(feature_table(kernel, dimension or 0))


def predict_by_launch_model(
    kernel: Kernel,
    device: str,
    dimension: int | None = None,
    local_size: Sequence[int] | None = None,
    folder: Path | None = None,
    *,
    shipped: bool = False,
) -> LaunchPrediction:
    """Predict a factor by the launch model. Arguments and errors as for `predict_factor`."""
    try:
        size = None if local_size is None else tuple(map(operator.index, local_size))
    except TypeError:
        raise InvalidInputError(f"a local size is one to three whole numbers, not {local_size!r}") from None
    model = launch_model(launch_model_folder(folder, shipped=shipped))
    asked = AskedLaunch(size, dimension=dimension, factors_only=True)
    return predict_launch(kernel, model, target_of(device), asked)
