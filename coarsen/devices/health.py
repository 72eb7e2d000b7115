"""Health of an OpenCL device: a small kernel is built and run on it, and its result checked.

The check runs in a child process with a time limit, so that a driver that crashes or hangs is a device that
doesn't work, and nothing worse: `python -m coarsen.devices.health` reads the device's description from standard
input and writes the verdict, both as JSON. A verdict holds for the life of this process and is not stored: a
driver's update or a removed library would make a stored one wrong.
"""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coarsen.base.codec import decoded, encoded
from coarsen.devices.discovery import DeviceDescription, found_again, open_device
from coarsen.errors import DeviceError

if TYPE_CHECKING:
    import pyopencl

TIME_LIMIT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Health:
    """A verdict on a device; `reason` says in one line why it doesn't work (empty where it does)."""

    works: bool
    reason: str
    milliseconds: float


@functools.cache
def check_health(description: DeviceDescription, time_limit: float = TIME_LIMIT_SECONDS) -> Health:
    """Build and run a kernel with a barrier and local memory on the device, in a process of its own.

    It never raises for a bad device. The first check of a device takes a second or two, mostly to start the
    process and the driver's compiler; the verdict is kept for the process.

    Args:
        description: the device, from `discover_devices` or `find_device`.
        time_limit: in seconds, after which the device counts as one that hangs. On a busy machine the limit grows
            with the number of processes that wait for each processor.

    Returns:
        Whether it works, why not, and how long the check took, in milliseconds.
    """
    # The child finds packages where this process does, and not in a folder that it happens to be started in.
    command = [sys.executable, "-P", "-m", "coarsen.devices.health"]
    # Without PyOpenCL's cache: where it can't be written, that says nothing about the device.
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = os.environ | {"PYTHONPATH": paths, "PYOPENCL_NO_CACHE": "1"}
    # How many processes share each processor, from the load of the last minute; at least one.
    limit = time_limit * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    try:
        finished = subprocess.run(
            command,
            input=json.dumps(encoded(description)),
            env=environment,
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Health(False, f"the test kernel did not finish within {limit:.4g} s", limit * 1e3)
    return _verdict(finished.returncode, finished.stdout, finished.stderr)


def _verdict(return_code: int, output: str, errors: str) -> Health:
    """Read the probe's verdict; a driver may have printed around it, or crashed at exit."""
    for line in reversed(output.splitlines()):
        if line.startswith('{"works":'):
            return decoded(Health, json.loads(line), "the verdict")
    if return_code < 0:
        return Health(False, f"its driver crashed ({_signal_name(-return_code)})", 0.0)
    last_words = errors.strip().splitlines()[-1:] or [f"exit code {return_code}"]
    return Health(False, f"the test failed: {last_words[0]}", 0.0)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


# In the process of its own.

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
    verdict = probe(decoded(DeviceDescription, json.loads(sys.stdin.read()), "the device"))
    sys.stdout.write(json.dumps(encoded(verdict)) + "\n")
    return 0


def probe(wanted: DeviceDescription) -> Health:
    """Return whether a device runs the kernel in this process."""
    import pyopencl

    started = time.perf_counter()
    try:
        reason = "" if _runs(_found(wanted)) else "it ran the test kernel and gave wrong results"
    except (pyopencl.Error, DeviceError) as error:
        reason = _first_complaint(str(error))
    return Health(not reason, reason, round((time.perf_counter() - started) * 1e3, 1))


def _found(wanted: DeviceDescription) -> pyopencl.Device:
    try:
        return open_device(found_again(wanted))
    except DeviceError:
        raise DeviceError("another process does not find it") from None


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


if __name__ == "__main__":
    sys.exit(main())
