"""Builds programs on a device and reads the facts of their compilation; nothing is launched.

Run as `python -m coarsen.devices.compiled.probe` in a process of its own, for a compiler may crash, hang, or print
what it has to say. Standard input holds a request as JSON, standard output gets one line of JSON for each program.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyopencl

from coarsen.codec import decoded, encoded
from coarsen.devices.building import build_uncached
from coarsen.devices.compiled.build import Build, ProgramText
from coarsen.devices.compiled.platforms import facts_of, platform_of
from coarsen.devices.compiled.reading import Reading, Request
from coarsen.devices.compiled.work_group_info import work_group_facts
from coarsen.devices.discovery import DeviceDescription, found_again, open_device
from coarsen.errors import CoarsenError
from coarsen.models.compiled.facts import CompiledFacts


def main() -> int:
    """Read the request from standard input, print a reading for each program."""
    request = decoded(Request, json.loads(sys.stdin.read()), "the request")
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    # What a driver prints between programs must not come between the answers.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with answers, tempfile.TemporaryDirectory() as folder:
        for reading in _readings(request, Path(folder) / "output"):
            answers.write(json.dumps(encoded(reading)) + "\n")
            answers.flush()
    return 0


def _readings(request: Request, printed: Path) -> Iterator[Reading]:
    try:
        device = open_device(found_again(request.device))
        context = pyopencl.Context([device])
    except (CoarsenError, pyopencl.Error) as error:
        yield from (Reading(failure=_in_a_line(error)) for _ in request.programs)
        return
    for program in request.programs:
        try:
            yield Reading(_read(request.device, context, program, printed))
        except pyopencl.Error as error:
            yield Reading(failure=_in_a_line(error))


def _read(
    description: DeviceDescription, context: pyopencl.Context, program: ProgramText, printed: Path
) -> CompiledFacts:
    """Return the facts of a program. Raises pyopencl.Error where it can't be built, or lacks the kernel."""
    platform = platform_of(description)
    (device,) = context.devices
    with _printing_into(printed):
        # PyOpenCL leaves out annotations of some methods.
        built: Any = build_uncached(context, program.source, [*program.options, *platform.options])
        # PoCL compiles when it is asked for the binary.
        binary = _binary(built)
    kernel = pyopencl.Kernel(built, program.kernel)
    build = Build(
        program=program,
        kernels=tuple(built.kernel_names.split(";")),
        log=built.get_build_info(device, pyopencl.program_build_info.LOG),
        output=printed.read_text(errors="replace"),
        binary=binary,
        capability=_capability(device),
    )
    return facts_of(platform, build, work_group_facts(kernel, device))


def _binary(program: pyopencl.Program) -> bytes:
    """The binary for the only device; nothing where the driver gives none."""
    try:
        (binary,) = program.binaries
    except pyopencl.Error:
        return b""
    return bytes(binary)


def _capability(device: pyopencl.Device) -> tuple[int, int] | None:
    """NVIDIA's compute capability; None of other devices."""
    try:
        return int(device.compute_capability_major_nv), int(device.compute_capability_minor_nv)
    except (pyopencl.Error, AttributeError):
        return None


@contextmanager
def _printing_into(file: Path) -> Iterator[None]:
    """Have all that this process prints, drivers included, go into a file."""
    streams = (sys.stdout, sys.stderr)
    kept = [os.dup(stream.fileno()) for stream in streams]
    with file.open("wb") as target:
        for stream in streams:
            stream.flush()
            os.dup2(target.fileno(), stream.fileno())
    try:
        yield
    finally:
        _flush_c_library()
        for stream, descriptor in zip(streams, kept, strict=True):
            stream.flush()
            os.dup2(descriptor, stream.fileno())
            os.close(descriptor)


def _flush_c_library() -> None:
    """Write out what C and C++ code has printed and the C library has not yet passed on."""
    library: Any = ctypes.CDLL(None)
    library.fflush(None)


def _in_a_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if "error:" in line]
    return next(iter(told or lines), "the driver gave no reason")


if __name__ == "__main__":
    sys.exit(main())
