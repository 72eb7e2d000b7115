"""A truncation and the widening after it stay two operations, and modules that mix types are refused."""

from __future__ import annotations

import struct

import numpy as np
import pyopencl as cl
import pytest

from coarsen.backend import spirv
from coarsen.backend.spirv import write_spirv
from coarsen.devices.building import build_uncached
from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import RefusalError
from coarsen.frontend.lower import lower

SOURCE = "kernel void narrow(global uint *out) { uchar low = get_global_id(0) * 3; out[get_global_id(0)] = low; }"
OP_TYPE_INT, OP_FUNCTION_PARAMETER, OP_BITWISE_AND = 21, 55, 199


def runs_on(parameters: dict[str, DeviceDescription]) -> bool:
    return parameters["device"].takes_spirv


def test_a_narrowed_id_is_widened_right(device: DeviceDescription, queue: cl.CommandQueue) -> None:
    assert device.takes_spirv
    result = np.zeros(256, np.uint32)
    buffer = cl.Buffer(queue.context, cl.mem_flags.WRITE_ONLY, result.nbytes)
    kernel = cl.Kernel(build_uncached(queue.context, write_spirv(lower(SOURCE))), "narrow")
    kernel(queue, (256,), None, buffer)
    cl.enqueue_copy(queue, result, buffer)
    np.testing.assert_array_equal(result, np.arange(256) * 3 % 256)


def module(*instructions: tuple[int, ...]) -> bytes:
    """SPIR-V words of a module: opcode and operands of each instruction behind the header."""
    words = [0x07230203, 0x00010200, 0, 99, 0]
    for opcode, *operands in instructions:
        words += [(len(operands) + 1) << 16 | opcode, *operands]
    return struct.pack(f"<{len(words)}I", *words)


@pytest.mark.parametrize(("type_of_operand", "refused"), [(1, False), (2, True)])
def test_operands_of_another_type_are_refused(
    type_of_operand: int, refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    emitted = module(
        (OP_TYPE_INT, 1, 32, 0),
        (OP_TYPE_INT, 2, 64, 0),
        (OP_FUNCTION_PARAMETER, type_of_operand, 5),
        (OP_FUNCTION_PARAMETER, 1, 6),
        (OP_BITWISE_AND, 1, 7, 5, 6),
    )
    monkeypatch.setattr(spirv, "emit_in_process", lambda assembly, triple: emitted)
    if not refused:
        assert write_spirv(lower(SOURCE)) == emitted
        return
    with pytest.raises(RefusalError, match=r"mixed up the types of operands \[spirv-unsupported\]"):
        write_spirv(lower(SOURCE))
