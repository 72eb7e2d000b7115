"""Remembers what tuning found: the one place where a choice is written to the store."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import InvalidInputError
from coarsen.runtime.launch import Sizes
from coarsen.tuning.measure.machine import PACKAGES, installed_versions
from coarsen.tuning.measure.speedup import Speedup
from coarsen.tuning.remembered.choice import RememberedChoice, RememberedKey, problem_of
from coarsen.tuning.store.database import open_store
from coarsen.tuning.tuned import Tuned
from coarsen.variant.variant import Variant

_AS_IT_WAS = Speedup(1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Kept:
    """Where a choice is remembered; or, if `location` is empty, why it is not."""

    location: str
    reason: str = ""


def remember(choice: RememberedChoice, store: str | None) -> Kept:
    """Put a choice into a store.

    Args:
        choice: what was found; it is worth having also where it can't be remembered.
        store: a file or a URL; None for the user's store.

    Returns:
        The store's location, or the reason why the choice isn't in it.
    """
    try:
        with open_store(store) as opened:
            opened.remembered.put(choice)
            return Kept(opened.location)
    except InvalidInputError as error:
        return Kept("", str(error))


def remember_no_result(choice: RememberedChoice, store: str | None) -> Kept:
    """As `remember`, of a tuning without a result: it takes the place of nothing that still holds."""
    try:
        with open_store(store) as opened:
            before = opened.remembered.find(choice.key)
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
        found_at=_now(),
    )


def choice_of(tuned: Tuned, key: RememberedKey, device: DeviceDescription) -> RememberedChoice:
    """Return what is remembered of a tuning.

    Args:
        tuned: what was found.
        key: of the launch.
        device: where it was found.
    """
    # Macros are the program's own.
    variant = replace(tuned.choice, definitions=())
    if variant.local_size == (tuned.local_size or ()):
        variant = replace(variant, local_size=())
    return RememberedChoice(
        key=key,
        variant=variant,
        speedup=tuned.speedup,
        speedup_over_uncoarsened=tuned.decision.over_uncoarsened,
        global_size=tuned.global_size,
        local_size=tuned.local_size,
        driver_version=device.driver_version,
        platform_version=device.platform_version,
        versions=installed_versions(PACKAGES),
        trials=tuned.trials,
        seconds=tuned.seconds,
        processes=tuned.decision.processes,
        found_at=_now(),
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
