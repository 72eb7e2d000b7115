"""A unit of the shelf: a file with what launches of one program's kernels on one device are replaced by.

    Header | Row … | texts, binaries, lists of arguments        (little-endian; `substitute.c` reads it)

Its name is a hash of what it is for: source, build options, device. Whoever finds it compares these in full.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from coarsen.base.files import replace_file
from coarsen.base.version import __version__
from coarsen.errors import InvalidInputError
from coarsen.tuning.store.place import store_file

SUFFIX = ".shelf"
GLOBAL_SIZE, LOCAL_MEMORY = range(2)  # kinds of added arguments

_MAGIC = b"coarsen1"
_BEGINNING = struct.Struct("<8sQQ")  # with the size of the file and the hash of all that follows
_HEADER = struct.Struct("<6I")
_ROW = struct.Struct("<2I2Q6I21QQ6IQ")
_PAIR = struct.Struct("<II")
_NUMBER = struct.Struct("<I")
_ALIGNMENT = 8
_DIMENSIONS = 3
_HASH_START, _HASH_PRIME, _HASH_BITS = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1

Extents = tuple[int, ...]


class UnitKey(NamedTuple):
    """What a unit is for.

    Attributes:
        source: OpenCL C, or the binary of a driver that the program is made from.
        options: as the program passes them to be built with.
        device: its name, its platform's name, the driver's version and the platform's, by line.
    """

    source: bytes
    options: bytes
    device: bytes

    @property
    def file_name(self) -> str:
        """The name of the unit's file."""
        return f"{hash_of(b''.join(part + bytes(1) for part in self)):016x}{SUFFIX}"


@dataclass(frozen=True, slots=True)
class Row:
    """A class of launches of a kernel, and how they run; sizes are in work-items.

    Attributes:
        kernel: its name.
        build_options: of the binary.
        binary: the driver's, of the program with the variant.
        argument_count: the kernel's own.
        local_size: as the program passes it; None where it passes none.
        new_local_size: as the variant gets it; None where it gets none.
        least: the smallest global size; least and most are the same where the row is for one global size.
        most: the largest.
        unit: that the global size is a multiple of.
        divisor: the largest power of two up to 2^15 that divides the global size; 0s for any.
        factor: that the global size is divided by; empty where it becomes `new_global_size`.
        new_global_size: of a row for one global size; empty where `factor` is there.
        objects_below: the bytes that every memory object is smaller than; 0 for no condition.
        apart: pairs of arguments that don't lead to the same memory.
        added: what follows the kernel's own arguments: a kind from above, and its dimension or argument.
        memory: the arguments that are memory objects.
        saved: nanoseconds that a launch saves, as measured; 0 if unknown.
    """

    kernel: str
    build_options: str
    binary: bytes
    argument_count: int
    local_size: Extents | None
    new_local_size: Extents | None
    least: Extents
    most: Extents
    unit: Extents
    divisor: Extents
    factor: Extents = ()
    new_global_size: Extents = ()
    objects_below: int = 0
    apart: tuple[tuple[int, int], ...] = ()
    added: tuple[tuple[int, int], ...] = ()
    memory: tuple[int, ...] = ()
    saved: int = 0


def hash_of(data: bytes) -> int:
    """Return the 64-bit FNV-1a of bytes."""
    number = _HASH_START
    for byte in data:
        number = (number ^ byte) * _HASH_PRIME & _HASH_BITS
    return number


def shelf_folder(store: str | None) -> Path:
    """Return the folder of the units made of what a store remembers; it need not be there.

    Units of another version of coarsen are in another folder: other code made their variants, which may be wrong.

    Args:
        store: its file; None for the user's store.
    """
    file = store_file(store)
    return file.parent / f"{file.stem}.units" / __version__


def write_unit(folder: Path, key: UnitKey, rows: Sequence[Row]) -> None:
    """Write a unit, in place of one that may be there; without rows, remove that.

    Raises:
        InvalidInputError: it can't be written, or not be removed.
    """
    path = folder / key.file_name
    try:
        if not rows:
            path.unlink(missing_ok=True)
            return
        for each in (folder.parent, folder):
            each.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError(f"{path}: can't be written: {error.strerror}") from None
    tail = _Tail(_BEGINNING.size + _HEADER.size + len(rows) * _ROW.size)
    source, options, device = (tail.put(part + bytes(1)) for part in key)
    heads = b"".join(_packed(row, tail) for row in rows)
    content = _HEADER.pack(source, len(key.source), options, device, len(rows), 0) + heads + bytes(tail.content)
    replace_file(_BEGINNING.pack(_MAGIC, _BEGINNING.size + len(content), hash_of(content)) + content, path)
    path.chmod(0o600)


class _Tail:
    """What comes after the rows: each part once, at an offset that the alignment divides."""

    def __init__(self, start: int) -> None:
        self.content = bytearray()
        self._start = start
        self._offsets: dict[bytes, int] = {}

    def put(self, part: bytes) -> int:
        """Add a part, and return its offset from the file's start."""
        if part not in self._offsets:
            self._offsets[part] = self._start + len(self.content)
            self.content += part + bytes(-len(part) % _ALIGNMENT)
        return self._offsets[part]


def _packed(row: Row, tail: _Tail) -> bytes:
    """Return a row; what it refers to goes behind the rows."""
    sizes = (
        *(row.least, row.most, row.unit, row.divisor, row.local_size or ()),
        *(row.factor or row.new_global_size, row.new_local_size or ()),
    )
    lists = [b"".join(_PAIR.pack(*pair) for pair in pairs) for pairs in (row.apart, row.added)]
    lists.append(b"".join(map(_NUMBER.pack, row.memory)))
    return _ROW.pack(
        *(tail.put(row.kernel.encode() + bytes(1)), tail.put(row.build_options.encode() + bytes(1))),
        *(tail.put(row.binary), len(row.binary)),
        *(row.argument_count, len(row.least), row.local_size is not None, row.new_local_size is not None),
        *(not row.factor, 0),
        *(extent for each in sizes for extent in (*each, *[0] * (_DIMENSIONS - len(each)))),
        row.objects_below,
        *(tail.put(lists[0]), len(row.apart), tail.put(lists[1]), len(row.added)),
        *(tail.put(lists[2]), len(row.memory)),
        row.saved,
    )


class ShelvedRow(NamedTuple):
    """What a report says of a row of a unit; `saved` in nanoseconds a launch."""

    kernel: str
    saved: int


def read_rows(path: Path) -> list[ShelvedRow]:
    """Return the rows of a unit; none where it can't be read."""
    try:
        data = path.read_bytes()
        magic, *_ = _BEGINNING.unpack_from(data)
        count = _HEADER.unpack_from(data, _BEGINNING.size)[4]
        start = _BEGINNING.size + _HEADER.size
        rows = [_ROW.unpack_from(data, start + number * _ROW.size) for number in range(count)]
        names = [data[row[0] : data.index(bytes(1), row[0])].decode() for row in rows]
    except (OSError, struct.error, ValueError):
        return []
    return [ShelvedRow(name, row[-1]) for name, row in zip(names, rows, strict=True)] if magic == _MAGIC else []


def forget_kernels(folder: Path, kernels: set[str] | None) -> int:
    """Remove the units that have rows of kernels of these names, of all if None; those of other versions, too.

    Returns the number of those that were there.
    """
    units = [
        path
        for path in folder.parent.glob(f"*/*{SUFFIX}")
        if kernels is None or kernels & {row.kernel for row in read_rows(path)}
    ]
    for path in units:
        path.unlink(missing_ok=True)
    return len(units)
