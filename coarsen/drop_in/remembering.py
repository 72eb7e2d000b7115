"""Remembers what tuning found: the one place where a choice is written to the store."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.measure.environment import PACKAGES, installed_versions
from coarsen.opencl_bench.results.remembered.choice import RememberedChoice, RememberedKey
from coarsen.opencl_bench.results.store.database import open_store
from coarsen.opencl_bench.tuning.tuned import Tuned


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
        found_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
