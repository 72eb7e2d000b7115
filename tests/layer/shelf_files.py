"""Files of the shelf made by hand, with rows for variants that leave a mark: a program sees what was launched."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyopencl as cl

SOURCE = """\
#ifdef FAIL
#error FAIL
#endif
#define VALUE(i) ((from && from[i] > (int)(i) ? from[i] : (int)(i)) + more)
#define PARAMETERS global int *to, global const int *from, int more
kernel void moved(PARAMETERS) { size_t i = get_global_id(0); to[i] = VALUE(i); }
kernel void below(PARAMETERS) { size_t i = get_global_id(0); to[i] = VALUE(i); }
kernel void broken(PARAMETERS) { size_t i = get_global_id(0); to[i] = VALUE(i); }
kernel void fewer(PARAMETERS) { size_t i = get_global_id(0); to[i] = VALUE(i); }
kernel void added(PARAMETERS, local int *tile)
{
    size_t i = get_global_id(0);
    tile[get_local_id(0)] = VALUE(i);
    barrier(CLK_LOCAL_MEM_FENCE);
    to[i] = tile[get_local_id(0)];
}
"""
# Coarsened by FACTOR. Its numbers are greater by 1000000, and wrong where it is given another launch's sizes.
VARIANT = """\
#define VALUE(i) ((from && from[i] > (int)(i) ? from[i] : (int)(i)) + more)
#define PARAMETERS global int *to, global const int *from, int more
#define FIRST (get_global_offset(0) + FACTOR * (get_global_id(0) - get_global_offset(0)))
#define FOR_EACH size_t i = FIRST, end = i + FACTOR; for (; i < end; i++)
kernel void moved(PARAMETERS) { FOR_EACH to[i] = VALUE(i) + 1000000; }
kernel void below(PARAMETERS) { FOR_EACH to[i] = VALUE(i) + 1000000; }
kernel void fewer(PARAMETERS, int fourth) { FOR_EACH to[i] = VALUE(i) + 1000000; }
kernel void added(PARAMETERS, local int *tile, ulong size, local int *other)
{
    FOR_EACH {
        int own = get_local_id(0);
        tile[own] = VALUE(i);
        other[own + get_local_size(0)] = 1000000;
        barrier(CLK_LOCAL_MEM_FENCE);
        to[i] = tile[own] + other[own + get_local_size(0)] + (size == FACTOR * get_global_size(0) ? 0 : 7);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
"""
_HEADER = struct.Struct("<8sQQ6I")
ROW = struct.Struct("<2I2Q6I21QQ6IQ")
OWN_GLOBAL_SIZE, LIKE_LOCAL_MEMORY = 0, 1


@dataclass(frozen=True)
class Row:
    """A row of one dimension, by the names of the shelf's format."""

    kernel: str
    binary: bytes
    least: int
    most: int
    unit: int = 1
    divisor: int = 0
    local: int = 0
    factor: int = 2
    new_local: int = 0
    is_exact: bool = False
    argument_count: int = 3
    objects_below: int = 0
    apart: tuple[int, ...] = ()
    added: tuple[int, ...] = ()
    memory: tuple[int, ...] = (0, 1)


def hash_of(content: bytes) -> int:
    """Return the 64-bit FNV-1a hash."""
    result = 0xCBF29CE484222325
    for byte in content:
        result = (result ^ byte) * 0x100000001B3 % 2**64
    return result


def device_text(device: cl.Device) -> str:
    """Return what a file says of its device."""
    platform = device.platform
    return f"{device.name}\n{platform.name}\n{device.driver_version}\n{platform.version}"


def unit_bytes(source: bytes, options: str, device: str, rows: list[Row]) -> bytes:
    """Return a file's content."""
    start = _HEADER.size + ROW.size * len(rows)
    rest = bytearray()

    def place(content: bytes) -> int:
        rest.extend(bytes(-len(rest) % 8))
        rest.extend(content)
        return start + len(rest) - len(content)

    texts = {text: place(text.encode() + b"\0") for text in {options, device, *(row.kernel for row in rows)}}
    source_place = place(source + b"\0")
    binaries = {binary: place(binary) for binary in {row.binary for row in rows}}
    packed = []
    for row in rows:
        lists = [
            number
            for values, size in ((row.apart, 2), (row.added, 2), (row.memory, 1))
            for number in (place(struct.pack(f"<{len(values)}I", *values)), len(values) // size)
        ]
        columns = (row.least, row.most, row.unit, row.divisor, row.local, row.factor, row.new_local)
        ones = [each for value in columns for each in (value, 1, 1)]
        flags = (row.argument_count, 1, row.local > 0, row.new_local > 0, row.is_exact, 0)
        where = (texts[row.kernel], texts[options], binaries[row.binary], len(row.binary))
        packed.append(ROW.pack(*where, *flags, *ones, row.objects_below, *lists, 0))
    places = (source_place, len(source), texts[options], texts[device], len(rows), 0)
    return checked(_HEADER.pack(b"coarsen1", start + len(rest), 0, *places) + b"".join(packed) + rest)


def checked(content: bytes) -> bytes:
    """Return a file's content with the check of what it has."""
    return content[:16] + struct.pack("<Q", hash_of(content[24:])) + content[24:]


def write_unit(folder: Path, source: bytes, options: str, device: str, rows: list[Row]) -> Path:
    """Write a file where the layer looks for it."""
    name = hash_of(b"\0".join((source, options.encode(), device.encode(), b"")))
    path = folder / f"{name:016x}.shelf"
    path.write_bytes(unit_bytes(source, options, device, rows))
    path.chmod(0o600)
    return path


def binary_of(context: cl.Context, text: str, *options: str) -> bytes:
    """Return the driver's binary of a program."""
    uncached: Any = False  # PyOpenCL's annotation has folders alone
    program = cl.Program(context, text).build(options=list(options), cache_dir=uncached)
    return bytes(program.get_info(cl.program_info.BINARIES)[0])


def marking_rows(context: cl.Context) -> list[Row]:
    """Return the rows of `SOURCE` whose variants are those of `VARIANT`."""
    twice, thrice = binary_of(context, VARIANT, "-DFACTOR=2"), binary_of(context, VARIANT, "-DFACTOR=3")
    apart, both = (0, 1), (OWN_GLOBAL_SIZE, 0, LIKE_LOCAL_MEMORY, 3)
    rows = [
        *(Row("moved", twice, 64, 1024, 64, size, 32, new_local=16, apart=apart) for size in (1024, 512)),
        Row("moved", twice, 64, 127, 64, 0, 32, new_local=16, apart=apart),
        Row("moved", twice, 64, 127, 2, apart=apart),
        Row("moved", thrice, 99, 99, factor=33, new_local=11, is_exact=True, apart=apart),
        Row("broken", b"no binary", 64, 1024, 64, 0, 32, new_local=16),
        Row("fewer", twice, 64, 1024, 64, 0, 32, new_local=16),
        Row("below", twice, 64, 1024, 64, 0, 32, new_local=16, objects_below=4 * 4096 + 1),
    ]
    added = [
        Row("added", twice, 64, 1024, 64, 0, local, new_local=local // 2, added=both, argument_count=4)
        for local in (32, 64)
    ]
    return rows + added
