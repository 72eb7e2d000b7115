"""Reads what the recorder wrote of one process: kinds of launches, how often and how long, and what was captured.

    PROCESS.log, .counts, -NUMBER.content (`recorder.c`) ─▶ RecordedKind
    PROCESS.order (`order.h`)                            ─▶ Step

A log may end in the middle of a record: its process may have been killed.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from coarsen.tuning.workload.launch_list import Order, Step

_HEAD = struct.Struct("<IIQ")
_COUNTS = struct.Struct("<QQQ")
_DIMENSIONS = 3
_STEP = struct.Struct("<4I12I")
_ORDER_HEAD = 64
# `enum Action` of `order.h`. A step that is not whole may be any: it counts as a launch of which nothing is known.
ACTIONS = ("launch", "launch", "read", "write", "map", "unmap", "free")
# `enum Form` of `recorder.c`: what an argument is, in a kind of launch (L) or a capture (C).
UNSET, VALUE, EMPTY, REGION, SAMPLED, SHARED_MEMORY, AGAIN = range(7)
# `enum Problem` of `objects.h`: why the text of a program isn't known.
PROBLEMS = (
    "",
    "its program is not made from source, but from a binary or SPIR-V, or is the driver's own",
    "its program is linked from several",
    "its program is compiled with headers that the program gives",
    "the programs before it had all of the text that is kept (64 MiB)",
    "its program is linked with options",
    "its program's text has a byte that is zero",
)


class RecordedDevice(NamedTuple):
    """A device, by its own name and that of its platform."""

    name: str
    platform: str


class RecordedProgram(NamedTuple):
    """A program's text and build options, as they were given; `problem` says why they aren't known."""

    problem: str
    source: str
    options: str


NO_PROGRAM = RecordedProgram("its text is not known", "", "")


@dataclass(frozen=True, slots=True)
class RecordedArgument:
    """An argument of launches.

    Attributes:
        form: one of the numbers above.
        byte_count: of a value, of local memory, of a buffer or of what follows a pointer in its allocation.
        content: the bytes of a value.
        first: of memory, the first argument with the same whole buffer or allocation, by its index.
        begin: where it begins in that, in bytes; 0 where no other argument is part of it.
        is_image: whether it is an image.
        is_known: False for a pointer into memory that nobody allocated.
    """

    form: int
    byte_count: int = 0
    content: bytes = b""
    first: int = 0
    begin: int = 0
    is_image: bool = False
    is_known: bool = True

    @property
    def is_memory(self) -> bool:
        """Return True for memory whose size is known."""
        return self.form in (REGION, SHARED_MEMORY) and self.is_known


class RecordedImage(NamedTuple):
    """OpenCL's numbers for an image; `extents` are width, height, depth and layers, 0 where it has none."""

    kind: int
    channel_order: int
    channel_type: int
    has_parent: int
    extents: tuple[int, ...]


class CapturedContent(NamedTuple):
    """What an argument held: where in the capture's file, and what an image or a sampler is."""

    offset: int = 0
    byte_count: int = 0
    image: RecordedImage | None = None
    sampler: tuple[int, ...] = ()


@dataclass(slots=True)
class RecordedKind:
    """Launches that were alike.

    Attributes:
        program: that the kernel belongs to.
        kernel: its name.
        device: where they ran.
        global_size: in work-items.
        local_size: in work-items; None where it was left to the driver.
        offset: of the first work-item, an entry per dimension.
        arguments: None where the kernel had too many kinds of launches to keep them apart.
        launches: their number.
        timed: of how many the time is known.
        nanoseconds: the sum of these times.
        file: what the first of them was given; None if that wasn't captured.
        contents: of the capture, one for each argument.
        notes: why it wasn't captured.
    """

    program: RecordedProgram
    kernel: str
    device: RecordedDevice
    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None
    offset: tuple[int, ...]
    arguments: tuple[RecordedArgument, ...] | None
    launches: int = 0
    timed: int = 0
    nanoseconds: int = 0
    file: Path | None = None
    contents: tuple[CapturedContent, ...] = ()
    notes: list[str] = field(default_factory=list)


class _Reader:
    """Takes numbers and texts from bytes, one after the other. Raises struct.error at their end."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def numbers(self, form: str) -> tuple[int, ...]:
        found = struct.unpack_from(f"<{form}", self._data, self._at)
        self._at += struct.calcsize(f"<{form}")
        return found

    def number(self, form: str) -> int:
        return self.numbers(form)[0]

    def text(self) -> str:
        end = self._data.index(b"\0", self._at)
        found = self._data[self._at : end].decode(errors="replace")
        self._at = end + 1
        return found

    def content(self, size: int) -> bytes:
        self._at += size
        return self._data[self._at - size : self._at]


def read_logs(folder: Path) -> tuple[list[RecordedKind], list[Order]]:
    """Return what the recorder wrote into a folder, of all processes, in the order of first launches.

    Returns:
        Kinds of launches, and the order of each process: `kernel` is a launch's kind, by its place.
    """
    kinds: list[RecordedKind] = []
    orders = []
    for log in sorted(folder.glob("*.log"), key=lambda path: path.stat().st_mtime_ns):
        own = _read_log(log)
        launched = [number for number, kind in own.items() if kind.launches]
        places = {number: place for place, number in enumerate(launched, len(kinds))}
        kinds += [own[number] for number in launched]
        orders.append(_read_order(log.with_suffix(".order"), places))
    return kinds, [order for order in orders if order]


def _read_order(file: Path, places: dict[int, int]) -> Order:
    data = file.read_bytes()[_ORDER_HEAD:] if file.exists() else b""
    steps = [*_STEP.iter_unpack(data[: len(data) - len(data) % _STEP.size])]
    if not steps:
        return ()
    # The ring begins anew after its last place.
    count = int.from_bytes(file.read_bytes()[:8], "little")
    first = count % len(steps) if count > len(steps) else 0
    order = []
    for action, kind, queue, passed, *memory in (*steps[first:], *steps[:first])[: min(count, len(steps))]:
        told = tuple(memory[:passed]) if action and passed <= len(memory) else None
        order.append(Step(ACTIONS[action], queue, places.get(kind) if action else None, None, told))
    return tuple(order)


def _read_log(log: Path) -> dict[int, RecordedKind]:
    devices: dict[int, RecordedDevice] = {}
    programs: dict[int, RecordedProgram] = {}
    kernels: dict[int, tuple[RecordedProgram, str]] = {}
    kinds: dict[int, RecordedKind] = {}
    for letter, number, data in _records(log.read_bytes()):
        reader = _Reader(data)
        if letter == "D":
            devices[number] = RecordedDevice(reader.text().strip(), reader.text().strip())
        elif letter == "U":
            programs[number] = RecordedProgram(PROBLEMS[reader.number("B")], reader.text(), reader.text())
        elif letter == "K":
            kernels[number] = programs[reader.number("I")], reader.text()
        elif letter in "LS":
            kernel, device = kernels[reader.number("I")], devices[reader.number("I")]
            kinds[number] = _kind(reader, *kernel, device, has_arguments=letter == "L")
        elif letter == "C":
            file = log.with_name(f"{log.stem}-{reader.number('I')}.content")
            kinds[number].file = file
            kinds[number].contents = tuple(_contents(reader, kinds[number].arguments or ()))
        elif letter == "N":
            kinds[number].notes.append(data.decode())
    # A process that ends in its first moments has none.
    file = log.with_suffix(".counts")
    counts = file.read_bytes() if file.exists() else b""
    for number, kind in kinds.items():
        if counts:
            kind.launches, kind.timed, kind.nanoseconds = _COUNTS.unpack_from(counts, number * _COUNTS.size)
    return kinds


def _records(data: bytes) -> Iterator[tuple[str, int, bytes]]:
    at = 0
    while at + _HEAD.size <= len(data):
        letter, number, size = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        if at + size <= len(data):
            yield chr(letter), number, data[at : at + size]
        at += size


def _kind(
    reader: _Reader, program: RecordedProgram, kernel: str, device: RecordedDevice, has_arguments: bool
) -> RecordedKind:
    each = f"{_DIMENSIONS}Q"
    global_size, local_size, offset = reader.numbers(each), reader.numbers(each), reader.numbers(each)
    dimensions, has_local = reader.numbers("II")
    return RecordedKind(
        program,
        kernel,
        device,
        global_size[:dimensions],
        local_size[:dimensions] if has_local else None,
        offset[:dimensions],
        tuple(_argument(reader) for _ in range(reader.number("I"))) if has_arguments else None,
    )


def _argument(reader: _Reader) -> RecordedArgument:
    form, size = reader.numbers("BQ")
    if form == VALUE:
        return RecordedArgument(form, size, reader.content(size))
    if form not in (REGION, SHARED_MEMORY):
        return RecordedArgument(form, size)
    first, begin, is_image, is_known = reader.numbers("IQBB")
    return RecordedArgument(form, size, b"", first, begin, bool(is_image), bool(is_known))


def _contents(reader: _Reader, arguments: tuple[RecordedArgument, ...]) -> Iterator[CapturedContent]:
    at = 0
    for argument in arguments:
        form = reader.number("B")
        if form == SAMPLED:
            yield CapturedContent(sampler=reader.numbers("3I"))
        elif form != AGAIN and argument.is_memory:
            image = _image(reader) if argument.is_image else None
            size = reader.number("Q")
            yield CapturedContent(at, size, image)
            at += size
        else:
            yield CapturedContent()


def _image(reader: _Reader) -> RecordedImage:
    kind, has_parent, order, channel_type, _, *extents = reader.numbers("4I5Q")
    return RecordedImage(kind, order, channel_type, has_parent, tuple(extents))
