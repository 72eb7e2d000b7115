"""Spaces of inputs: sizes within ranges, and the settings of contents, all whole numbers.

The inputs that a space stands for are drawn once (`opencl_bench/inputs`) and listed in a file, so that every
process that measures finds the same ones by their names, without the package that draws them.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from coarsen.errors import InternalError
from coarsen.tuning.workload.benchmark import Size

PREFIX = "input-"


@dataclass(frozen=True, slots=True)
class InputSpace:
    """The sizes and contents that a kernel is to be tuned for.

    Args:
        ranges: the least and the largest value of each size, above 0; drawn evenly over the logarithm.
        limits: conditions on the sizes that every input fulfils, such as `width * height <= 1000000`.
        contents: settings of the contents, in the order in which they are taken; the first is the ordinary one.
        contents_each: how many of them the same sizes have, so that sizes alone can't tell the contents.
        groups: how many different sizes there are.
        multiples: sizes that are multiples of a number, for kernels that do not guard.
        powers_of_two: sizes that are.
        fixed: sizes that are the same in all inputs.
    """

    ranges: Mapping[str, tuple[int, int]]
    limits: tuple[str, ...] = ()
    contents: tuple[Size, ...] = ({},)
    contents_each: int = 1
    groups: int = 24
    multiples: Mapping[str, int] = field(default_factory=dict)
    powers_of_two: frozenset[str] = frozenset()
    fixed: Size = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the numbers that an input has: sizes, those that are fixed, settings of the contents."""
        return (*self.ranges, *self.fixed, *self.contents[0])

    def group_of(self, size: Size) -> str:
        """Return what inputs with the same sizes have in common: `height=16 width=64`; `sizes_in` reads it."""
        return " ".join(f"{name}={size[name]}" for name in sorted((*self.ranges, *self.fixed)))


def sizes_in(group: str) -> dict[str, int]:
    """Return the sizes that the name of a group tells, none where it is no name that `group_of` gives."""
    found = {}
    for word in group.split():
        name, _, value = word.partition("=")
        if not value.isdecimal():
            return {}
        found[name] = int(value)
    return found


def write_inputs(path: Path, inputs: Sequence[Size]) -> None:
    """Write a list of inputs of the same names, a line for each, the first called `input-000`."""
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(("input", *inputs[0]))
        lines.writerows((input_name(i), *(one[name] for name in inputs[0])) for i, one in enumerate(inputs))


def read_inputs(path: Path) -> Iterator[tuple[str, dict[str, int]]]:
    """Read the names and numbers of a list of inputs. Raises InternalError where there is no list."""
    if not path.exists():
        raise InternalError(f"{path} is missing")
    with path.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            name = line.pop("input")
            yield name, {key: int(value) for key, value in line.items()}


def input_name(number: int) -> str:
    """Name an input by its number, from 0 on."""
    return f"{PREFIX}{number:03}"
