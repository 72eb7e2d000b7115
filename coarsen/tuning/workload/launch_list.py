"""The list of the launches that a program made while it was recorded: what each passed, and how often.

    FOLDER/launches.json         this list
    FOLDER/source-DIGEST.cl      the source of each program
    FOLDER/NAME.ARGUMENT.npy     the contents of buffers, of launches that were captured with them

Launches with the same sizes and arguments are one entry. Buffers are told by their sizes in bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from coarsen.base.codec import Coders, decoded, encoded
from coarsen.base.files import MEBIBYTE, read_file, replace_file
from coarsen.errors import InvalidInputError
from coarsen.tuning.workload.benchmark import LocalArgument, NullArgument, Size

LIST_FILE = "launches.json"
# Of the file that a captured launch is handed to other processes in; here, as the reader comes with the compiler.
CAPTURED_SUFFIX = ".npz"
FORMAT = 1
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


# Indices of arguments, each with the file of its buffer beside the list.
Contents = tuple[tuple[int, str], ...]
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
        contents: indices of arguments, each with the file of its buffer beside the list; empty where nothing was
            captured.
    """

    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None
    global_offset: tuple[int, ...]
    arguments: tuple[PassedArgument, ...]
    count: int = 1
    contents: Contents = ()


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


def argument_as_data(argument: PassedArgument) -> dict[str, Any]:
    """Return an argument as JSON and TOML take it."""
    match argument:
        case PassedBuffer(byte_count):
            return {"buffer": byte_count}
        case PassedShared(index):
            return {"same_as": index}
        case NullArgument():
            return {"null": True}
        case PassedScalar(content):
            return {"scalar": content.hex()}
        case LocalArgument(byte_count):
            return {"local": byte_count}
        case PassedOther(kind):
            return {"other": kind}


def read_passed(data: Mapping[str, object]) -> PassedArgument:
    """Read an argument as `argument_as_data` writes it. Raises ValueError for anything else."""
    ((kind, value),) = data.items()
    match kind, value:
        case "buffer", value:
            return PassedBuffer(_whole(value, 1))
        case "same_as", value:
            return PassedShared(_whole(value))
        case "null", True:
            return NullArgument()
        case "scalar", str(value):
            return PassedScalar(bytes.fromhex(value))
        case "local", value:
            return LocalArgument(_whole(value, 1))
        case "other", str(value):
            return PassedOther(value)
    raise ValueError("no argument")


def _launch_as_data(launch: ListedLaunch) -> dict[str, Any]:
    plain: dict[str, Any] = encoded(replace(launch, contents=()), _ARGUMENT_WRITERS)
    return {**plain, "contents": {str(index): name for index, name in launch.contents}}


_ARGUMENT_WRITERS: Coders = dict.fromkeys(get_args(PassedArgument), argument_as_data)
_WRITERS: Coders = {ListedLaunch: _launch_as_data}
_READERS: Coders = {
    PassedArgument: read_passed,
    Contents: lambda data: tuple((_whole(int(index)), name) for index, name in data.items()),
}


def _checked(kernel: ListedKernel) -> ListedKernel:
    """Return what was read. Raises ValueError for sizes that are none, and files that aren't beside the list."""
    names = [kernel.source_file, *(name for each in kernel.launches for _, name in each.contents)]
    if any(not name or Path(name).name != name for name in names):
        raise ValueError("no name of a file")
    _whole(kernel.further)
    for each in kernel.launches:
        _whole(each.count, 1)
        for least, extents in (
            (1, each.global_size),
            (1, each.local_size or (1,)),
            (0, each.global_offset or (0,)),
        ):
            if not 1 <= len(extents) <= 3 or min(extents) < least:
                raise ValueError("no sizes")
    return kernel


def _whole(value: object, least: int = 0) -> int:
    if type(value) is not int or not least <= value < 1 << 63:
        raise ValueError("no whole number")
    return value


# Tells the launch among an input's sizes; a whole number that a double holds exactly.
LAUNCH = "recorded_launch"
GLOBAL_SIZE = "recorded_global_size_"
_DIGITS = 13


@dataclass(frozen=True, slots=True)
class RecordedInput:
    """A launch as an input.

    Args:
        launched: how often the program made it.
        sizes: those that the kernel's description names.
        global_size: in work-items, with the description's local size.
        arguments: by their names.
        files: the contents of buffers, by the names of their arguments: in the description's folder or below.
    """

    launched: int
    sizes: Size
    global_size: tuple[int, ...]
    arguments: Mapping[str, PassedArgument]
    files: Mapping[str, str]

    @property
    def number(self) -> int:
        """A number that tells it from others, whatever they are called."""
        passed = {name: argument_as_data(each) for name, each in sorted(self.arguments.items())}
        content = json.dumps([dict(sorted(self.sizes.items())), self.global_size, passed, dict(self.files)])
        return int(hashlib.sha256(content.encode()).hexdigest()[:_DIGITS], 16)

    @property
    def group(self) -> str:
        """Return what inputs with the same sizes have in common.

        A global size tells inputs apart only where the description names no sizes: a program rounds it up to its
        local size, and one size with two local sizes is still one size.
        """
        named = [f"{name}={value}" for name, value in sorted(self.sizes.items())]
        named = named or [f"global={'x'.join(map(str, self.global_size))}"]
        buffers = [
            f"{name}={each.byte_count}" for name, each in self.arguments.items() if isinstance(each, PassedBuffer)
        ]
        return " ".join((*named, *buffers))

    def size(self, takes_global_size: bool) -> dict[str, int]:
        """Return the sizes of the input's preset; with the global size where the description doesn't say it."""
        extents = {f"{GLOBAL_SIZE}{i}": extent for i, extent in enumerate(self.global_size)}
        return {**self.sizes, **(extents if takes_global_size else {}), LAUNCH: self.number}
