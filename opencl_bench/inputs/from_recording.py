"""Launches that a real program made of a described kernel, as the inputs over which it is tuned.

    recording ─▶ the kernel's launches ─▶ those that are as described, each once ─▶ at most so many, space-filling
              ─▶ NAME.recorded.toml beside NAME.toml, the contents of buffers in NAME.recorded/

A launch without recorded contents gets contents as the description declares them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coarsen.errors import InvalidInputError
from coarsen.files import read_file, replace_file
from coarsen.near_names import did_you_mean
from coarsen.opencl_bench.inputs.recorded_sizes import sizes_of
from coarsen.opencl_bench.inputs.recorded_text import recorded_text
from coarsen.opencl_bench.inputs.space_filling import space_filling
from coarsen.opencl_bench.workloads.described.description import BufferDescription, Description, ScalarDescription
from coarsen.opencl_bench.workloads.described.inputs import DEFAULT_COUNT
from coarsen.opencl_bench.workloads.described.launch_list import (
    ListedKernel,
    ListedLaunch,
    PassedBuffer,
    PassedScalar,
    RecordedInput,
    read_launch_list,
)
from coarsen.opencl_bench.workloads.described.read import read_description
from coarsen.opencl_bench.workloads.described.recorded_inputs import scalar_numbers, with_recorded
from coarsen.opencl_bench.workloads.described.values import FileValues
from coarsen.opencl_bench.workloads.described.workload import check_preset, own_launch

SUFFIX = ".recorded"


@dataclass(frozen=True, slots=True)
class FromRecording:
    """The inputs that a recording gave.

    Attributes:
        path: of the description that lists them.
        inputs: those that were chosen.
        different: how many different launches there were to choose from.
        launches: how many launches of the kernel were recorded.
        covered: how many of these were made as one of the chosen ones is.
        without_contents: how many of the chosen have contents as declared, in place of recorded ones.
        has_uniform: whether these are uniform, since the description has the contents of one launch in files.
        places: the numbers that each of the inputs has.
        left_out: reasons for which launches are no inputs, with how many there were.
    """

    path: Path
    inputs: tuple[RecordedInput, ...]
    different: int
    launches: int
    covered: int
    without_contents: int
    has_uniform: bool
    places: tuple[Mapping[str, float], ...]
    left_out: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A launch that is as described, with the names of its files in the recording, and its place among others."""

    input: RecordedInput
    place: Mapping[str, float]


def inputs_from(description: Path, recording: Path, most: int = DEFAULT_COUNT) -> FromRecording:
    """Write the description of recorded launches beside that of their kernel.

    Args:
        description: of the kernel.
        recording: the folder that `coarsen run --record` wrote.
        most: how many launches are chosen at most.

    Raises:
        InvalidInputError: a recording that can't be read, has no launch of the kernel, or of another source alone,
            or in which all launches differ from what the description says.
    """
    own = read_description(description)
    if own.recorded:
        raise InvalidInputError(f"{description}: it lists launches itself; name the kernel's own description")
    kernels = [*_of_kernel(read_launch_list(recording), own, recording)]
    candidates, left_out = _candidates(own, kernels)
    if not candidates:
        raise InvalidInputError(
            f"{recording}: no launch of {own.kernel} is as {description.name} says: {_first(left_out)}"
        )
    weights = [each.input.launched for each in candidates]
    chosen = [candidates[index] for index in space_filling([each.place for each in candidates], weights, most)]
    path = description.with_name(f"{description.stem}{SUFFIX}.toml")
    folder = recording if recording.is_dir() else recording.parent
    for each in chosen:
        _check_files(own, each.input, folder)
    inputs = tuple(_with_files(each.input, folder, path) for each in chosen)
    features = () if own.features else tuple(_varying(own, candidates))
    replace_file(recorded_text(description.name, recording, inputs, features).encode(), path)
    return FromRecording(
        path,
        inputs,
        len(candidates),
        sum(launch.count for kernel in kernels for launch in kernel.launches) + sum(k.further for k in kernels),
        sum(each.launched for each in inputs),
        sum(not each.files for each in inputs) if _needs_contents(own) else 0,
        any(isinstance(each, BufferDescription) and isinstance(each.values, FileValues) for each in own.arguments),
        tuple(each.place for each in chosen),
        left_out,
    )


def _of_kernel(kernels: Sequence[ListedKernel], own: Description, recording: Path) -> Iterator[ListedKernel]:
    """The launches of the description's kernel, from its source."""
    named = [each for each in kernels if each.kernel == own.kernel]
    if not named:
        names = sorted({each.kernel for each in kernels})
        raise InvalidInputError(
            f"{recording}: it has no launch of the kernel {own.kernel}{did_you_mean(own.kernel, names)}; "
            f"it has launches of {', '.join(names) or 'none'}"
        )
    source_hash = own.source_hash
    found = [each for each in named if each.source_hash == source_hash]
    if not found:
        files = " or ".join(sorted({each.source_file for each in named}))
        raise InvalidInputError(
            f"{recording}: the program launched {own.kernel} from another source than {own.kernel_file.name}; "
            f"record the program again, or describe the source that it used, {files} in that folder"
        )
    yield from found


def _candidates(own: Description, kernels: Iterable[ListedKernel]) -> tuple[list[_Candidate], dict[str, int]]:
    """The different launches that are as described, and why the others are not."""
    found: dict[int, RecordedInput] = {}
    left_out: dict[str, int] = {}
    names = [argument.name for argument in own.arguments_of(own.kernel)]
    for kernel in kernels:
        if kernel.further:
            left_out["what they pass is not listed"] = (
                left_out.get("what they pass is not listed", 0) + kernel.further
            )
        for launch in kernel.launches:
            try:
                one = _input(own, names, launch)
            except InvalidInputError as error:
                left_out[str(error)] = left_out.get(str(error), 0) + launch.count
                continue
            # Launches with other local sizes, and of other build options, are the same input.
            number = replace(one, files={}).number
            before = found.get(number)
            if before is not None:
                one = replace(before, launched=before.launched + one.launched, files=before.files or one.files)
            found[number] = one
    return [_Candidate(each, _place(own, each)) for each in found.values()], left_out


def _input(own: Description, names: Sequence[str], launch: ListedLaunch) -> RecordedInput:
    """A launch as an input. Raises InvalidInputError where it can't be one."""
    one = RecordedInput(
        launched=launch.count,
        sizes=sizes_of(own, launch),
        global_size=launch.global_size,
        arguments=dict(zip(names, launch.arguments, strict=True)),
        files={names[index]: name for index, name in launch.contents if index < len(names)},
    )
    described = with_recorded(own, (replace(one, files={}),))
    preset = next(iter(described.sizes))
    check_preset(described, preset)
    # The program may round the global size up to another local size; measured is what the description says.
    measured = own_launch(described, described.sizes[preset], described.local_size)
    return replace(one, global_size=measured.global_size)


def _place(own: Description, one: RecordedInput) -> dict[str, float]:
    """The numbers by which launches lie near each other: whole numbers, sizes of buffers and of the launch."""
    place: dict[str, float] = {**one.sizes}
    place |= {f"global size {dimension}": extent for dimension, extent in enumerate(one.global_size)}
    for argument in own.arguments_of(own.kernel):
        passed = one.arguments[argument.name]
        if isinstance(passed, PassedBuffer):
            place[f"bytes of {argument.name}"] = passed.byte_count
        if (
            isinstance(argument, ScalarDescription)
            and isinstance(passed, PassedScalar)
            and argument.type.is_integer
        ):
            numbers = scalar_numbers(argument.type, passed.content)
            place |= {f"{argument.name} {index}": number for index, number in enumerate(numbers)}
    return place


def _varying(own: Description, candidates: Sequence[_Candidate]) -> Iterator[str]:
    """Whole numbers and extents that differ between launches, to choose by, as features call them."""
    wholes = [
        argument.name
        for argument in own.arguments_of(own.kernel)
        if isinstance(argument, ScalarDescription) and argument.type.is_integer and argument.type.components == 1
    ]
    extents = {f"global size {d}": f"global_size_{d}" for d, _ in enumerate(own.global_size)}
    places = {**{f"{name} 0": name for name in wholes}, **extents}
    varying = [name for key, name in places.items() if len({each.place[key] for each in candidates}) > 1]
    yield from varying or ["global_size_0"]


def _check_files(own: Description, one: RecordedInput, recording: Path) -> None:
    """Check recorded contents before they are copied. Raises InvalidInputError where a buffer can't have them."""
    for argument in own.arguments_of(own.kernel):
        name, passed = one.files.get(argument.name), one.arguments.get(argument.name)
        if name is not None and isinstance(argument, BufferDescription) and isinstance(passed, PassedBuffer):
            elements = max(passed.byte_count // argument.type.byte_count, 1)
            FileValues(f'file("{name}")', recording / name, "").check_count(argument.type, elements)


def _with_files(one: RecordedInput, recording: Path, path: Path) -> RecordedInput:
    """Copy the contents of buffers beside the description, called by what is in them."""
    files = {}
    for argument, name in one.files.items():
        content = read_file(recording / name)
        target = path.with_suffix("") / f"{hashlib.sha256(content).hexdigest()[:16]}.npy"
        if not target.exists():
            target.parent.mkdir(exist_ok=True)
            replace_file(content, target)
        files[argument] = f"{target.parent.name}/{target.name}"
    return replace(one, files=files)


def _needs_contents(own: Description) -> bool:
    buffers = (each for each in own.arguments_of(own.kernel) if isinstance(each, BufferDescription))
    return any(isinstance(each.values, FileValues) or each.values.text != "unwritten" for each in buffers)


def _first(left_out: Mapping[str, int]) -> str:
    reason, count = next(iter(left_out.items()))
    return f"{reason} ({count} of them)" if count > 1 else reason
