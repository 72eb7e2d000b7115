"""Accesses that differ by a constant alone, such as the copies of one access in a coarsened kernel."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from coarsen.analysis.algebra.affine import Access


def nearest_siblings(accesses: Sequence[Access]) -> Mapping[int, int]:
    """Return the bytes from an access to the nearest that differs from it by a constant alone, by index."""
    families: defaultdict[object, list[tuple[int, int]]] = defaultdict(list)
    for index, access in enumerate(accesses):
        if access.base is not None:
            rest = frozenset(term for term in access.form.terms.items() if term[0])
            key = (access.base.text, access.is_store, access.block, access.access_bytes, rest)
            families[key].append((access.form.constant_part, index))
    nearest: dict[int, int] = {}
    for family in families.values():
        for place, index in family:
            gaps = [abs(place - other) for other, another in family if another != index and other != place]
            if gaps:
                nearest[index] = min(gaps)
    return nearest
