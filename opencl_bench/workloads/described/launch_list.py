"""The list of the launches that a program made while it was recorded: what each passed, and how often.

    FOLDER/launches.json         this list
    FOLDER/source-DIGEST.cl      the source of each program
    FOLDER/NAME.ARGUMENT.npy     the contents of buffers, of launches that were captured with them

Launches with the same sizes and arguments are one entry. Buffers are told by their sizes in bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coarsen.errors import InvalidInputError
from coarsen.files import MEBIBYTE, read_file, replace_file
from coarsen.opencl_bench.workloads.benchmark import Size


@dataclass(frozen=True, slots=True)
class PassedShared:
    """The buffer that an argument before this one was given, too, by that argument's index."""

    index: int


@dataclass(frozen=True, slots=True)
class PassedNull:
    """A pointer that leads nowhere."""


@dataclass(frozen=True, slots=True)
class PassedScalar:
    """A value in the bytes that the device was given."""

    content: bytes


@dataclass(frozen=True, slots=True)
class PassedLocal:
    """Local memory of a work-group, in bytes."""

    byte_count: int


LIST_FILE = "launches.json"
FORMAT = 1
_LARGEST = 256 * MEBIBYTE


@dataclass(frozen=True, slots=True)
class PassedBuffer:
    """A buffer of so many bytes."""

    byte_count: int


@dataclass(frozen=True, slots=True)
class PassedOther:
    """Something else, by its kind: `image` or `sampler`."""

    kind: str


PassedArgument = PassedBuffer | PassedShared | PassedNull | PassedScalar | PassedLocal | PassedOther


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
    contents: tuple[tuple[int, str], ...] = ()


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
        if content["format"] != FORMAT:
            raise InvalidInputError(
                f"{path}: its format is {content['format']!r:.40}, and this version of coarsen reads {FORMAT}; "
                "record the program again"
            )
        return tuple(map(_kernel, content["kernels"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InvalidInputError(f"{path}: it is no list of launches; record the program again") from None


def write_launch_list(kernels: Iterable[ListedKernel], folder: Path) -> Path:
    """Write the list of a recording, in place of one that is there. Raises InvalidInputError if that fails."""
    path = folder / LIST_FILE
    content = {"format": FORMAT, "kernels": [_kernel_as_data(each) for each in kernels]}
    replace_file(f"{json.dumps(content, indent=1)}\n".encode(), path)
    return path


def _kernel_as_data(kernel: ListedKernel) -> dict[str, Any]:
    return {
        "kernel": kernel.kernel,
        "source_hash": kernel.source_hash,
        "source_file": kernel.source_file,
        "options": list(kernel.options),
        "launches": [_launch_as_data(each) for each in kernel.launches],
        "further": kernel.further,
    }


def _launch_as_data(launch: ListedLaunch) -> dict[str, Any]:
    return {
        "count": launch.count,
        "global_size": list(launch.global_size),
        "local_size": None if launch.local_size is None else list(launch.local_size),
        "global_offset": list(launch.global_offset),
        "arguments": [argument_as_data(each) for each in launch.arguments],
        "contents": {str(index): name for index, name in launch.contents},
    }


def argument_as_data(argument: PassedArgument) -> dict[str, Any]:
    """Return an argument as JSON and TOML take it."""
    match argument:
        case PassedBuffer(byte_count):
            return {"buffer": byte_count}
        case PassedShared(index):
            return {"same_as": index}
        case PassedNull():
            return {"null": True}
        case PassedScalar(content):
            return {"scalar": content.hex()}
        case PassedLocal(byte_count):
            return {"local": byte_count}
        case PassedOther(kind):
            return {"other": kind}


def _kernel(data: Any) -> ListedKernel:  # noqa: ANN401 (JSON)
    return ListedKernel(
        kernel=_text(data["kernel"]),
        source_hash=_text(data["source_hash"]),
        source_file=_file_name(data["source_file"]),
        options=tuple(map(_text, data["options"])),
        launches=tuple(map(_launch, data["launches"])),
        further=_whole(data["further"]),
    )


def _launch(data: Any) -> ListedLaunch:  # noqa: ANN401
    local_size = data["local_size"]
    return ListedLaunch(
        global_size=_extents(data["global_size"], 1),
        local_size=None if local_size is None else _extents(local_size, 1),
        global_offset=_extents(data["global_offset"], 0) if data["global_offset"] else (),
        arguments=tuple(map(read_argument, data["arguments"])),
        count=_whole(data["count"], 1),
        contents=tuple((_whole(int(index)), _file_name(name)) for index, name in data["contents"].items()),
    )


def read_argument(data: Mapping[str, object]) -> PassedArgument:
    """Read an argument as `argument_as_data` writes it. Raises ValueError for anything else."""
    ((kind, value),) = data.items()
    match kind, value:
        case "buffer", value:
            return PassedBuffer(_whole(value, 1))
        case "same_as", value:
            return PassedShared(_whole(value))
        case "null", True:
            return PassedNull()
        case "scalar", str(value):
            return PassedScalar(bytes.fromhex(value))
        case "local", value:
            return PassedLocal(_whole(value, 1))
        case "other", str(value):
            return PassedOther(value)
    raise ValueError("no argument")


def _extents(data: Sequence[object], least: int) -> tuple[int, ...]:
    if not isinstance(data, list) or not 1 <= len(data) <= 3:
        raise ValueError("no sizes")
    return tuple(_whole(each, least) for each in data)


def _whole(value: object, least: int = 0) -> int:
    if type(value) is not int or not least <= value < 1 << 63:
        raise ValueError("no whole number")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value


def _file_name(value: object) -> str:
    """A file beside the list, and nowhere else."""
    name = _text(value)
    if not name or Path(name).name != name:
        raise ValueError("no name of a file")
    return name


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
