"""What a list of inputs covers: ranges of sizes, how many are thin, square or wide, with other contents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coarsen.opencl_bench.workloads.benchmark import Size
from coarsen.opencl_bench.workloads.input_space import InputSpace

# Beyond this ratio of its first two sizes an input is no square.
SQUARE = 4


@dataclass(frozen=True, slots=True)
class Coverage:
    """What some inputs cover.

    Attributes:
        inputs: how many there are.
        groups: how many different sizes they have.
        ranges: the least and the largest value of each size.
        thin: the share whose first size is less than a quarter of the second; 0 where there is one size.
        wide: the share whose first size is more than four times the second.
        contents: how many inputs have each setting of the contents, in the order of the space.
    """

    inputs: int
    groups: int
    ranges: Mapping[str, tuple[int, int]]
    thin: float
    wide: float
    contents: Mapping[str, int]

    @property
    def square(self) -> float:
        """The share that is neither thin nor wide."""
        return 1 - self.thin - self.wide

    @property
    def skewed(self) -> float:
        """The share whose contents are not the space's first, the ordinary ones."""
        ordinary = next(iter(self.contents.values()))
        return 1 - ordinary / self.inputs


def coverage_of(space: InputSpace, inputs: Sequence[Size]) -> Coverage:
    """Return what some inputs of a space cover."""
    settings = {_settings(one): 0 for one in space.contents}
    counts = Counter(_settings({name: one[name] for name in space.contents[0]}) for one in inputs)
    ratios = _ratios(space, inputs)
    return Coverage(
        inputs=len(inputs),
        groups=len({space.group_of(one) for one in inputs}),
        ranges={name: _range([one[name] for one in inputs]) for name in space.ranges},
        thin=sum(ratio < 1 / SQUARE for ratio in ratios) / len(inputs),
        wide=sum(ratio > SQUARE for ratio in ratios) / len(inputs),
        contents={**settings, **counts},
    )


def numbers_of(places: Sequence[Mapping[str, float]]) -> tuple[tuple[str, float, float, int], ...]:
    """Return what some inputs cover by their numbers.

    Args:
        places: of each input, its numbers by name; the same names in all.

    Returns:
        For each name the least number, the largest, and how many different ones there are.
    """
    values = {name: [each[name] for each in places] for name in places[0]} if places else {}
    return tuple((name, min(found), max(found), len({*found})) for name, found in values.items())


def _ratios(space: InputSpace, inputs: Sequence[Size]) -> list[float]:
    if len(space.ranges) < 2:
        return [1.0] * len(inputs)
    first, second, *_ = space.ranges
    return [one[first] / one[second] for one in inputs]


def _range(values: Sequence[int]) -> tuple[int, int]:
    return min(values), max(values)


def _settings(one: Size) -> str:
    return " ".join(f"{name}={value}" for name, value in one.items()) or "uniform"


def table_of(covered: Mapping[str, Coverage]) -> str:
    """Write what lists of inputs cover as a table in Markdown, a line for each kernel."""
    head = "| kernel | inputs | different sizes | ranges | thin, square, wide | other contents |"
    return "\n".join((head, "|" + " --- |" * 6, *(_line(name, entry) for name, entry in covered.items())))


def _line(name: str, entry: Coverage) -> str:
    ranges = ", ".join(f"{size} {low}–{high}" for size, (low, high) in entry.ranges.items())
    shares = ", ".join(f"{share:.0%}" for share in (entry.thin, entry.square, entry.wide))
    aspect = shares if len(entry.ranges) > 1 else "one size"
    skewed = f"{entry.skewed:.0%}" if len(entry.contents) > 1 else "one kind"
    return f"| {name} | {entry.inputs} | {entry.groups} | {ranges} | {aspect} | {skewed} |"
