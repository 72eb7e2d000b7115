"""Kernels that are held out together, and what may then be learned from.

families     a tenth of the families each, on all devices
mechanisms   all kernels that have a mechanism, such as a broadcast or a guard: none of it is learned from
devices      all cases on a device
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from coarsen.models.launch.case import LaunchCase

FOLDS = 10


@dataclass(frozen=True)
class LaunchFold:
    """What is learned from, and what is held out meanwhile; `name` says what."""

    name: str
    training: tuple[LaunchCase, ...]
    held_out: tuple[LaunchCase, ...]


def family_folds(
    training: Sequence[LaunchCase], judged: Sequence[LaunchCase], folds: int = FOLDS
) -> Iterator[LaunchFold]:
    """Yield folds in which no family that is held out is learned from. Every judged case is held out once.

    Args:
        training: what may be learned from.
        judged: what is held out; may be the same.
        folds: how many.
    """
    families = sorted({case.family for case in judged}, key=_shuffled)
    for number in range(folds):
        chosen = frozenset(families[number::folds])
        held_out = tuple(case for case in judged if case.family in chosen)
        if held_out:
            left = tuple(case for case in training if case.family not in chosen)
            yield LaunchFold(f"families {number + 1} of {folds}", left, held_out)


def mechanism_folds(
    training: Sequence[LaunchCase], judged: Sequence[LaunchCase], mechanisms: Iterable[str]
) -> Iterator[LaunchFold]:
    """Yield a fold for each mechanism: nothing that has it is learned from.

    A judged case is held out with the first of the mechanisms that it has; one that has none of them, never.
    """
    ordered = tuple(mechanisms)
    for mechanism in ordered:
        held_out = tuple(case for case in judged if _first(case, ordered) == mechanism)
        left = tuple(case for case in training if mechanism not in case.mechanisms)
        if held_out and left:
            yield LaunchFold(f"mechanism {mechanism}", left, held_out)


def device_folds(cases: Sequence[LaunchCase]) -> Iterator[LaunchFold]:
    """Yield folds in which a device is held out, and with each family folds within it: neither is learned from."""
    for device in dict.fromkeys(case.device for case in cases):
        others = [case for case in cases if case.device != device]
        own = [case for case in cases if case.device == device]
        for fold in family_folds(others, own):
            if fold.training:
                yield LaunchFold(f"device {device}, {fold.name}", fold.training, fold.held_out)


def _first(case: LaunchCase, mechanisms: Sequence[str]) -> str | None:
    return next((mechanism for mechanism in mechanisms if mechanism in case.mechanisms), None)


def _shuffled(family: str) -> str:
    """A key that puts families in an order that has nothing to do with their names, the same everywhere."""
    return hashlib.sha256(family.encode()).hexdigest()
