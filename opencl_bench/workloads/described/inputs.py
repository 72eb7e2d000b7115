"""The sizes of a described kernel: those of its presets, and inputs that it is to be tuned for.

    [inputs]
    ranges = { height = [16, 1048576], width = [16, 65536] }
    limit = "height * width <= 33554432"
    count = 24

They are drawn once (`coarsen tune`), or taken from a program's launches, and listed in NAME.inputs.csv beside
NAME.toml, where every process finds the same ones by their names, `input-000` and so on; these are presets.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from coarsen.base.files import MEBIBYTE, read_file
from coarsen.dispatch.expressions import parse_condition
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.described.ndrange import local_size
from coarsen.opencl_bench.workloads.described.table import Table
from coarsen.tuning.workload.benchmark import LocalSize, Size

KEY = "inputs"
DEFAULT_COUNT = 24
MOST_INPUTS = 1000
_SUFFIX = ".inputs.csv"


PREFIX = "input-"


@dataclass(frozen=True, slots=True)
class InputSpace:
    """The sizes that a kernel is to be tuned for.

    Args:
        ranges: the least and the largest value of each size, above 0; drawn evenly over the logarithm.
        limits: conditions on the sizes that every input fulfils, such as `width * height <= 1000000`.
        count: how many different inputs there are.
        multiples: sizes that are multiples of a number, for kernels that do not guard.
        powers_of_two: sizes that are.
        fixed: sizes that are the same in all inputs.
    """

    ranges: Mapping[str, tuple[int, int]]
    limits: tuple[str, ...] = ()
    count: int = 24
    multiples: Mapping[str, int] = field(default_factory=dict)
    powers_of_two: frozenset[str] = frozenset()
    fixed: Size = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the numbers that an input has: sizes, and those that are fixed."""
        return (*self.ranges, *self.fixed)


def write_inputs(path: Path, inputs: Sequence[Size]) -> None:
    """Write a list of inputs of the same names, a line for each, the first called `input-000`."""
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(("input", *inputs[0]))
        lines.writerows((f"{PREFIX}{i:03}", *(one[name] for name in inputs[0])) for i, one in enumerate(inputs))


def read_inputs(path: Path) -> Iterator[tuple[str, dict[str, int]]]:
    """Read the names and numbers of a list of inputs."""
    with path.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            name = line.pop("input")
            yield name, {key: int(value) for key, value in line.items()}


def list_file(description: Path) -> Path:
    """Return the path of the list of inputs of a TOML file."""
    return description.with_suffix(_SUFFIX)


def read_input_space(top: Table) -> InputSpace | None:
    """Read the table `inputs`; None where there is none. Raises InvalidInputError for a mistake in it."""
    if not top.has(KEY):
        return None
    table = top.table(KEY)
    table.check_names("ranges", "limit", "count", "multiples", "powers_of_two", "fixed")
    ranges = table.table("ranges")
    count = table.whole("count", DEFAULT_COUNT)
    if not 1 <= count <= MOST_INPUTS:
        raise table.error("count", f"it is from 1 to {MOST_INPUTS}, not {count}")
    space = InputSpace(
        ranges={name: _range(ranges, name) for name in ranges.values},
        limits=tuple(each.text for each in table.parse_texts("limit", parse_condition)),
        count=count,
        multiples=_numbers(table.table("multiples")),
        powers_of_two=frozenset(table.texts("powers_of_two")),
        fixed=_numbers(table.table("fixed")),
    )
    _check_names(table, space)
    return space


def _listed_inputs(description: Path, space: InputSpace | None) -> dict[str, dict[str, int]]:
    """Read the list of inputs; empty where there is none yet.

    Raises InvalidInputError where the list is none, or not of this space.
    """
    path = list_file(description)
    if not path.is_file():
        return {}
    anew = f"coarsen tune {description} lists the inputs anew"
    try:
        read_file(path, MEBIBYTE).decode()
        listed = dict(read_inputs(path))
    except (ValueError, KeyError, TypeError, AttributeError, csv.Error):
        raise InvalidInputError(f"{path}: it is no list of inputs; {anew}") from None
    for name, size in listed.items():
        if space is not None and not is_of(space, size):
            raise InvalidInputError(f"{path}: {name} is none of the inputs of {description.name}; {anew}")
    return listed


def is_of(space: InputSpace, size: Size) -> bool:
    """Return True if an input may be one of a space."""
    if size.keys() != {*space.names}:
        return False
    in_ranges = all(low <= size[name] <= high for name, (low, high) in space.ranges.items())
    is_fixed = all(size[name] == value for name, value in space.fixed.items())
    return in_ranges and is_fixed and all(parse_condition(e).holds(size) for e in space.limits)


def _range(table: Table, name: str) -> tuple[int, int]:
    match table.array(name):
        case [int(low), int(high)] if not isinstance(low, bool) and 1 <= low <= high:
            return low, high
    raise table.error(name, f"it must be the least and the largest value, above 0, not {table.values[name]!r}")


def _numbers(table: Table) -> dict[str, int]:
    return {name: table.whole(name, 0) for name in table.values}


def _check_names(table: Table, space: InputSpace) -> None:
    if not space.ranges:
        raise table.error("ranges", "there must be at least one size: { n = [16, 1048576] }")
    for name in space.names:
        if space.names.count(name) > 1:
            raise table.error("", f"'{name}' is there twice, among ranges and fixed")
    known = {*space.ranges, *space.fixed}
    for limit in map(parse_condition, space.limits):
        for name in sorted(limit.names - known):
            raise table.error("limit", f"there is no size '{name}'; there are {', '.join(sorted(known))}")
    for key, names in (("multiples", space.multiples), ("powers_of_two", space.powers_of_two)):
        for name in names:
            if name not in space.ranges:
                raise table.error(key, f"'{name}' has no range; there are {', '.join(space.ranges)}")
    for name, multiple in space.multiples.items():
        if multiple < 1:
            raise table.error("multiples", f"{name} can't be a multiple of {multiple}")


LOCAL_SIZE_PREFIX = "local_size_"
# In a preset, the local size that its launches have there.
LOCAL_SIZE = "local_size"


def read_sizes(top: Table, space: InputSpace | None) -> dict[str, dict[str, int]]:
    """Read the sizes of each preset.

    Args:
        top: the outermost table.
        space: the inputs that the file declares, if any.

    Raises:
        InvalidInputError: a size that is none, no preset, or a list that is none of these inputs.
    """
    presets = top.table("sizes")
    if not presets.values:
        raise top.error("sizes", "there must be at least one preset: [sizes.test]")
    sizes = {name: _preset(presets.table(name)) for name in presets.values}
    listed = _listed_inputs(top.path, space)
    for name in sizes if space is not None or listed else ():
        if name.startswith(PREFIX):
            raise presets.error(name, f"names that begin with {PREFIX} are those of listed inputs")
    return {**sizes, **listed}


def _preset(table: Table) -> dict[str, int]:
    sizes = {}
    for name, value in table.values.items():
        if name == LOCAL_SIZE and isinstance(value, list):
            continue
        if not name.isidentifier() or name.startswith(LOCAL_SIZE_PREFIX):
            raise table.error(name, "a size can't be called so")
        if type(value) is not int or value < 1:
            raise table.error(name, f"a size is a whole number of at least 1, not {value!r}")
        sizes[name] = value
    return sizes


def preset_local_sizes(top: Table, default: LocalSize) -> dict[str, LocalSize]:
    """Return the local sizes of presets that have one of their own, by the presets' names.

    Args:
        top: the outermost table.
        default: the local size of `ndrange`.

    Raises:
        InvalidInputError: a local size that is none, or has other dimensions.
    """
    presets = top.table("sizes")
    found = {}
    for table in (presets.table(name) for name in presets.values):
        value = table.values.get(LOCAL_SIZE)
        if isinstance(value, list):
            found[table.key.removeprefix("sizes.")] = local_size(table, LOCAL_SIZE, value, len(default))
    return found
