"""Conversions between all integer types through SPIR-V, against the device's own compiler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from numpy.typing import NDArray

from coarsen.backend.spirv import write_spirv
from coarsen.devices.building import build_uncached
from coarsen.devices.discovery import DeviceDescription
from coarsen.frontend.lower import lower

TYPES: dict[str, type[np.integer[Any]]] = {
    "char": np.int8,
    "uchar": np.uint8,
    "short": np.int16,
    "ushort": np.uint16,
    "int": np.int32,
    "uint": np.uint32,
    "long": np.int64,
    "ulong": np.uint64,
}
ITEMS = 64


def runs_on(parameters: Mapping[str, Any]) -> bool:
    """Whether there is SPIR-V to be compared."""
    takes_spirv: bool = parameters["device"].takes_spirv
    return takes_spirv


@pytest.mark.parametrize("mode", ["", "_sat", "_rtz", "_sat_rte"])
@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize("source", TYPES)
def test_conversions_between_integers(
    source: str, width: int, mode: str, device: DeviceDescription, queue: cl.CommandQueue
) -> None:
    assert device.takes_spirv
    text = kernel_source(source, width, mode)
    count = ITEMS * width
    data = np.frombuffer(np.random.default_rng(3).bytes(count * np.dtype(TYPES[source]).itemsize), TYPES[source])
    wanted = run(queue, build_uncached(queue.context, text), data)
    got = run(queue, build_uncached(queue.context, write_spirv(lower(text))), data)
    for target, expected, converted in zip(TYPES, wanted, got, strict=True):
        np.testing.assert_array_equal(converted, expected, err_msg=f"{source} to {target}")


def kernel_source(source: str, width: int, mode: str) -> str:
    """A kernel that converts one type to all others, each into a buffer of its own."""
    suffix = str(width) if width > 1 else ""
    outputs = ", ".join(f"global {target}{suffix} *to_{target}" for target in TYPES)
    lines = " ".join(f"to_{target}[id] = convert_{target}{suffix}{mode}(value);" for target in TYPES)
    return (
        f"kernel void convert(global const {source}{suffix} *values, {outputs}) {{"
        f" size_t id = get_global_id(0); {source}{suffix} value = values[id]; {lines} }}"
    )


def run(queue: cl.CommandQueue, program: cl.Program, data: NDArray[Any]) -> list[NDArray[Any]]:
    """What the kernel writes to each output."""
    flags = cl.mem_flags
    source = cl.Buffer(queue.context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=data)
    outputs = [np.zeros(data.size, kind) for kind in TYPES.values()]
    buffers = [cl.Buffer(queue.context, flags.WRITE_ONLY, output.nbytes) for output in outputs]
    cl.Kernel(program, "convert")(queue, (ITEMS,), None, source, *buffers)
    for output, buffer in zip(outputs, buffers, strict=True):
        cl.enqueue_copy(queue, output, buffer)
    return outputs
