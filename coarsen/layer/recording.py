"""Makes of the recorder's logs what `coarsen tune` takes, and a table of kernels.

RecordedKind ─▶ captured: FOLDER/NAME.npz
             ─▶ all listed: FOLDER/launches.json, FOLDER/source-DIGEST.cl
             ─▶ those of a kernel and class of sizes: KernelRow
"""

from __future__ import annotations

import itertools
import math
import os
import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from coarsen.base.bug_report import bug_message
from coarsen.base.files import replace_file, replace_file_by
from coarsen.devices.discovery import discover_devices
from coarsen.errors import CoarsenError, InvalidInputError, RefusalError
from coarsen.frontend.device_macros import PORTABLE, DeviceMacros
from coarsen.frontend.lower import lower
from coarsen.frontend.source_text import hash_with_headers
from coarsen.ir.kernel import Argument as Parameter
from coarsen.ir.kernel import Kernel
from coarsen.layer.log import (
    EMPTY,
    NO_PROGRAM,
    REGION,
    UNSET,
    VALUE,
    CapturedContent,
    RecordedArgument,
    RecordedDevice,
    RecordedKind,
    RecordedProgram,
    read_logs,
)
from coarsen.policy.tuned_checks import without_own_folder
from coarsen.transform.coarsen import analyse
from coarsen.tuning.recording import Region, image_format_of, same_as, sampler_of, unread_buffers
from coarsen.tuning.remembered.choice import SizeClass
from coarsen.tuning.workload.argument_use import is_readable, kind_of
from coarsen.tuning.workload.benchmark import LocalArgument, NullArgument
from coarsen.tuning.workload.captured_launch import (
    CapturedArgument,
    CapturedBuffer,
    CapturedImage,
    CapturedLaunch,
    write_launch,
)
from coarsen.tuning.workload.element_types import KINDS, Array
from coarsen.tuning.workload.launch_list import (
    CAPTURED_SUFFIX,
    LIST_FILE,
    ListedKernel,
    ListedLaunch,
    Order,
    PassedArgument,
    PassedBuffer,
    PassedOther,
    PassedScalar,
    PassedShared,
    Step,
    read_launch_list,
    write_launch_list,
)

_NO_FILE_NAME = re.compile(r"[^A-Za-z0-9_]")
# File systems take 255 bytes; an argument's name, a number and an ending come after it.
_LONGEST_NAME = 60
_DIGITS = 12
# Each is compiled to be written; a program that tunes itself has hundreds, most of which matter to nobody.
MOST_KERNELS = 64
# Of one kernel; a program whose launches all differ, by the number of a step for one, would fill the list.
MOST_LISTED = 4096


@dataclass(slots=True)
class KernelRow:
    """The launches of one kernel and class of sizes on one device.

    Attributes:
        kernel: its name.
        device: where they ran, by its name.
        platform: that the device belongs to.
        size_class: as `SizeClass` writes it; empty for launches without work-items.
        global_size: of the most frequent of them, in work-items.
        local_size: likewise; None where it was left to the driver.
        other_sizes: how many other global sizes there were.
        launches: their number.
        nanoseconds: that they took on the device, estimated from those whose times are known; None if none is.
        refusal: the code for which the kernel can't be coarsened; empty where it can be; None if unknown.
        path: the first of them, recorded; None where it isn't.
        byte_count: of what its buffers and images hold there.
        program: that the kernel belongs to.
        kinds: all of these launches, those that were alike as one.
    """

    kernel: str
    device: str
    platform: str
    size_class: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None
    other_sizes: int
    launches: int
    nanoseconds: float | None
    refusal: str | None = None
    path: Path | None = None
    byte_count: int = 0
    program: RecordedProgram = NO_PROGRAM
    kinds: tuple[RecordedKind, ...] = ()


class Recording(NamedTuple):
    """What was recorded of a program.

    Attributes:
        rows: what was launched, that with the longest time in all first.
        not_recorded: a sentence for each launch, or kind of launches, of which there is no file.
        launch_list: the list of what all launches passed; None where none was written.
        saw_opencl: whether any process of the program loaded the recorder.
    """

    rows: tuple[KernelRow, ...]
    not_recorded: tuple[str, ...]
    launch_list: Path | None
    saw_opencl: bool


class _KernelOf(NamedTuple):
    """A kernel of a program on a device."""

    program: RecordedProgram
    name: str
    device: RecordedDevice


def check_folder(folder: Path) -> None:
    """Raise InvalidInputError for what is no folder, or one whose list of launches can't be read."""
    if folder.exists() and not folder.is_dir():
        raise InvalidInputError(f"{folder} is not a folder")
    if (folder / LIST_FILE).exists():
        read_launch_list(folder)


def read_recording(logs: Path, folder: Path, captures: bool) -> Recording:
    """Write what was captured and the list of all launches, and return what there was.

    Args:
        logs: the folder that the recorder wrote into.
        folder: of the recording. Files that are there are kept, and a list is counted on.
        captures: whether launches were to be captured.
    """
    kinds, orders = read_logs(logs)
    groups: dict[tuple[_KernelOf, str], list[RecordedKind]] = {}
    for kind in kinds:
        of = _KernelOf(kind.program, kind.kernel, kind.device)
        groups.setdefault((of, _size_class(kind)), []).append(kind)
    rows = [(_row(size_class, members), of, members) for (of, size_class), members in groups.items()]
    rows.sort(key=lambda each: -(each[0].nanoseconds or 0))
    kernels = _Kernels()
    problems = []
    for row, of, members in rows:
        problem = _recorded(row, of, members, kernels, folder) if captures else None
        if problem:
            kernel = f"the kernel '{row.kernel}'"
            said = problem if kernel in problem else f"{kernel}: {problem}"
            problems.append(f"a launch is not recorded: {said}")
    try:
        launch_list = _list_written(kinds, orders, kernels, folder)
    except InvalidInputError as error:
        launch_list = None
        problems.append(f"the launches are not listed: {error}")
    every = tuple(row for row, *_ in rows)
    return Recording(every, tuple(dict.fromkeys(problems)), launch_list, any(logs.glob("*.log")))


def _size_class(kind: RecordedKind) -> str:
    extents = (*kind.global_size, *(kind.local_size or ()))
    return str(SizeClass.of(kind.global_size, kind.local_size)) if min(extents) > 0 else ""


def _row(size_class: str, members: Sequence[RecordedKind]) -> KernelRow:
    first = members[0]
    counts: Counter[tuple[int, ...]] = Counter()
    for each in members:
        counts[each.global_size] += each.launches
    timed = sum(each.timed for each in members)
    # Not every launch is timed; one of whose kind none is takes as long as the others, as far as is known.
    mean = sum(each.nanoseconds for each in members) / timed if timed else None
    estimates = (each.launches * (each.nanoseconds / each.timed if each.timed else mean or 0) for each in members)
    return KernelRow(
        first.kernel,
        first.device.name,
        first.device.platform,
        size_class,
        counts.most_common(1)[0][0],
        first.local_size,
        len(counts) - 1,
        counts.total(),
        None if mean is None else sum(estimates),
        program=first.program,
        kinds=tuple(members),
    )


def _recorded(
    row: KernelRow, of: _KernelOf, members: Sequence[RecordedKind], kernels: _Kernels, folder: Path
) -> str | None:
    """Write a captured launch of a row, see whether its kernel can be coarsened; return why there is no file."""
    try:
        kernel = kernels.lowered(of)
        is_single = math.prod(row.global_size) <= 1
        row.refusal = None if is_single else _refusal(kernel, row.global_size)
        kind = next((each for each in members if each.file is not None), None)
        if kind is None:
            notes = [note for each in members for note in each.notes]
            return (
                notes[0]
                if notes
                else "it has no more than one work-item"
                if is_single
                else "it has too many different launches, or was cut off"
            )
        launch = kernels.captured(kind)
        path = _free_path(folder, launch)
        replace_file_by(partial(write_launch, launch, name=path.stem), path)
    except RefusalError as error:
        row.refusal = row.refusal or error.code
        return str(error)
    except CoarsenError as error:
        return str(error)
    except Exception as error:
        # The others are to be written.
        return bug_message(error)
    row.path, row.byte_count = path, launch.byte_count
    return None


def _refusal(kernel: Kernel, global_size: Sequence[int]) -> str:
    """The code for which a kernel can't be coarsened along any dimension of its launch; empty where it can."""
    code = ""
    for dimension in (each for each, extent in enumerate(global_size) if extent > 1):
        try:
            analyse(kernel, dimension)
        except RefusalError as error:
            code = code or error.code
        else:
            return ""
    return code


def _free_path(folder: Path, launch: CapturedLaunch) -> Path:
    """Return a file that isn't there yet, by the kernel's name, the sizes, a number if need be."""
    kernel = _NO_FILE_NAME.sub("_", launch.kernel)[:_LONGEST_NAME]
    first = f"{kernel}-{'x'.join(map(str, launch.global_size))}"
    names = itertools.chain((first,), (f"{first}-{number}" for number in itertools.count(2)))
    paths = (folder / f"{name}{CAPTURED_SUFFIX}" for name in names)
    return next(path for path in paths if not path.exists())


@dataclass(slots=True)
class _Kernels:
    """The kernels of recorded programs, each compiled once."""

    _lowered: dict[_KernelOf, Kernel | CoarsenError] = field(default_factory=dict)
    _macros: Mapping[RecordedDevice, DeviceMacros] | None = None

    def lowered(self, of: _KernelOf) -> Kernel:
        """Return a kernel. Raises InvalidInputError for one that is not compiled, or can't be; RefusalError."""
        if of not in self._lowered:
            try:
                if of.program.problem:
                    raise InvalidInputError(of.program.problem)
                if len(self._lowered) >= MOST_KERNELS:
                    raise InvalidInputError(f"{MOST_KERNELS} other kernels take more of the time")
                options = options_of(of.program)
                self._lowered[of] = lower(of.program.source, of.name, options, self.macros(of.device))
            except CoarsenError as error:
                self._lowered[of] = error
            except Exception as error:
                # One kernel that coarsen has a bug with is told of as such, and the others are written.
                self._lowered[of] = InvalidInputError(bug_message(error))
        found = self._lowered[of]
        if isinstance(found, CoarsenError):
            raise found
        return found

    def macros(self, device: RecordedDevice) -> DeviceMacros:
        """Return what sources may find out about a device; what nearly all have if this process can't see it."""
        if self._macros is None:
            found = discover_devices()
            self._macros = {RecordedDevice(each.name, each.platform_name): each.macros for each in found}
        return self._macros.get(device, PORTABLE)

    def captured(self, kind: RecordedKind) -> CapturedLaunch:
        """Return a captured launch. Raises InvalidInputError for one that no file can have, RefusalError."""
        kernel = self.lowered(_KernelOf(kind.program, kind.kernel, kind.device))
        every = passed_arguments(kernel, kind.arguments or ())
        unread = unread_buffers(kernel, every)
        held = np.fromfile(kind.file or "", np.uint8)
        arguments: list[CapturedArgument] = []
        for parameter, passed, content in zip(kernel.arguments, every, kind.contents, strict=True):
            data = held[content.offset : content.offset + content.byte_count]
            if isinstance(passed, PassedOther):
                arguments.append(_image_or_sampler(content, data, parameter))
            elif isinstance(passed, PassedBuffer) and len(arguments) not in unread:
                arguments.append(CapturedBuffer(data))
            else:
                arguments.append(passed)
        return CapturedLaunch(
            kind.program.source,
            options_of(kind.program),
            kind.kernel,
            kind.global_size,
            kind.local_size or (),
            tuple(arguments),
            kind.offset if any(kind.offset) else (),
            self.macros(kind.device),
            kernel,
        )


def options_of(program: RecordedProgram) -> tuple[str, ...]:
    """Return build options one by one. Raises InvalidInputError where they can't be told apart."""
    try:
        words = shlex.split(program.options)
    except ValueError as error:
        raise InvalidInputError(f"its build options can't be split into words: {error}") from None
    # Who takes a list of options splits each that is no folder.
    split = (word for word in words if word.split() != [word])
    has_blanks = {word for word in split if not os.path.isdir(word[2:])}  # noqa: PTH112 (names of any length)
    return tuple(f"{word[:2]}{shlex.quote(word[2:])}" if word in has_blanks else word for word in words)


def passed_arguments(kernel: Kernel, arguments: Sequence[RecordedArgument]) -> tuple[PassedArgument, ...]:
    """Return what a launch passed, by the kernel's parameters: bytes alone don't tell a number from a pointer.

    Raises:
        InvalidInputError: an argument that isn't known, parts of one buffer that overlap, an image that is given
            twice.
    """
    if len(arguments) != len(kernel.arguments):
        raise InvalidInputError(
            f"the kernel '{kernel.name}' has {len(kernel.arguments)} parameters, and {len(arguments)} were set by "
            "functions that the recorder sees"
        )
    regions = {
        index: Region(each.first, each.begin, each.begin + each.byte_count)
        for index, each in enumerate(arguments)
        if each.is_memory and not each.is_image
    }
    same = same_as(kernel.name, regions)
    return tuple(
        PassedShared(same[index]) if index in same else _passed(kernel, parameter, index, argument)
        for index, (parameter, argument) in enumerate(zip(kernel.arguments, arguments, strict=True))
    )


def _passed(kernel: Kernel, parameter: Parameter, index: int, argument: RecordedArgument) -> PassedArgument:
    kind = kind_of(parameter)
    is_null = argument.form == EMPTY or (argument.form == VALUE and not any(argument.content))
    match kind:
        case "scalar" if argument.form == VALUE:
            return PassedScalar(argument.content)
        case "local" if argument.form == EMPTY:
            return LocalArgument(argument.byte_count)
        case "buffer" if argument.is_memory and not argument.is_image:
            return PassedBuffer(argument.byte_count)
        case "buffer" if is_null:
            return NullArgument()
        case "image" if argument.is_image and argument.first == index:
            return PassedOther("image")
        case "sampler" if argument.form not in (UNSET, VALUE, REGION):
            return PassedOther("sampler")
    where = f"the kernel '{kernel.name}': its argument {index}"
    if argument.is_image and argument.first != index:
        raise InvalidInputError(
            f"{where} and argument {argument.first} are one image, which a workload can't have"
        )
    raise InvalidInputError(f"{where} was made or set in a way that the recorder does not see")


def _image_or_sampler(content: CapturedContent, data: Array, parameter: Parameter) -> CapturedArgument:
    if content.image is None:
        return sampler_of(*content.sampler)
    image, extents = content.image, content.image.extents
    image_format = image_format_of(image.kind, image.channel_order, image.channel_type, bool(image.has_parent))
    depth = extents[3] if image_format.is_layered else extents[2]
    chosen = (*extents[:2], depth)[: KINDS[image_format.kind]]
    shape = image_format.shape(chosen)
    return CapturedImage(
        image_format, chosen, data.view(image_format.scalar).reshape(shape) if is_readable(parameter) else None
    )


# The list of what all launches pass.


class _Listed(NamedTuple):
    """A kernel of the list, by its source and its build options."""

    source: str
    options: tuple[str, ...]
    name: str


def _list_written(
    kinds: Sequence[RecordedKind], orders: Sequence[Order], kernels: _Kernels, folder: Path
) -> Path | None:
    """Write the list and the sources; return the list's path, None where there is nothing to list."""
    counts: dict[_Listed, Counter[ListedLaunch | None]] = {}
    listed_as: dict[int | None, tuple[_Listed, ListedLaunch | None]] = {}
    sources: dict[str, str] = {}
    for number, kind in enumerate(kinds):
        try:
            options, source = options_of(kind.program), kind.program.source
        except InvalidInputError:
            continue
        if kind.program.problem:
            continue
        source_hash = hash_with_headers(source, options)
        sources[source_hash] = source
        key = _Listed(source_hash, without_own_folder(options), kind.kernel)
        listed_as[number] = key, _listed(kind, kernels)
        _count(counts.setdefault(key, Counter()), listed_as[number][1], kind.launches)
    if not counts:
        return None
    for before in read_launch_list(folder) if (folder / LIST_FILE).exists() else ():
        key = _Listed(before.source_hash, before.options, before.kernel)
        of_kernel = counts.setdefault(key, Counter())
        _count(of_kernel, None, before.further)
        for each in before.launches:
            _count(of_kernel, replace(each, count=1), each.count)
    for source_hash, text in sources.items():
        replace_file(text.encode(), folder / _source_file(source_hash))
    places: dict[tuple[_Listed, ListedLaunch | None], tuple[int, int]] = {
        (key, launch): (kernel, place)
        for kernel, (key, of_kernel) in enumerate(counts.items())
        for place, launch in enumerate(each for each in of_kernel if each is not None)
    }
    at = {number: places[listed] for number, listed in listed_as.items() if listed in places}
    steps = (tuple(_placed(each, at.get(each.kernel)) for each in order) for order in orders)
    listed = (
        ListedKernel(
            key.name,
            key.source,
            _source_file(key.source),
            key.options,
            tuple(replace(each, count=count) for each, count in of_kernel.items() if each is not None),
            of_kernel[None],
        )
        for key, of_kernel in counts.items()
    )
    return write_launch_list(listed, folder, steps)


def _placed(step: Step, place: tuple[int, int] | None) -> Step:
    if place is not None:
        return step._replace(kernel=place[0], launch=place[1])
    # Of a launch that isn't listed, not all arguments may be known.
    return step._replace(kernel=None, memory=None if step.action == "launch" else step.memory)


def _count(counts: Counter[ListedLaunch | None], launch: ListedLaunch | None, count: int) -> None:
    is_listed = launch in counts or len(counts) - (None in counts) < MOST_LISTED
    counts[launch if is_listed else None] += count


def _listed(kind: RecordedKind, kernels: _Kernels) -> ListedLaunch | None:
    """Return launches as they are listed; None where what they pass isn't known, or there are no work-items."""
    if kind.arguments is None or min((*kind.global_size, *(kind.local_size or ()))) < 1:
        return None
    try:
        kernel = kernels.lowered(_KernelOf(kind.program, kind.kernel, kind.device))
        arguments = passed_arguments(kernel, kind.arguments)
    except CoarsenError:
        return None
    offset = kind.offset if any(kind.offset) else ()
    return ListedLaunch(kind.global_size, kind.local_size, offset, arguments)


def _source_file(source_hash: str) -> str:
    return f"source-{source_hash[:_DIGITS]}.cl"
