"""The study of the bank model: its cases, what is predicted of them, and that it runs on a device."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from coarsen.cost.banks.padding import Reference
from coarsen.devices.discovery import DeviceDescription
from coarsen.models.analytic.machine import Quantity
from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS
from coarsen.models.memory_devices import memory_device
from coarsen.opencl_bench.calibration.device import ProbedDevice, Settings
from coarsen.opencl_bench.studies import bank_model
from coarsen.opencl_bench.studies.bank_copies import BLOCKED, CYCLIC, EACH, STRIDED, measured_copies
from coarsen.opencl_bench.studies.bank_reads import (
    PADDED,
    PLAIN,
    XOR,
    MeasuredRead,
    ReadCase,
    agreements,
    measured_reads,
    read_cases,
)
from coarsen.opencl_bench.studies.bank_tiles import (
    measured_products,
    measured_transpositions,
    tile_degrees,
)
from coarsen.opencl_bench.studies.input_rows import exit_code_of

GPU = memory_device(DEVICE_DESCRIPTORS["h200"])
CPU = memory_device(DEVICE_DESCRIPTORS["pocl"])
FEW = Settings(repetitions=1, shortest_run=1e-6)


def degree(case: ReadCase) -> float:
    assert GPU.banks is not None
    return case.degree(GPU.lanes, GPU.banks)


@pytest.mark.parametrize("stride", bank_model.STRIDES)
def test_degree_of_plain_words_is_the_greatest_common_divisor(stride: int) -> None:
    assert degree(ReadCase(4, stride, PLAIN, stride)) == math.gcd(stride, 32)


def test_pads_and_permutations_that_are_measured_meet_as_rarely_as_the_stride_of_one() -> None:
    least = {4: 1, 8: 2, 16: 4}
    found = [case for case in read_cases(bank_model.STRIDES, GPU) if case.layout == PADDED]
    assert found and all(degree(case) == least[case.element_bytes] for case in found)
    for element_bytes, stride in ((4, 32), (8, 16), (16, 8)):
        own = [
            case
            for case in read_cases([stride], GPU)
            if case.layout == XOR and case.element_bytes == element_bytes
        ]
        assert [degree(case) for case in own] == [least[element_bytes]]


def test_without_banks_each_case_has_a_pad_of_one_element() -> None:
    cases = [case for case in read_cases([1, 3, 32], CPU) if case.layout == PADDED]
    assert [case.pitch - case.stride for case in cases] == [1] * 9


def test_a_permuted_row_holds_each_element_once() -> None:
    case = next(case for case in read_cases([16], GPU) if case.layout == XOR)
    for row in range(GPU.lanes):
        assert {case.addresses(column, GPU.lanes)[row] for column in range(16)} == {
            (row * 16 + column) * case.element_bytes for column in range(16)
        }


def test_agreement_of_times_on_a_line() -> None:
    cases = (ReadCase(4, stride, PLAIN, stride) for stride in (1, 2, 4, 8, 16, 32))
    measured = [MeasuredRead(case, degree(case), Quantity(0.5 + 2 * degree(case), 0.0), 1.0) for case in cases]
    (found,) = agreements(measured)
    assert (found.slope, found.start, found.r_squared) == pytest.approx((2.0, 0.5, 1.0))
    assert found.worst == pytest.approx(2.5)


def test_degrees_of_a_tile_that_is_read_by_columns() -> None:
    row = Reference(tuple((0, 4 * lane) for lane in range(32)), 4)
    column = Reference(tuple((lane, 0) for lane in range(32)), 4)
    found = {way: tile_degrees((row, column), 32, way, GPU) for way in (PLAIN, PADDED, XOR)}
    assert found == {PLAIN: 33, PADDED: 2, XOR: 2}
    assert tile_degrees((row, column), 32, PLAIN, CPU) is None


def test_reads_of_local_memory_run(device: DeviceDescription) -> None:
    found = measured_reads(ProbedDevice(device, FEW), CPU, (2,))
    assert not found.left_out
    assert {each.case.layout for each in found.measured} == {PLAIN, PADDED, XOR}
    assert all(each.degree is None and each.slow_down.value > 0 for each in found.measured)


def test_copies_copy_and_count_pieces(device: DeviceDescription) -> None:
    found = [*measured_copies(ProbedDevice(device, FEW), GPU, (1, 3, 8, 16), 1 << 16)]
    predicted = {(each.kind, each.number): each.predicted for each in found}
    assert [predicted[STRIDED, stride] for stride in (1, 3, 8, 16)] == [1, 3, 8, 8]
    assert [predicted[CYCLIC, each] for each in EACH] == [1, 1, 1]
    assert [predicted[BLOCKED, each] for each in EACH] == [4, 8, 8]


def test_tiles_that_coarsen_padded_are_right(device: DeviceDescription) -> None:
    probed = ProbedDevice(device, FEW)
    found = [*measured_transpositions(probed, GPU, 64), *measured_products(probed, GPU, 128)]
    assert [(each.way, each.degrees) for each in found] == [
        *(("copy", None), ("naive", None), (PLAIN, 33), (PADDED, 2), (XOR, 2)),
        *(("direct", None), (PLAIN, 33), (PADDED, 2), (XOR, 2)),
    ]


def test_the_program_adds_lines(
    tmp_path: Path, device: DeviceDescription, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bank_model, "QUICK_STRIDES", (1, 2))
    file = tmp_path / "lines.jsonl"
    words = ["--device", device.index, "--quick", "--json", str(file)]
    if len({"cpu", "gpu"} & {*device.device_types}) != 1:  # Oclgrind's says that it is both
        assert exit_code_of(lambda: bank_model.main(words)) != 0
        assert "does not say whether it is a CPU or a GPU" in capsys.readouterr().err
        return
    assert bank_model.main(words) == 0
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert {line["part"] for line in lines} == {"local reads", "copies", "tiles"}
    assert all(line["slow_down"]["value"] > 0 and line["device"] == device.name for line in lines)
    assert "Baskaran" in capsys.readouterr().out


def test_a_device_that_is_not_there_is_told_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code_of(lambda: bank_model.main(["--device", "no such device"])) != 0
    assert capsys.readouterr().err.startswith("error: ")
