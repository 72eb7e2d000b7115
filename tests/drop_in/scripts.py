"""Small PyOpenCL programs that know nothing of coarsening."""

from __future__ import annotations

from pathlib import Path

from coarsen.devices.discovery import DeviceDescription

COUNT = 1024
# The first argument is the index of the device.
HEAD = f"""\
import sys

import numpy as np
import pyopencl as cl
from pyopencl import Kernel, Program

COUNT = {COUNT}
platform, device = map(int, sys.argv[1].split(":"))
context = cl.Context([cl.get_platforms()[platform].get_devices()[device]])
queue = cl.CommandQueue(context)
"""
SOURCE = """\
kernel void scale(global float *values, float factor)
{
    values[get_global_id(0)] *= factor;
}
kernel void number(global float *values)
{
    values[get_global_id(0)] = get_global_id(0);
}
"""
SCALE = f'''\
{HEAD}
SOURCE = """{SOURCE}"""
program = Program(context, SOURCE).build()
values = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4 * COUNT)
program.number(queue, (COUNT,), (64,), values)
kernel = Kernel(program, "scale")
for _ in range(3):
    kernel(queue, (COUNT,), (64,), values, np.float32(2))
kernel.set_args(values, np.float32(0.5))
cl.enqueue_nd_range_kernel(queue, kernel, (COUNT // 2,), (64,))
found = np.empty(COUNT, np.float32)
cl.enqueue_copy(queue, found, values)
expected = 8 * np.arange(COUNT, dtype=np.float32)
expected[: COUNT // 2] /= 2
np.testing.assert_array_equal(found, expected)
print("right")
'''


def written(folder: Path, text: str, name: str = "program.py") -> Path:
    """Write a program; returns its path."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def compiled(devices: tuple[DeviceDescription, ...]) -> DeviceDescription:
    """The device that the environment surely has, which compiles kernels."""
    return next(device for device in devices if device.runs_on("intel"))
