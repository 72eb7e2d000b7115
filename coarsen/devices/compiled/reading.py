"""Facts of compilations from a process of its own, which a compiler that crashes or hangs can't take along."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

from coarsen.codec import decoded, encoded
from coarsen.devices.compiled.build import ProgramText
from coarsen.devices.compiled.platforms import platform_of
from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import InvalidInputError
from coarsen.models.compiled.facts import CompiledFacts

STARTING_SECONDS = 60.0
SECONDS_EACH = 60.0
_PROBE = "coarsen.devices.compiled.probe"


@dataclass(frozen=True, slots=True)
class Request:
    """Programs to build on a device."""

    device: DeviceDescription
    programs: tuple[ProgramText, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """The facts of a program; None with a `failure`, one line, where it was not compiled."""

    facts: CompiledFacts | None = None
    failure: str = ""


def read_compiled_facts(
    device: DeviceDescription,
    programs: Sequence[ProgramText],
    starting_seconds: float = STARTING_SECONDS,
    seconds_each: float = SECONDS_EACH,
) -> list[Reading]:
    """Build programs and read what the device's compiler made of them; no kernel is launched.

    Args:
        device: of this machine.
        programs: one kernel of each is looked at.
        starting_seconds: that the process may take besides.
        seconds_each: that a program may take; they are counted together.

    Returns:
        A reading for each program. One that crashes the compiler, or takes too long, fails alone.
    """
    readings: list[Reading] = []
    while len(readings) < len(programs):
        left = tuple(programs[len(readings) :])
        found, why = _asked(Request(device, left), starting_seconds + seconds_each * len(left))
        readings += found
        if len(found) < len(left):
            readings.append(Reading(failure=why))
    return readings


def _asked(request: Request, seconds: float) -> tuple[list[Reading], str]:
    """The readings of a process, and why there are no more."""
    # The child finds packages where this process does, and not in a folder that it happens to be started in.
    command = [sys.executable, "-P", "-W", "ignore", "-m", _PROBE]
    # A kernel that PoCL finds in its cache isn't compiled, so that nothing is said of it.
    with tempfile.TemporaryDirectory(prefix="coarsen-facts-") as folder:
        environment = {
            **os.environ,
            **dict(platform_of(request.device).variables),
            "POCL_CACHE_DIR": folder,
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        }
        try:
            done = subprocess.run(
                command,
                input=json.dumps(encoded(request)).encode(),
                env=environment,
                capture_output=True,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            return _readings(late.stdout or b""), "its compiler took too long"
    return _readings(done.stdout)[: len(request.programs)], _reason(done)


def _readings(output: bytes) -> list[Reading]:
    """The readings, one in a line; what a driver printed between them, or a line that was cut off, is none."""
    found = []
    for line in output.split(b"\n"):
        try:
            found.append(decoded(Reading, json.loads(line), "the reading"))
        except (ValueError, InvalidInputError):
            continue
    return found


def _reason(done: subprocess.CompletedProcess[bytes]) -> str:
    if done.returncode < 0:
        return "its compiler crashed"
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    return f"it was not compiled: {lines[-1] if lines else f'exit code {done.returncode}'}"
