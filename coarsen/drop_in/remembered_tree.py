"""A tree over launches' sizes that answers as the nearest size does of which something is remembered.

Distances are of logarithms. A local size that nothing is remembered of, and a global size far beyond all that are,
have the default version: what was found for some sizes says nothing of those.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from coarsen.dispatch.features import SIZE_NAMES, Feature
from coarsen.dispatch.tree import Leaf, Split, Tree
from coarsen.variant.variant import LocalSize

# One number for each local size; 0 where it is left to the driver.
_BASE = 65536
_LOCAL = "local"
_GLOBAL = tuple(f"items_{dimension}" for dimension in range(3))
FEATURES = (
    Feature(_LOCAL, f"local_size_0 + {_BASE} * (local_size_1 + {_BASE} * local_size_2)"),
    *(Feature(name, size) for name, size in zip(_GLOBAL, SIZE_NAMES, strict=False)),
)
# How many times as large, or as small, a size may be as any that is remembered.
FURTHEST = 4


@dataclass(frozen=True, slots=True)
class RememberedSize:
    """The version that was the best for launches of some size.

    Args:
        global_size: in work-items, one to three extents.
        local_size: as many; None where it was left to the driver.
        version: the number of the version.
    """

    global_size: tuple[int, ...]
    local_size: LocalSize | None
    version: int

    @property
    def extents(self) -> tuple[int, ...]:
        """Return the global size in three dimensions."""
        return (*self.global_size, *[1] * (3 - len(self.global_size)))

    @property
    def local(self) -> int:
        """Return the number of the local size."""
        own = self.local_size
        padded = (0, 0, 0) if own is None else (*own, *[1] * (3 - len(own)))
        return padded[0] + _BASE * (padded[1] + _BASE * padded[2])


def remembered_tree(sizes: Iterable[RememberedSize], default: int) -> Tree:
    """Return the tree, over `FEATURES`.

    Args:
        sizes: of which something is remembered, each once.
        default: the number of the default version.
    """
    by_local: dict[int, list[RememberedSize]] = {}
    # A launch of one dimension and one of two may have the same extents: the first of them counts.
    known = {(size.local, size.extents): size for size in reversed([*sizes])}
    for (local, _), size in sorted(known.items(), key=lambda entry: entry[0]):
        by_local.setdefault(local, []).append(size)
    return _by_local(sorted(by_local.items()), Leaf(default))


def _by_local(groups: Sequence[tuple[int, list[RememberedSize]]], default: Leaf) -> Tree:
    """The tree of several local sizes: the middle one is asked for first."""
    if not groups:
        return default
    middle = len(groups) // 2
    local, sizes = groups[middle]
    lower, higher = _by_local(groups[:middle], default), _by_local(groups[middle + 1 :], default)
    own = _within(sizes, default)
    if own == default:
        return lower if higher == default else Split(_LOCAL, float(local), lower, higher)
    if higher == default and lower == default:
        return Split(_LOCAL, local - 0.5, default, Split(_LOCAL, local + 0.5, own, default))
    return Split(_LOCAL, local - 0.5, lower, Split(_LOCAL, local + 0.5, own, higher))


def _within(sizes: Sequence[RememberedSize], default: Leaf) -> Tree:
    """The tree of one local size, bounded to what isn't far from all sizes."""
    tree = _nearest(sizes)
    if tree == default:
        return tree
    for dimension, name in enumerate(_GLOBAL):
        extents = [size.extents[dimension] for size in sizes]
        if max(extents) == 1:
            tree = Split(name, 1.0, tree, default)
            continue
        tree = Split(name, float(FURTHEST * max(extents)), tree, default)
        if min(extents) > FURTHEST:
            tree = Split(name, min(extents) / FURTHEST - 0.5, default, tree)
    return tree


def _nearest(sizes: Sequence[RememberedSize]) -> Tree:
    """The tree of sizes alone: between two neighbours, the threshold is their geometric mean."""
    versions = Counter(size.version for size in sizes)
    if len(versions) == 1:
        return Leaf(sizes[0].version)
    splits = [split for dimension in range(3) for split in _splits(sizes, dimension)]
    best = min(splits, key=lambda split: (split.impurity, -split.gap, split.dimension, split.threshold))
    below = [size for size in sizes if size.extents[best.dimension] <= best.threshold]
    above = [size for size in sizes if size.extents[best.dimension] > best.threshold]
    return Split(_GLOBAL[best.dimension], best.threshold, _nearest(below), _nearest(above))


@dataclass(frozen=True, slots=True)
class _Candidate:
    dimension: int
    threshold: float
    impurity: float
    gap: float


def _splits(sizes: Sequence[RememberedSize], dimension: int) -> Iterable[_Candidate]:
    extents = sorted({size.extents[dimension] for size in sizes})
    for lower, higher in pairwise(extents):
        below = Counter(size.version for size in sizes if size.extents[dimension] <= lower)
        above = Counter(size.version for size in sizes if size.extents[dimension] > lower)
        threshold = math.sqrt(lower * higher)
        yield _Candidate(dimension, threshold, _impurity(below) + _impurity(above), math.log2(higher / lower))


def _impurity(versions: Mapping[int, int]) -> float:
    """Gini's, times the number of sizes."""
    total = sum(versions.values())
    return total - sum(count * count for count in versions.values()) / total
