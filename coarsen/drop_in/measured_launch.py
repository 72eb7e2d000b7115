"""A launch that a program is about to make, captured and tuned apart; and what was found, remembered."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import InvalidInputError
from coarsen.runtime.advice import LaunchRequest
from coarsen.runtime.launch import Sizes
from coarsen.tuning.captured_tuning import check_python, tune_captured
from coarsen.tuning.measure.machine import PACKAGES, installed_versions
from coarsen.tuning.measure.speedup import Speedup
from coarsen.tuning.progress import Deadline
from coarsen.tuning.recording import captured_launch, most_captured_bytes
from coarsen.tuning.remembered.choice import RememberedChoice, RememberedKey, problem_of
from coarsen.tuning.settings import Tune
from coarsen.tuning.store.database import open_store
from coarsen.tuning.tuned import Tuned
from coarsen.tuning.workload.benchmark import ByMacros
from coarsen.variant.variant import Definitions, Variant

_AS_IT_WAS = Speedup(1.0, 1.0, 1.0)


def tune_request(
    request: LaunchRequest,
    device: DeviceDescription,
    groups_matter: bool,
    settings: Tune,
    first: Variant | None = None,
    by_macros: ByMacros | None = None,
) -> Tuned:
    """Copy what a launch's buffers hold, and find the fastest variant of it; the buffers are only read.

    Args:
        request: with a queue and arguments.
        device: where it runs.
        groups_matter: whether it matters to the kernel how its work-items are grouped.
        settings: how to tune.
        first: a variant to begin with, such as what was found for launches of other sizes; its local size is that
            of the launch before coarsening, empty for the launch's own.
        by_macros: its sizes by values of the source's macros; None where these aren't tried.

    Raises:
        CoarsenError: it can't be captured, or not be measured apart.
        pyopencl.Error: its buffers can't be read.
    """
    check_python()
    deadline = Deadline(settings.seconds)
    memory = request.launch.device.global_mem_size
    most_bytes = settings.most_bytes or most_captured_bytes(memory, Path(tempfile.gettempdir()))
    has_others = by_macros is not None and by_macros.is_sequence
    captured = replace(captured_launch(request, most_bytes, has_others), by_macros=by_macros)
    return tune_captured(
        captured, device, request.transforms, groups_matter, settings, deadline, first, request.cache_dir
    )


@dataclass(frozen=True, slots=True)
class Kept:
    """Where a choice is remembered; or, if `location` is empty, why it is not."""

    location: str
    reason: str = ""


def remember(choice: RememberedChoice, store: str | None) -> Kept:
    """Put a choice into a store; one without a result takes the place of nothing that still holds.

    Args:
        choice: what was found; it is worth having also where it can't be remembered.
        store: its file; None for the user's store.

    Returns:
        The store's location, or the reason why the choice isn't in it.
    """
    try:
        with open_store(store) as opened:
            before = None if choice.has_result else opened.remembered.find(choice.key)
            is_kept = before is not None and before.has_result
            if before is None or not is_kept or problem_of(before, choice.driver_version, choice.platform_version):
                opened.remembered.put(choice)
            return Kept(opened.location)
    except InvalidInputError as error:
        return Kept("", str(error))


def no_result(
    key: RememberedKey, device: DeviceDescription, global_size: Sizes, local_size: Sizes | None, seconds: float
) -> RememberedChoice:
    """Return what is remembered of a tuning whose time was over before it had a result.

    Args:
        key: of the launch.
        device: where it was tried.
        global_size: of the launch, in work-items.
        local_size: likewise; None where it is left to the device.
        seconds: that it was given: with more, it is tried again.
    """
    return RememberedChoice(
        key=key,
        variant=Variant(),
        speedup=_AS_IT_WAS,
        speedup_over_uncoarsened=None,
        global_size=tuple(global_size),
        local_size=None if local_size is None else tuple(local_size),
        driver_version=device.driver_version,
        platform_version=device.platform_version,
        versions=installed_versions(PACKAGES),
        trials=0,
        seconds=seconds,
        processes=0,
        found_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def choice_of(
    tuned: Tuned, key: RememberedKey, device: DeviceDescription, own: Definitions = ()
) -> RememberedChoice:
    """Return what is remembered of a tuning.

    Args:
        tuned: what was found.
        key: of the launch.
        device: where it was found.
        own: the program's own macros, among those that were tried.
    """
    variant = tuned.choice
    if variant.definitions == own:
        is_own = variant.local_size == (tuned.local_size or ())
        variant = replace(variant, definitions=(), local_size=() if is_own else variant.local_size)
    return replace(
        no_result(key, device, tuned.global_size, tuned.local_size, tuned.seconds),
        variant=variant,
        speedup=tuned.speedup,
        speedup_over_uncoarsened=tuned.decision.over_uncoarsened,
        trials=tuned.trials,
        processes=tuned.decision.processes,
    )
