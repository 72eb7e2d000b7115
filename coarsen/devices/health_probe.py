"""Runs one small kernel on one OpenCL device and says whether it gave the right result.

Run as `python -m coarsen.devices.health_probe` in a process of its own, for a driver that crashes takes its
process with it. Standard input holds the device's description as JSON; standard output gets one line of JSON:
works, reason (empty where it works), milliseconds (from the context's creation to the checked result).
"""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING

from coarsen.devices.discovery import DeviceDescription, discover_devices, open_device
from coarsen.errors import DeviceError

if TYPE_CHECKING:
    import pyopencl

WORK_ITEMS = 256
WORK_GROUP = 16

# Each work-item gets a value that another of its group stored: wrong without working barriers.
SOURCE = f"""
kernel void health(global const int *input, global int *output)
{{
    local int tile[{WORK_GROUP}];
    const int item = (int)get_local_id(0);
    tile[item] = input[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    output[get_global_id(0)] = 3 * tile[(int)get_local_size(0) - 1 - item] + (int)get_group_id(0);
}}
"""


def main() -> int:
    """Read the description from standard input, probe, print the verdict; return 0 if one was reached."""
    fields = json.loads(sys.stdin.read())
    fields["device_types"] = tuple(fields["device_types"])
    fields["max_work_item_sizes"] = tuple(fields["max_work_item_sizes"])
    works, reason, milliseconds = probe(DeviceDescription(**fields))
    sys.stdout.write(json.dumps({"works": works, "reason": reason, "milliseconds": milliseconds}) + "\n")
    return 0


def probe(wanted: DeviceDescription) -> tuple[bool, str, float]:
    """Return True if the device runs the kernel, why not (one line, or empty), and the milliseconds taken."""
    import pyopencl

    started = time.perf_counter()
    try:
        right = _runs(_find(wanted))
    except (pyopencl.Error, DeviceError) as error:
        return False, _first_complaint(str(error)), _milliseconds_since(started)
    reason = "" if right else "it ran the test kernel and gave wrong results"
    return right, reason, _milliseconds_since(started)


def _find(wanted: DeviceDescription) -> pyopencl.Device:
    """The same device in this process; by its index where that fits, for two devices may be alike."""
    same = [device for device in discover_devices() if device.is_same_device(wanted)]
    same.sort(key=lambda device: device.index != wanted.index)
    if not same:
        raise DeviceError("another process does not find it")
    return open_device(same[0])


def _runs(device: pyopencl.Device) -> bool:
    import numpy
    import pyopencl

    from coarsen.devices.building import build_uncached

    context = pyopencl.Context([device])
    queue = pyopencl.CommandQueue(context)
    program = build_uncached(context, SOURCE)
    values = numpy.arange(WORK_ITEMS, dtype=numpy.int32) * 7 + 1
    flags = pyopencl.mem_flags
    source = pyopencl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=values)
    target = pyopencl.Buffer(context, flags.WRITE_ONLY, values.nbytes)
    program.health(queue, (WORK_ITEMS,), (WORK_GROUP,), source, target)
    result = numpy.empty_like(values)
    pyopencl.enqueue_copy(queue, result, target)
    groups = values.reshape(-1, WORK_GROUP)
    expected = 3 * groups[:, ::-1] + numpy.arange(len(groups))[:, None]
    return bool((result == expected.ravel()).all())


def _first_complaint(message: str) -> str:
    """Return the most useful line of an OpenCL error: the compiler's first error, else the first line."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("error:") or " error: " in line]
    return (errors or lines or ["the driver gave no reason"])[0]


def _milliseconds_since(started: float) -> float:
    return round((time.perf_counter() - started) * 1e3, 1)


if __name__ == "__main__":
    sys.exit(main())
