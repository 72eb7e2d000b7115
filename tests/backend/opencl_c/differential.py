"""Runs a kernel and what the writer made of it on the same random inputs and compares every buffer."""

from __future__ import annotations

import functools
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy
import pyopencl

from coarsen.backend.opencl_c.c.types import Array, CType, Opaque, Pointer, Record, Scalar, Vector, size_of
from coarsen.backend.opencl_c.decide.pointees import declared_type
from coarsen.backend.opencl_c.writer import OpenClC, write_opencl_c
from coarsen.devices.building import build_uncached
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import AddressSpace

WORK_ITEMS = 32
WORK_GROUP = 8
ELEMENTS = 4 * WORK_ITEMS
_NUMPY = {
    "char": numpy.int8,
    "uchar": numpy.uint8,
    "short": numpy.int16,
    "ushort": numpy.uint16,
    "int": numpy.int32,
    "uint": numpy.uint32,
    "long": numpy.int64,
    "ulong": numpy.uint64,
    "half": numpy.float16,
    "float": numpy.float32,
    "double": numpy.float64,
}


# What scalar arguments hold, whatever their name.
INTEGER_SCALAR, FLOAT_SCALAR = 5, 1.625
TOLERANCE = 1e-5


@dataclass(frozen=True)
class Case:
    """A kernel's source and the options that it is built with."""

    name: str
    source: str
    options: tuple[str, ...] = ()

    def kernel(self) -> Kernel:
        """The lowered kernel."""
        return lower(self.source, options=self.options)


@functools.lru_cache(maxsize=64)
def lowered(case: Case) -> Kernel:
    """The lowered kernel, once for all devices."""
    return case.kernel()


@functools.lru_cache(maxsize=64)
def rewritten(case: Case) -> OpenClC:
    """What the writer makes of it, once for all devices."""
    return write_opencl_c(lowered(case))


@functools.cache
def original_results(context: pyopencl.Context, case: Case) -> dict[str, numpy.ndarray[Any, Any]]:
    """What the original leaves on a device: run once for all that is compared with it."""
    return run(context, case.source, case.options, lowered(case))


def difference(context: pyopencl.Context, case: Case, written: OpenClC | None = None) -> str:
    """An empty text if original and rewritten kernel agree on a device, else what differs."""
    written = written or rewritten(case)
    given = run(context, written.text, (written.standard,), lowered(case))
    for name, before in original_results(context, case).items():
        if not _alike(before, given[name], TOLERANCE):
            return f"{name}: expected {before}, got {given[name]} from\n{written.text}"
    return ""


def run(
    context: pyopencl.Context,
    source: str,
    options: Sequence[str],
    kernel: Kernel,
    global_size: tuple[int, ...] = (WORK_ITEMS,),
    local_size: tuple[int, ...] = (WORK_GROUP,),
) -> dict[str, numpy.ndarray[Any, Any]]:
    """The contents of each global buffer after one launch on inputs that depend on the arguments' names only."""
    program = build_uncached(context, source, list(options))
    queue = pyopencl.CommandQueue(context)
    types = {argument.name: declared_type(argument, kernel.structures) for argument in kernel.arguments}
    made = {name: _argument(context, name, type_) for name, type_ in types.items()}
    getattr(program, kernel.name)(queue, global_size, local_size, *(entry[0] for entry in made.values()))
    results = {}
    for name, (argument, host) in made.items():
        if host is not None and isinstance(argument, pyopencl.Buffer):
            pyopencl.enqueue_copy(queue, host, argument)
            results[name] = host
    queue.finish()
    return results


def _argument(context: pyopencl.Context, name: str, type_: CType) -> tuple[object, numpy.ndarray[Any, Any] | None]:
    random = numpy.random.default_rng(zlib.crc32(name.encode()))
    if isinstance(type_, Pointer) and type_.space == AddressSpace.LOCAL:
        return pyopencl.LocalMemory(ELEMENTS * 16), None
    if isinstance(type_, Pointer):
        host = _contents(type_.pointee, random)
        flags = pyopencl.mem_flags.READ_WRITE | pyopencl.mem_flags.COPY_HOST_PTR
        return pyopencl.Buffer(context, flags, hostbuf=host), host
    if isinstance(type_, Opaque):
        return _opaque(context, type_, random), None
    return _value(type_, random), None


def _contents(type_: CType, random: numpy.random.Generator) -> numpy.ndarray[Any, Any]:
    while isinstance(type_, Array):
        type_ = type_.element
    element = type_.element if isinstance(type_, Vector) else type_
    if isinstance(element, Opaque) and element.name.startswith("atomic_"):
        return _numbers(numpy.dtype(_NUMPY[element.name.removeprefix("atomic_")]), ELEMENTS, random)
    if isinstance(element, Scalar):
        count = ELEMENTS * size_of(type_) // element.size
        return _numbers(numpy.dtype(_NUMPY[element.name]), count, random)
    # Structures hold small numbers, which are harmless as any of their fields.
    return random.integers(0, 60, ELEMENTS * size_of(type_), dtype=numpy.uint8)


def _numbers(dtype: numpy.dtype[Any], count: int, random: numpy.random.Generator) -> numpy.ndarray[Any, Any]:
    if dtype.kind == "f":
        return random.uniform(-4, 4, count).astype(dtype)
    limits = numpy.iinfo(dtype)
    numbers = random.integers(limits.min, limits.max, count, dtype=dtype, endpoint=True)
    numbers[::3] = random.integers(0, 40, len(numbers[::3]))
    return numbers


def _value(type_: CType, random: numpy.random.Generator) -> object:
    if isinstance(type_, Scalar):
        return numpy.dtype(_NUMPY[type_.name]).type(INTEGER_SCALAR if type_.is_integer else FLOAT_SCALAR)
    if isinstance(type_, Vector):
        return _numbers(numpy.dtype(_NUMPY[type_.element.name]), size_of(type_) // type_.element.size, random)
    if isinstance(type_, Record):
        return random.integers(0, 60, size_of(type_), dtype=numpy.uint8)
    raise TypeError(str(type_))


def _opaque(context: pyopencl.Context, type_: Opaque, random: numpy.random.Generator) -> object:
    if type_.name == "sampler_t":
        modes = pyopencl.addressing_mode.CLAMP_TO_EDGE, pyopencl.filter_mode.NEAREST
        return pyopencl.Sampler(context, False, *modes)
    pixels = random.uniform(0, 1, (WORK_ITEMS, WORK_ITEMS, 4)).astype(numpy.float32)
    layout = pyopencl.ImageFormat(pyopencl.channel_order.RGBA, pyopencl.channel_type.FLOAT)
    flags = pyopencl.mem_flags.READ_WRITE | pyopencl.mem_flags.COPY_HOST_PTR
    return pyopencl.create_image(context, flags, layout, shape=(WORK_ITEMS, WORK_ITEMS), hostbuf=pixels)


def _alike(expected: numpy.ndarray[Any, Any], given: numpy.ndarray[Any, Any], tolerance: float) -> bool:
    if expected.dtype.kind != "f":
        return bool((expected == given).all())
    same = (expected == given) | (numpy.isnan(expected) & numpy.isnan(given))
    with numpy.errstate(all="ignore"):
        close = numpy.abs(expected - given) <= tolerance * numpy.maximum(numpy.abs(expected), 1)
    return bool((same | close).all())
