"""Health of an OpenCL device: a small kernel is built and run on it, and its result checked.

The check runs in a child process with a time limit, so that a driver that crashes or hangs is a device that
doesn't work, and nothing worse. A verdict holds for the life of this process and is not stored: a driver's
update or a removed library would make a stored one wrong.
"""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict, dataclass

from coarsen.devices.discovery import DeviceDescription

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
    command = [sys.executable, "-P", "-m", "coarsen.devices.health_probe"]
    # Without PyOpenCL's cache: where it can't be written, that says nothing about the device.
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = os.environ | {"PYTHONPATH": paths, "PYOPENCL_NO_CACHE": "1"}
    limit = time_limit * _waiting_for_each_processor()
    try:
        finished = subprocess.run(
            command,
            input=json.dumps(asdict(description)),
            env=environment,
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Health(False, f"the test kernel did not finish within {limit:.4g} s", limit * 1e3)
    return _verdict(finished.returncode, finished.stdout, finished.stderr)


def _waiting_for_each_processor() -> float:
    """Return how many processes share each processor, from the load of the last minute; at least one."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def _verdict(return_code: int, output: str, errors: str) -> Health:
    """Read the probe's verdict; a driver may have printed around it, or crashed at exit."""
    for line in reversed(output.splitlines()):
        if line.startswith('{"works":'):
            fields = json.loads(line)
            return Health(bool(fields["works"]), str(fields["reason"]), float(fields["milliseconds"]))
    if return_code < 0:
        return Health(False, f"its driver crashed ({_signal_name(-return_code)})", 0.0)
    last_words = errors.strip().splitlines()[-1:] or [f"exit code {return_code}"]
    return Health(False, f"the test failed: {last_words[0]}", 0.0)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
