"""Kernels that are held out together, and what may then be learned from.

families     a fifth of the families each, on all devices
mechanisms   all kernels that have one of some mechanisms, such as broadcasts or guards: none is learned from
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from coarsen.models.launch.case import LaunchCase

FAMILY_FOLDS = 5
MECHANISM_FOLDS = 6


@dataclass(frozen=True)
class LaunchFold:
    """A set to learn from, and one that is held out meanwhile; `name` says what."""

    name: str
    training: tuple[LaunchCase, ...]
    held_out: tuple[LaunchCase, ...]


def family_folds(
    training: Sequence[LaunchCase], judged: Sequence[LaunchCase], folds: int = FAMILY_FOLDS
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
    training: Sequence[LaunchCase], judged: Sequence[LaunchCase], folds: int = MECHANISM_FOLDS
) -> Iterator[LaunchFold]:
    """Yield folds in which no mechanism that is held out is learned from.

    A judged case is held out once, with the rarest of its mechanisms; one that has none, never.

    Args:
        training: what may be learned from.
        judged: what is held out; may be the same.
        folds: how many.
    """
    ordered = _mechanisms_of(judged)
    for number in range(folds):
        chosen = frozenset(sorted(ordered, key=_shuffled)[number::folds])
        held_out = tuple(case for case in judged if _first(case, ordered) in chosen)
        left = tuple(case for case in training if not chosen & case.mechanisms)
        if held_out and left:
            yield LaunchFold(f"mechanisms {', '.join(sorted(chosen))}", left, held_out)


def _mechanisms_of(cases: Iterable[LaunchCase]) -> tuple[str, ...]:
    """The mechanisms that cases have, the rarest first: so each is held out with some kernels."""
    counts = Counter(mechanism for case in cases for mechanism in case.mechanisms)
    return tuple(sorted(counts, key=lambda mechanism: (counts[mechanism], mechanism)))


def _first(case: LaunchCase, mechanisms: Sequence[str]) -> str | None:
    return next((mechanism for mechanism in mechanisms if mechanism in case.mechanisms), None)


def _shuffled(name: str) -> str:
    """A key that puts names in an order that has nothing to do with what they mean, the same everywhere."""
    return hashlib.sha256(name.encode()).hexdigest()
