"""The inputs over which a kernel is tuned, listed beside its description, and what they cover in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coarsen.cli.messages import note
from coarsen.cli.output import counted, print_line, print_table
from coarsen.opencl_bench.inputs.drawing import coverage_of, list_inputs, numbers_of
from coarsen.opencl_bench.inputs.from_recording import FromRecording, inputs_from
from coarsen.opencl_bench.inputs.over_inputs import listed_presets
from coarsen.opencl_bench.workloads.benchmark import Size
from coarsen.opencl_bench.workloads.described.inputs import DEFAULT_COUNT
from coarsen.opencl_bench.workloads.described.read import read_description, read_table
from coarsen.opencl_bench.workloads.described.recorded_inputs import KEY as RECORDED
from coarsen.opencl_bench.workloads.input_space import InputSpace

_REASONS = 3


@dataclass(frozen=True, slots=True)
class CoveredInputs:
    """What inputs to tune over cover.

    Args:
        places: the numbers of each, by name.
        lines: what else is to be said of them.
    """

    places: tuple[Mapping[str, float], ...]
    lines: tuple[str, ...] = ()

    def show(self) -> None:
        """Print what they cover."""
        headings = ["of the inputs", "least", "largest", "different"]
        numbers = (
            (name, _number(low), _number(high), str(count)) for name, low, high, count in numbers_of(self.places)
        )
        print_table(headings, numbers, numbers=headings[1:])
        for line in self.lines:
            print_line(line)
        print_line()

    def as_data(self) -> dict[str, Any]:
        """Return the same for JSON."""
        return {
            name: {"least": low, "largest": high, "different": count}
            for name, low, high, count in numbers_of(self.places)
        }


@dataclass(frozen=True, slots=True)
class ListedInputs:
    """Inputs to tune over.

    Args:
        path: of the description that lists them.
        count: how many of those that it lists; None for all.
        covered: what they cover.
    """

    path: Path
    count: int | None
    covered: CoveredInputs


def listed_inputs(path: Path, count: int | None, recording: Path | None) -> ListedInputs:
    """List the inputs of a kernel beside its description, unless they are listed.

    Args:
        path: of the description.
        count: how many are asked for; None for as many as it declares, or 24 recorded ones.
        recording: the folder of recorded launches that are the inputs; None for those that the file declares.

    Raises:
        InvalidInputError: no inputs are declared or recorded, or they can't be read.
    """
    if recording is not None:
        found = inputs_from(path, recording, count or DEFAULT_COUNT)
        note(f"listed the inputs in {found.path}")
        covered = CoveredInputs(found.places, tuple(_recorded_lines(found, path.name)))
        return ListedInputs(found.path, None, covered)
    if not read_table(path).has(RECORDED):
        listed, is_new = list_inputs(path)
        if is_new:
            note(f"listed the inputs in {listed}")
    description = read_description(path)
    sizes = [description.sizes[name] for name in listed_presets(description, count)]
    space = None if description.recorded else description.inputs
    return ListedInputs(path, count, covered_inputs(sizes, space))


def covered_inputs(sizes: Sequence[Size], space: InputSpace | None) -> CoveredInputs:
    """Return what inputs cover.

    Args:
        sizes: of each.
        space: that they were drawn from; None for others.
    """
    lines = () if space is None else tuple(_drawn_lines(space, sizes))
    return CoveredInputs(tuple({**each} for each in sizes), lines)


def _number(value: float) -> str:
    """A number in full where it is whole: sizes are to be read as they are declared."""
    return str(int(value)) if float(value).is_integer() else f"{value:g}"


def _drawn_lines(space: InputSpace, sizes: Sequence[Size]) -> Iterator[str]:
    covered = coverage_of(space, sizes)
    yield f"{counted(covered.inputs, 'input')} of {counted(covered.groups, 'different size')}"
    if len(covered.ranges) > 1:
        first, second, *_ = covered.ranges
        yield (
            f"{first} to {second}: {covered.thin:.0%} thin, {covered.square:.0%} square (up to a factor of 4), "
            f"{covered.wide:.0%} wide"
        )
    if len(covered.contents) > 1:
        yield f"contents: {', '.join(f'{each} at {number}' for each, number in covered.contents.items())}"


def _recorded_lines(found: FromRecording, name: str) -> Iterator[str]:
    """Yield what is to be said of recorded launches; `name` is the file name of the kernel's description."""
    chosen, groups = len(found.inputs), len({each.group for each in found.inputs})
    yield (
        f"{counted(chosen, 'input')} of {counted(groups, 'different size')}, from "
        f"{found.different} different launches; of {found.launches} recorded launches of the kernel, "
        f"{found.covered} passed exactly these"
    )
    if found.without_contents:
        generated = "uniform, for none were recorded" if found.has_uniform else f"generated as {name} declares"
        recorded = chosen - found.without_contents
        yield f"contents of buffers: {recorded} as recorded, {found.without_contents} {generated}"
    for reason, count in [*found.left_out.items()][:_REASONS]:
        yield f"left out: {count} launch{'' if count == 1 else 'es'}, since {reason}"
    others = [*found.left_out.values()][_REASONS:]
    if others:
        yield f"left out for {counted(len(others), 'other reason')}: {sum(others)} launches"
