"""Sections and functions of ELF files for x86-64, as far as machine code is to be found in them.

A file that is damaged or of another kind has none.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

MAGIC = b"\x7fELF"
_CLASS_64, _X86_64 = 2, 62
_FUNCTION = 2
_SYMBOLS = 2  # the type of a section with symbols
# The header's: machine, offset of the table of sections, their number, that of the section with their names.
_MACHINE, _TABLE, _COUNT, _NAMES = 0x12, 0x28, 0x3C, 0x3E
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")


@dataclass(frozen=True, slots=True)
class _Section:
    name: str
    kind: int
    address: int
    content: bytes
    link: int


def sections(file: bytes) -> dict[str, bytes]:
    """Return the content of each section by its name; nothing for what is no such file."""
    return {section.name: section.content for section in _sections(file)}


def functions(file: bytes) -> dict[str, bytes]:
    """Return the machine code of each function by its name; nothing for what is no such file."""
    found = _sections(file)
    code = {}
    for table in (section for section in found if section.kind == _SYMBOLS and section.link < len(found)):
        names = found[table.link].content
        for name, kind, index, value, size in _symbols(table.content):
            if kind == _FUNCTION and size and index < len(found):
                start = value - found[index].address
                body = found[index].content[start : start + size] if start >= 0 else b""
                if len(body) == size:
                    code[_text(names, name)] = body
    return code


def _symbols(table: bytes) -> Iterator[tuple[int, int, int, int, int]]:
    """The place of the name, the kind, the section's number, the address and the size of each symbol."""
    whole = len(table) - len(table) % _SYMBOL.size
    for name, info, _, index, value, size in _SYMBOL.iter_unpack(table[:whole]):
        yield name, info & 0xF, index, value, size


def _sections(file: bytes) -> list[_Section]:
    if file[:5] != MAGIC + bytes([_CLASS_64]) or file[_MACHINE : _MACHINE + 2] != struct.pack("<H", _X86_64):
        return []
    try:
        (table,) = struct.unpack_from("<Q", file, _TABLE)
        count, names_at = (struct.unpack_from("<H", file, place)[0] for place in (_COUNT, _NAMES))
        headers = [_SECTION.unpack_from(file, table + _SECTION.size * number) for number in range(count)]
    except (struct.error, OverflowError):
        return []
    contents = [file[offset : offset + size] for _, _, _, _, offset, size, *_ in headers]
    names = contents[names_at] if names_at < count else b""
    return [
        _Section(_text(names, header[0]), header[1], header[3], content, header[6])
        for header, content in zip(headers, contents, strict=True)
    ]


def _text(names: bytes, place: int) -> str:
    return names[place:].partition(b"\0")[0].decode(errors="replace")
