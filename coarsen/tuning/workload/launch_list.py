"""The list of the launches that a program made while it was recorded: what each passed, and how often.

    FOLDER/launches.json         this list
    FOLDER/source-DIGEST.cl      the source of each program

Launches with the same sizes and arguments are one entry. Buffers are told by their sizes in bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, get_args

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
FORMAT = 2
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


def read_launch_list(folder: Path) -> tuple[ListedKernel, ...]:
    """Read the list of a recording.

    Args:
        folder: the recording; or the list itself.

    Raises:
        InvalidInputError: there is none, or it can't be read.
    """
    path = folder / LIST_FILE if folder.is_dir() else folder
    if not path.is_file():
        raise InvalidInputError(
            f"{folder}: there is no recording ({LIST_FILE}); coarsen run --record {folder} PROGRAM makes one"
        )
    try:
        content = json.loads(read_file(path, _LARGEST).decode())
        if content["format"] == FORMAT:
            return tuple(
                _checked(decoded(ListedKernel, each, "a kernel", _READERS)) for each in content["kernels"]
            )
        found = repr(content["format"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, InvalidInputError):
        raise InvalidInputError(f"{path}: it is no list of launches; record the program again") from None
    raise InvalidInputError(
        f"{path}: its format is {found:.40}, and this version of coarsen reads {FORMAT}; record the program again"
    )


def write_launch_list(kernels: Iterable[ListedKernel], folder: Path) -> Path:
    """Write the list of a recording, in place of one that is there. Raises InvalidInputError if that fails."""
    path = folder / LIST_FILE
    content = {"format": FORMAT, "kernels": [encoded(each, _WRITERS) for each in kernels]}
    replace_file(f"{json.dumps(content, indent=1)}\n".encode(), path)
    return path


def tagged(argument: object) -> dict[str, Any]:
    """Return one of several dataclasses as JSON takes it, by its name."""
    return {type(argument).__name__: encoded(argument, {bytes: bytes.hex})}


def untagged(data: Mapping[str, Any], kinds: Iterable[type[T]]) -> T:
    """Return what `tagged` wrote of some dataclasses. Raises ValueError, KeyError or InvalidInputError."""
    ((name, content),) = data.items()
    return decoded({kind.__name__: kind for kind in kinds}[name], content, "an argument", {bytes: bytes.fromhex})


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
