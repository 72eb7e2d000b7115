"""The list of the launches that a program made while it was recorded: what each passed, how often, in what order.

    FOLDER/launches.json         this list
    FOLDER/source-DIGEST.cl      the source of each program

Launches with the same sizes and arguments are one entry. Buffers are told by their sizes in bytes. The order is
that of the last steps of the latest run, for each of its processes; lists of format 2 have none.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_args

from coarsen.base.codec import Coders, decoded, encoded
from coarsen.base.files import MEBIBYTE, read_file, replace_file
from coarsen.errors import InvalidInputError
from coarsen.tuning.workload.benchmark import Launch, LocalArgument, NullArgument

T = TypeVar("T")

LIST_FILE = "launches.json"
# Of the file that a captured launch is kept, or handed to other processes, in.
CAPTURED_SUFFIX = ".npz"
# Of files that say what a kernel is launched with: descriptions, and captured launches.
LAUNCH_SUFFIXES = (".toml", CAPTURED_SUFFIX)
FORMAT = 3
_LARGEST = 256 * MEBIBYTE


@dataclass(frozen=True, slots=True)
class PassedShared:
    """The buffer that an argument before this one was given, too, by that argument's index."""

    index: int


@dataclass(frozen=True, slots=True)
class PassedScalar:
    """A value in the bytes that the device was given."""

    content: bytes


@dataclass(frozen=True, slots=True)
class PassedBuffer:
    """A buffer of so many bytes."""

    byte_count: int


@dataclass(frozen=True, slots=True)
class PassedOther:
    """Something else, by its kind: `image` or `sampler`."""

    kind: str


PassedArgument = PassedBuffer | PassedShared | NullArgument | PassedScalar | LocalArgument | PassedOther


@dataclass(frozen=True, slots=True)
class ListedLaunch:
    """Launches that were alike.

    Args:
        global_size: in work-items.
        local_size: in work-items; None where it was left to the implementation.
        global_offset: of the first work-item, an entry per dimension; empty where it is 0.
        arguments: in the kernel's order.
        count: how many there were.
    """

    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None
    global_offset: tuple[int, ...]
    arguments: tuple[PassedArgument, ...]
    count: int = 1


@dataclass(frozen=True, slots=True)
class ListedKernel:
    """The launches of a kernel of a program.

    Args:
        kernel: its name.
        source_hash: that of the program's source with what it includes, as tuned files have it.
        source_file: the source's file, beside the list.
        options: the build options, one by one, without PyOpenCL's own.
        launches: in the order in which they came first.
        further: how many launches are not listed: there were too many different ones, or what they passed isn't
            known.
    """

    kernel: str
    source_hash: str
    source_file: str
    options: tuple[str, ...]
    launches: tuple[ListedLaunch, ...]
    further: int = 0


class Step(NamedTuple):
    """What a program did at one place of the order.

    Attributes:
        action: `launch`, or what the host did with a buffer: `read`, `write`, `map`, `unmap`, `free`.
        queue: its number, which is odd where the queue may change the order itself; 0 for none.
        kernel: of a launch, by its place in the list; None where it isn't listed.
        launch: by its place among the kernel's.
        memory: what was passed, in the order of arguments, or accessed: twice the number of the whole buffer, 1
            more for a part of one, 0 where that isn't known; None where more was passed than is told.
    """

    action: str
    queue: int
    kernel: int | None
    launch: int | None
    memory: tuple[int, ...] | None


Order = tuple[Step, ...]


def read_launch_list(folder: Path) -> tuple[ListedKernel, ...]:
    """Read the list of a recording.

    Args:
        folder: the recording; or the list itself.

    Raises:
        InvalidInputError: there is none, or it can't be read.
    """
    return read_ordered_list(folder)[0]


def read_ordered_list(folder: Path) -> tuple[tuple[ListedKernel, ...], tuple[Order, ...]]:
    """As `read_launch_list`, with the order of each process. Raises the same."""
    path = folder / LIST_FILE if folder.is_dir() else folder
    if not path.is_file():
        raise InvalidInputError(
            f"{folder}: there is no recording ({LIST_FILE}); coarsen run --record {folder} PROGRAM makes one"
        )
    try:
        content = json.loads(read_file(path, _LARGEST).decode())
        if content["format"] == FORMAT:
            kernels = tuple(
                _checked(decoded(ListedKernel, each, "a kernel", _READERS)) for each in content["kernels"]
            )
            return kernels, tuple(tuple(_step(each, kernels) for each in order) for order in content["orders"])
        found = repr(content["format"])
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, InvalidInputError):
        raise InvalidInputError(f"{path}: it is no list of launches; record the program again") from None
    raise InvalidInputError(
        f"{path}: its format is {found:.40}, and this version of coarsen reads {FORMAT}; record the program again"
    )


def write_launch_list(kernels: Iterable[ListedKernel], folder: Path, orders: Iterable[Order] = ()) -> Path:
    """Write the list of a recording, in place of one that is there. Raises InvalidInputError if that fails."""
    path = folder / LIST_FILE
    content = {
        "format": FORMAT,
        "kernels": [encoded(each, _WRITERS) for each in kernels],
        # A line for each step.
        "orders": [[json.dumps(step) for step in order] for order in orders],
    }
    replace_file(f"{json.dumps(content, indent=1)}\n".encode(), path)
    return path


def tagged(argument: object) -> dict[str, Any]:
    """Return one of several dataclasses as JSON takes it, by its name."""
    return {type(argument).__name__: encoded(argument, {bytes: bytes.hex})}


def untagged(data: Mapping[str, Any], kinds: Iterable[type[T]]) -> T:
    """Return what `tagged` wrote of some dataclasses. Raises ValueError, KeyError or InvalidInputError."""
    ((name, content),) = data.items()
    return decoded({kind.__name__: kind for kind in kinds}[name], content, "an argument", {bytes: bytes.fromhex})


def _step(line: str, kernels: Sequence[ListedKernel]) -> Step:
    """Return what a line says. Raises ValueError, TypeError or IndexError."""
    step = Step(*json.loads(line))
    if step.kernel is not None and step.launch is not None:
        _ = kernels[step.kernel].launches[step.launch]
    return step._replace(memory=step.memory and tuple(map(int, step.memory)), queue=int(step.queue))


_KINDS = get_args(PassedArgument)
_WRITERS: Coders = dict.fromkeys(_KINDS, tagged)
_READERS: Coders = {PassedArgument: partial(untagged, kinds=_KINDS)}


def _checked(kernel: ListedKernel) -> ListedKernel:
    """Return what was read. Raises ValueError for sizes that are none, and files that aren't beside the list."""
    if Path(kernel.source_file).name != kernel.source_file or not kernel.source_file:
        raise ValueError("no name of a file")
    for each in kernel.launches:
        if each.count < 1:
            raise ValueError("no launches")
        check_sizes(each)
    return kernel


def check_sizes(launch: ListedLaunch | Launch) -> None:
    """Raise ValueError for sizes that are none."""
    for least, extents in (
        (1, launch.global_size),
        (1, launch.local_size or (1,)),
        (0, launch.global_offset or (0,)),
    ):
        if not 1 <= len(extents) <= 3 or min(extents) < least:
            raise ValueError("no sizes")
