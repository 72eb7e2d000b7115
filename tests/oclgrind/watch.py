"""Runs kernels under Oclgrind, which interprets them and sees every access, and collects what it finds.

Its driver reads its options from the environment when a context is made, as the `oclgrind` command sets them; so
this works with the driver from a wheel, too, which comes without that command.
"""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyopencl as cl

from coarsen.devices.discovery import DeviceDescription, discover_devices, open_device
from coarsen.devices.health import check_health

_OPTIONS = {
    "OCLGRIND_DATA_RACES": "1",
    # It counts over all contexts of a process, and is silent once there are so many.
    "OCLGRIND_MAX_ERRORS": str(2**31 - 1),
}
_LOG = "OCLGRIND_LOG"
_ADDRESS = re.compile(r" at (\w+) memory address 0x[0-9a-f]+")

Findings = Counter[str]


@dataclass(frozen=True)
class Watched:
    """A context on Oclgrind and the file into which it writes what it finds."""

    context: cl.Context
    queue: cl.CommandQueue
    log: Path

    def findings(self) -> Findings:
        """What was found up to now: how often each kind of message came, addresses left out."""
        self.queue.finish()
        return findings_in(self.log.read_text() if self.log.exists() else "")


def findings_in(log: str) -> Findings:
    """The messages in a log by kind. Each begins with a line at the margin; what follows tells where."""
    heads = (line for line in log.splitlines() if line and not line[0].isspace())
    return Counter(_ADDRESS.sub(r" in \1 memory", head) for head in heads)


def simulator() -> DeviceDescription | None:
    """Oclgrind's device, None where it isn't installed or doesn't work."""
    found = (device for device in discover_devices() if device.is_called("oclgrind"))
    return next((device for device in found if check_health(device).works), None)


@contextlib.contextmanager
def watching(device: DeviceDescription, **options: str) -> Iterator[Watched]:
    """A new context with a log of its own; further options as its environment has them."""
    with tempfile.TemporaryDirectory(prefix="coarsen-oclgrind-") as folder:
        log = Path(folder, "log")
        with _environment({**_OPTIONS, _LOG: str(log), **options}):
            context = cl.Context([open_device(device)])
        yield Watched(context, cl.CommandQueue(context), log)


@contextlib.contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
