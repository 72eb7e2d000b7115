"""Files with machine code, small enough to be made by hand."""

from __future__ import annotations

import struct

# `values[get_global_id(0)] *= by`, as Intel's runtime compiles it: a loop over 16 each, one over the rest.
SCALE = bytes.fromhex(
    "f30f1efa554889e54883e4f8488b8fb8000000488b36c5fa104708488b07488b7f18480faff14889ca4883e2f04883f91072344c8d043e"
    "62f27d4818c84531c94e8d04806666662e0f1f8400000000006291744859148862917c481114884983c1104c39ca75e9f6c10f742648c1"
    "e702488d34b74801f0660f1f840000000000c5fa590c90c5fa110c9048ffc24839d175ee4889ec5dc5f877c3"
)
X86_64, AARCH64 = 62, 183


def elf(contents: dict[str, bytes], symbols: dict[str, tuple[int, int]], machine: int = X86_64) -> bytes:
    """Return an ELF file with sections, and functions in the first of them by offset and size."""
    names, symbol_names = b"\0", b"\0"
    table = struct.pack("<IBBHQQ", 0, 0, 0, 0, 0, 0)
    for name, (offset, size) in symbols.items():
        table += struct.pack("<IBBHQQ", len(symbol_names), 2, 0, 1, offset, size)
        symbol_names += name.encode() + b"\0"
    kinds = {**dict.fromkeys(contents, 1), ".symtab": 2, ".strtab": 3, ".shstrtab": 3}
    every = {**contents, ".symtab": table, ".strtab": symbol_names, ".shstrtab": b""}
    headers, body = struct.pack("<IIQQQQIIQQ", *[0] * 10), b""
    for name in every:
        if name == ".shstrtab":
            every[name] = names + name.encode() + b"\0"
        link = 1 + list(every).index(".strtab") if name == ".symtab" else 0
        place = 64 + len(body)
        headers += struct.pack(
            "<IIQQQQIIQQ", len(names), kinds[name], 0, 0, place, len(every[name]), link, 0, 1, 0
        )
        names += name.encode() + b"\0"
        body += every[name]
    last = len(every)
    start = struct.pack(
        "<4sBBBB8xHHIQQQIHHHHHH",
        b"\x7fELF",
        2,
        1,
        1,
        0,
        1,
        machine,
        1,
        0,
        0,
        64 + len(body),
        0,
        64,
        0,
        0,
        64,
        last + 1,
        last,
    )
    return start + body + headers


def with_function(name: str, code: bytes = SCALE, machine: int = X86_64) -> bytes:
    """Return an ELF file with one function."""
    return elf({".text": code}, {name: (0, len(code))}, machine)
