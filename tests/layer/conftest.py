"""Programs in C, compiled by the packaged clang, that run under the recorder; and real ones if installed.

Tests that take `ffmpeg`, `clfft` or `opencl_headers` exist only where these are. Where the environment variable
`COARSEN_REQUIRED_PROGRAMS` is set, they exist anyway, and fail without: none is skipped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyopencl as cl
import pytest

from coarsen.cli.run_report import read_counts
from coarsen.devices.discovery import DeviceDescription
from coarsen.devices.drivers import linked_libraries, packaged_loader
from coarsen.frontend.clang import packaged_clang
from coarsen.layer import program as layer
from coarsen.layer.program import RecordedRun, header_options, recorded_run, substituting_environment
from coarsen.layer.recording import KernelRow
from coarsen.layer.script import Script, executable_of
from coarsen.layer.tuning import tune_rows
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.tuning.settings import Tune
from coarsen.tuning.workload.benchmark import Array
from coarsen.variant.variant import Variant
from tests.layer.remembered_kinds import remember_rows
from tests.layer.shelf_files import Row, write_unit
from tests.workload_runs import build_program, kernels_of, run_workload

LAYER = Path(layer.__file__).parent
PROGRAMS = Path(__file__).parent / "programs"
HEADERS = Path("/usr/include")
_FOUND: dict[str, Callable[[], object]] = {
    "ffmpeg": lambda: shutil.which("ffmpeg"),
    "clfft": lambda: shutil.which("clFFT-client"),
    "opencl_headers": (HEADERS / "CL" / "cl_layer.h").exists,
}
MOST_BYTES = 1 << 24
LINKERS = {"x86_64": "/lib64/ld-linux-x86-64.so.2", "aarch64": "/lib/ld-linux-aarch64.so.1"}

Record = Callable[..., RecordedRun]
Compared = Callable[..., None]
Build = Callable[..., Path]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that need what is neither there nor required."""
    if os.environ.get("COARSEN_REQUIRED_PROGRAMS"):
        return
    missing = {name for name, is_there in _FOUND.items() if not is_there()}
    dropped = [item for item in items if missing & set(getattr(item, "fixturenames", ()))]
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = [item for item in items if item not in dropped]


@pytest.fixture
def ffmpeg() -> str:
    found = shutil.which("ffmpeg")
    assert found, "ffmpeg is required"
    return found


@pytest.fixture
def clfft() -> str:
    found = shutil.which("clFFT-client")
    assert found, "clFFT-client is required"
    return found


@pytest.fixture
def opencl_headers() -> Path:
    assert (HEADERS / "CL" / "cl_layer.h").exists(), "Khronos' headers are required"
    return HEADERS


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the recorder's library is kept in, once for all tests."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def own_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    # The loader of PyOpenCL's wheel needs it.
    loader = packaged_loader()
    assert loader is not None
    monkeypatch.setenv("PYOPENCL_HOME", str(loader.parents[1]))


# Ends a program at what C leaves undefined; no library is needed for it.
TRAPS = ("-fsanitize=undefined", "-fno-sanitize=function", "-fsanitize-trap=undefined")


def compiled_program(source: Path, program: Path, *libraries: str, options: Sequence[str] = ()) -> Path:
    """Compile and link a program without a system's headers, start files or linker."""
    clang = packaged_clang()
    assert clang is not None
    unlinked = program.with_suffix(".o")
    words = (
        *options,
        *header_options(clang),
        "-std=gnu11",
        "-O1",
        "-Wall",
        "-Werror",
        "-Wno-unused-function",
        "-ffreestanding",
        "-fPIE",
        "-I",
        str(LAYER),
        "-c",
    )
    subprocess.run([*clang.command, *words, str(source), "-o", str(unlinked)], check=True)
    linker, libc = LINKERS[os.uname().machine], linked_libraries("libc.so.6")[0]
    words = ("-pie", "-dynamic-linker", linker, str(unlinked), *libraries, str(libc), "-o", str(program))
    subprocess.run([clang.command[0], "ld.lld", *words], check=True)
    return program


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """`build("arguments")` compiles a program of `programs/` with PyOpenCL's loader, once."""
    folder = tmp_path_factory.mktemp("programs with blanks")

    def build_once(name: str) -> Path:
        program, loader = folder / name, packaged_loader()
        assert loader is not None
        if not program.exists():
            compiled_program(PROGRAMS / f"{name}.c", program, str(loader), "-rpath", str(loader.parent))
        return program

    return build_once


@pytest.fixture
def record(tmp_path: Path) -> Record:
    """`record(program, *arguments, most_bytes=…)` runs it under the recorder, into `tmp_path / "recorded"`."""

    def record_here(program: Path | str, *arguments: str, most_bytes: int = MOST_BYTES) -> RecordedRun:
        script = Script(str(program), arguments)
        return recorded_run(script, executable_of(script.name), tmp_path / "recorded", most_bytes)

    return record_here


@pytest.fixture
def compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Compared:
    """Runs a recorded program with nothing of it on the shelf, with all of its kernels, and with a damaged shelf.

    Its output has to be the same each time.
    """

    @contextmanager
    def untouched(_kernel: str, settings: Tune) -> Iterator[Tune]:
        yield settings
        raise AssertionError("everything is remembered")

    def compare(device: DeviceDescription, result: RecordedRun, variant: Variant, *words: str) -> None:
        store, shelf = str(tmp_path / "choices.sqlite"), tmp_path / "units"
        rows = [row for row in result.recording.rows if not row.refusal]
        assert rows
        remember_rows(store, device, rows, variant)
        script = Script(words[0], words[1:])
        shelf.mkdir()
        write_unit(shelf, b"another", "", "", [Row("another", b"binary", 1, 1)])
        monkeypatch.setattr("coarsen.layer.tuning.WORTH_TUNING", 0.0)

        def run() -> tuple[str, int]:
            counts = Path(tempfile.mkdtemp(dir=tmp_path))
            environment = substituting_environment(script.program(), shelf)
            environment["COARSEN_COUNTS"] = str(counts / "counts")
            python = () if script.program() else (sys.executable,)
            done = subprocess.run([*python, *words], env=environment, capture_output=True, text=True, check=True)
            files = sorted(counts.iterdir())
            assert files, "the layer is there"
            counted = read_counts(0, 0.0, shelf, files)
            return done.stdout, sum(each.coarsened for each in counted.kernels)

        plain, launches = run()
        assert launches == 0
        findings = tune_rows(result.recording.rows, Tune(store=store), untouched, shelf).findings
        assert [each.reason for each in findings if not each.shelved] == [
            row.refusal for row in result.recording.rows if row.refusal
        ]
        assert run() == (plain, sum(row.launches for row in rows))
        for number, unit in enumerate(sorted(shelf.iterdir())):
            data = unit.read_bytes()
            # Cut off, or changed in the middle.
            unit.write_bytes(data[: len(data) // 2] if number % 2 else data[:300] + bytes(9) + data[309:])
        assert run() == (plain, 0)

    return compare


def platform_of(device: DeviceDescription, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the programs of `programs/` take a device's platform."""
    monkeypatch.setenv("PLATFORM", device.platform_name)


def rows_of(run: RecordedRun) -> dict[str, list[KernelRow]]:
    """The rows of a recording by kernel."""
    rows: dict[str, list[KernelRow]] = {}
    for row in run.recording.rows:
        rows.setdefault(row.kernel, []).append(row)
    return rows


def replayed(path: Path, context: cl.Context, queue: cl.CommandQueue) -> dict[str, Array]:
    """What a recorded launch writes when it is made again."""
    benchmark = find_benchmark(path)
    result = run_workload(queue, benchmark.workload("cpu"), kernels_of(build_program(context, benchmark)))
    assert not result.violated
    return result.outputs
