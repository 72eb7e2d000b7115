"""A pack of seconds, and a run of it in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from coarsen.opencl_bench.sweep.pack.writing import PackPart, PackRequest, PackSummary, write_pack
from coarsen.tuning.engine.plan import Space
from coarsen.tuning.records.code import Form
from coarsen.tuning.records.measurement import Method

METHOD = Method(repetitions=4, minimum_repetitions=3, interval_width=10.0)
DEVICE = "intel"
# Two local sizes; of the coarsened ones two that run and one that breaks a rule.
SPACE = Space(factors=(1, 2), strides=(1, 64), dimensions=(0,), local_sizes=((64,), (128,)))


def request(*benchmarks: str | Path, forms: tuple[Form, ...] = ("opencl_c",), space: Space = SPACE) -> PackRequest:
    """What a small pack of these is asked for."""
    return PackRequest(tuple(PackPart(each, "test", space) for each in benchmarks), forms, method=METHOD)


def make_pack(
    folder: Path, *benchmarks: str | Path, forms: tuple[Form, ...] = ("opencl_c",), space: Space = SPACE
) -> PackSummary:
    """Write a small pack of these."""
    return write_pack(request(*benchmarks, forms=forms, space=space), folder)


def command(pack: Path, output: Path, *options: str) -> list[str]:
    """The command that runs a pack on the tests' device."""
    module = "coarsen.opencl_bench.run_pack"
    return [sys.executable, "-m", module, str(pack), "-o", str(output), "--device", DEVICE, *options]


def run(
    pack: Path, output: Path, *options: str, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a pack to its end."""
    return subprocess.run(
        command(pack, output, *options),
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
