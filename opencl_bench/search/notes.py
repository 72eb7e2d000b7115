"""Notes of many runs in one line each: what differs in its numbers alone is said once, with their medians."""

from __future__ import annotations

import re
from collections.abc import Iterable

from coarsen.opencl_bench.measure.speedup import median

# A sign belongs to a number that no other one or letter stands before.
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?")


def merged(notes: Iterable[str]) -> dict[str, int]:
    """Return each note once, with how often it was said; numbers are medians over notes that differ in them alone.

    The notes are in the order in which each was first said.
    """
    groups: dict[str, list[list[str]]] = {}
    for note in notes:
        groups.setdefault(_NUMBER.sub("\0", note), []).append(_NUMBER.findall(note))
    return {_filled(template, numbers): len(numbers) for template, numbers in groups.items()}


def _filled(template: str, numbers: list[list[str]]) -> str:
    """The note with the median of each of its numbers, with as many decimals as they have."""
    middles = [_middle(same) for same in zip(*numbers, strict=True)]
    first, *rest = template.split("\0")
    return first + "".join(middle + part for middle, part in zip(middles, rest, strict=True))


def _middle(same: tuple[str, ...]) -> str:
    if len(set(same)) == 1:
        return same[0]
    decimals = max(len(number.partition(".")[2]) for number in same)
    return f"{median([float(number) for number in same]):.{decimals}f}"
