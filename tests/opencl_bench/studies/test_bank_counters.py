"""Counters of a GPU beside the bank model: what ncu writes is read, and its kernels are PTX."""

from __future__ import annotations

import pytest

from coarsen.errors import DeviceError
from coarsen.opencl_bench.studies import bank_counters
from coarsen.opencl_bench.studies.bank_counters import WAVEFRONTS, CountedRead, agreements, counted, ptx_of
from coarsen.opencl_bench.studies.bank_reads import ELEMENTS, READS, ReadCase
from coarsen.opencl_bench.studies.input_rows import exit_code_of

CASES = sorted(bank_counters.counted_cases(), key=lambda case: case.element_bytes)


def degree(case: ReadCase) -> float:
    assert bank_counters.MACHINE.banks is not None
    return case.degree(bank_counters.MACHINE.lanes, bank_counters.MACHINE.banks)


def printed(wavefronts: list[float]) -> str:
    lines = [f'"{number}","rows","{value * READS * 64:,.2f}"' for number, value in enumerate(wavefronts)]
    head = ["==PROF== Connected to process 7", "", f'"ID","Kernel Name","{WAVEFRONTS}"', '"","",""']
    return "\n".join([*head, *lines])


def test_counters_that_are_as_predicted() -> None:
    found = counted(printed([degree(case) for case in CASES]))
    assert [each.case for each in found] == CASES
    assert max(each.wavefronts for each in found) == 32
    for each in agreements(found):
        assert each.equal == each.cases
        assert (each.rank, each.worst) == pytest.approx((1, 1))


def test_counters_that_are_not() -> None:
    found = [CountedRead(case, degree(case), 33 - degree(case)) for case in CASES]
    assert all(each.rank == pytest.approx(-1) and each.equal == 0 for each in agreements(found))


@pytest.mark.parametrize("text", ["", "==ERROR== no counters\n", printed([1.0])])
def test_a_launch_that_was_not_counted(text: str) -> None:
    with pytest.raises(DeviceError, match=rf"ncu counted [01] of {len(CASES)} launches"):
        counted(text)


@pytest.mark.parametrize("element_bytes", ELEMENTS)
def test_reads_are_of_whole_elements(element_bytes: int) -> None:
    form = {4: "b32", 8: "v2.b32", 16: "v4.b32"}[element_bytes]
    assert ptx_of(element_bytes, 33, "sm_90").count(f"ld.volatile.shared.{form}") == READS


def test_without_ncu(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code_of(lambda: bank_counters.main(["--ncu", "no-such-ncu"])) != 0
    assert "no-such-ncu can't be started" in capsys.readouterr().err
