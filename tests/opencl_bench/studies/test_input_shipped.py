"""What made-up rows ship: the bytes of their files, the size of their code, random launches of it."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pyopencl as cl
import pytest

from coarsen.devices.selection import find_device
from coarsen.opencl_bench.inputs.drawing import is_within
from coarsen.opencl_bench.measure.machine import Executor, LaunchError
from coarsen.opencl_bench.measure.opencl_machine import OpenClMachine
from coarsen.opencl_bench.records.code import Code
from coarsen.opencl_bench.studies.input_code import CodeSizes, lines, run_lines, text_bytes
from coarsen.opencl_bench.studies.input_files import main as compare_files
from coarsen.opencl_bench.studies.input_launches import Launcher, drawn_size
from coarsen.opencl_bench.studies.input_rows import StoredKernel, of_rows
from coarsen.opencl_bench.studies.input_runs import add_lines, read_runs
from coarsen.opencl_bench.studies.input_shipped import ShippedKernel, VersionCodes, file_of
from coarsen.opencl_bench.workloads.benchmark import Workload
from coarsen.opencl_bench.workloads.input_space import InputSpace
from coarsen.opencl_bench.workloads.lookup import adaptive_kernel
from tests.opencl_bench.studies.adaptive_rows import crossing, rows_of

KERNEL = adaptive_kernel("adaptive-dwtHaar1D")


@pytest.fixture(scope="module")
def stored() -> StoredKernel:
    (found,) = of_rows(KERNEL, rows_of(KERNEL, crossing))
    return found


def test_texts_that_versions_share_are_carried_once() -> None:
    plain = Code("opencl_c", "k", "source", ("-DA=1",))
    other = Code("opencl_c", "k", "source", ("-DA=2",))
    coarsened = Code("opencl_c", "k", "coarsened", (), others=(plain,))
    assert text_bytes([plain, other]) == 6
    assert text_bytes([plain, coarsened]) == 15


def test_the_mean_and_the_most_of_the_code_are_told(tmp_path: Path) -> None:
    found = [CodeSizes("one", 2, 1.0, 2.0), CodeSizes("two", 4, 2.0, 4.0)]
    assert [*lines(found)][-2:] == ["| mean |  | 1.50 | 3.00 |", "| most |  | 2.00 | 4.00 |"]
    add_lines(tmp_path / "runs", run_lines(found, "Intel"))
    assert {run.criterion: run.value for run in read_runs([tmp_path / "runs"])} == {
        "I2": 1.5,
        "I3": 2.0,
        "I2b": 3.0,
        "I3b": 4.0,
    }


def test_files_of_two_processes_are_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = iter([{"one": "a", "two": "b"}, {"one": "a", "two": "c"}])
    monkeypatch.setattr("coarsen.opencl_bench.studies.input_files.in_a_process", lambda *_: next(made))
    device = find_device("pocl")
    runs = tmp_path / "runs"
    assert compare_files(["store", "--device", device.index, "--json", str(runs)]) == 1
    assert capsys.readouterr().out == "2 tuned files, 1 with other bytes two\n"
    assert json.loads(runs.read_text()) == {"criterion": "17c", "device": device.platform_name, "value": 1}


def test_drawn_sizes_are_within_the_space() -> None:
    space = InputSpace(
        {"n": (16, 4096), "m": (2, 64), "k": (16, 256)},
        limits=("n * m <= 4096",),
        contents=({"skew": 0}, {"skew": 500}),
        multiples={"k": 16},
        powers_of_two=frozenset({"m"}),
        fixed={"bins": 7},
    )
    draw = random.Random(0)
    found = [drawn_size(space, draw) for _ in range(50)]
    assert all(is_within(space, size) and 16 <= size["n"] <= 4096 for size in found)
    assert all(size["m"].bit_count() == 1 and size["k"] % 16 == 0 and size["bins"] == 7 for size in found)
    assert {size["skew"] for size in found} == {0, 500} and len({size["n"] for size in found}) > 25


@pytest.mark.compiled_devices
def test_launches_of_what_is_shipped_are_counted(stored: StoredKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    device = find_device("pocl")
    shipped = ShippedKernel(stored, file_of(stored, device))
    assert len(shipped.file.versions) == 3
    compiled = VersionCodes()
    codes = tuple(compiled.of(stored, version.variant) for version in shipped.file.versions)
    machine = OpenClMachine(device)
    right = Launcher(shipped, machine, codes).count(10)
    assert (right.launches, right.fell_back, right.wrong, right.outside) == (10, 0, [], [])
    # Code that does nothing is wrong wherever it is launched, and is built once.
    built: list[str] = []
    machine = OpenClMachine(device)

    def build(context: cl.Context, source: str, options: tuple[str, ...]) -> cl.Program:
        built.append(source)
        program: cl.Program = cl.Program(context, source).build([*options])
        return program

    monkeypatch.setattr("coarsen.opencl_bench.measure.opencl_machine.build_uncached", build)
    text = codes[0].content
    assert isinstance(text, str)
    empty = Code("opencl_c", codes[0].kernel, f"{text[: text.index('{')]}{{}}", codes[0].options)
    wrong = Launcher(shipped, machine, (empty,) * 3).count(10)
    assert wrong.launches == 10 and wrong.wrong and len(built) == 1


@pytest.mark.compiled_devices
def test_an_argument_that_is_of_the_contents_is_that_of_the_drawn_ones() -> None:
    # The key that binarySearch looks for is one of the elements.
    kernel, device = adaptive_kernel("adaptive-binarySearch"), find_device("pocl")
    (found,) = of_rows(kernel, rows_of(kernel, crossing))
    shipped = ShippedKernel(found, file_of(found, device))
    compiled = VersionCodes()
    codes = tuple(compiled.of(found, version.variant) for version in shipped.file.versions)
    counts = Launcher(shipped, OpenClMachine(device), codes).count(10)
    assert (counts.launches, counts.wrong, counts.outside) == (10, [], [])


class BrokenMachine(OpenClMachine):
    """A device that takes no workload."""

    def __init__(self) -> None:
        """Open nothing."""

    def place(self, workload: Workload) -> Executor:
        """Refuse it."""
        raise LaunchError("the device is gone")


@pytest.mark.compiled_devices
def test_a_launch_that_fails_counts_once_and_as_wrong(stored: StoredKernel) -> None:
    shipped = ShippedKernel(stored, file_of(stored, find_device("pocl")))
    found = Launcher(shipped, BrokenMachine(), ()).count(7)
    assert (found.launches, len(found.wrong), found.fell_back) == (7, 7, 0)
    assert found.wrong[0].endswith("the device is gone")
