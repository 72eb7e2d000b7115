"""The bank model against a GPU's own counters, which Nsight Compute reads.

python -m coarsen.opencl_bench.studies.bank_counters [--device INDEX] [--ncu PROGRAM] [--json FILE]

    the reads of `bank_reads`, as coarsen's PTX ─▶ one sub-group, launched by NVIDIA's driver ─▶ ncu
    ─▶ wavefronts of each read, beside the bank degree that coarsen predicts

A wavefront is one pass through the banks: a read without conflicts takes one of 4 bytes, two of 8, four of 16.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from coarsen.backend.ptx import write_ptx
from coarsen.errors import DeviceError
from coarsen.frontend.lower import lower
from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS
from coarsen.models.memory_devices import memory_device
from coarsen.opencl_bench.calibration.device import NEVER
from coarsen.opencl_bench.studies.bank_model import STRIDES
from coarsen.opencl_bench.studies.bank_reads import (
    ELEMENTS,
    READS,
    ReadCase,
    macros_of,
    read_cases,
    source_of_reads,
)
from coarsen.opencl_bench.studies.input_rows import exit_code_of
from coarsen.opencl_bench.studies.input_runs import add_lines
from coarsen.opencl_bench.studies.input_tables import show

MACHINE = memory_device(DEVICE_DESCRIPTORS["h200"])
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
_ROUNDS = 64
# Static local memory of a kernel in PTX.
_MOST_BYTES = 48 << 10
_LAUNCH = "--launch"
_MODULE = "coarsen.opencl_bench.studies.bank_counters"


@dataclass(frozen=True, slots=True)
class CountedRead:
    """A case, its predicted bank degree, and the wavefronts of a read that were counted."""

    case: ReadCase
    degree: float
    wavefronts: float


@dataclass(frozen=True, slots=True)
class CountedAgreement:
    """How well degrees tell wavefronts, of one element size.

    Attributes:
        element_bytes: of an element.
        cases: how many.
        equal: of how many the degree is the number of wavefronts, to a hundredth.
        rank: Spearman's correlation of both.
        worst: the ratio of wavefronts to degree that is farthest from 1.
    """

    element_bytes: int
    cases: int
    equal: int
    rank: float
    worst: float


def counted_cases() -> list[ReadCase]:
    """Return the cases that are launched, in their order."""
    cases = read_cases(STRIDES, MACHINE)
    return [case for case in cases if case.pitch * case.element_bytes * MACHINE.lanes <= _MOST_BYTES]


def launch_all(device: int) -> None:
    """Launch every case once, under a profiler that counts.

    Args:
        device: the driver's number.

    Raises:
        DeviceError: there is no such device.
        LaunchError: it can't be used.
    """
    # NVIDIA's driver is asked for where it is needed: the other half of the program reads text.
    from coarsen.opencl_bench.measure.cuda_driver import DeviceMemory, Module
    from coarsen.opencl_bench.measure.cuda_machine import CudaMachine
    from coarsen.opencl_bench.studies.bank_launches import launch_once

    machine = CudaMachine(device)
    sink = DeviceMemory(64)
    for element_bytes, cases in _by_size(counted_cases()).items():
        module = Module(ptx_of(element_bytes, max(case.pitch for case in cases), machine.description.architecture))
        function = module.function("rows")
        for case in cases:
            numbers = map(np.uint32, (_ROUNDS, case.pitch, case.mask, case.stride))
            launch_once(machine.stream, function, MACHINE.lanes, (*numbers, np.uint64(sink.address), NEVER))


def ptx_of(element_bytes: int, pitch: int, architecture: str) -> str:
    """Return the kernel of one element size as PTX.

    Args:
        element_bytes: of an element.
        pitch: the most elements from one row to the next.
        architecture: such as `sm_90`.
    """
    options = [f"-D{macro}={value}" for macro, value in macros_of(element_bytes, MACHINE.lanes, pitch).items()]
    return write_ptx(lower(source_of_reads(element_bytes), "rows", options), architecture)


def counted(text: str) -> list[CountedRead]:
    """Return the cases with what was counted.

    Args:
        text: a line of CSV for each launch, as ncu writes it, after lines of its own.

    Raises:
        DeviceError: it does not have all cases.
    """
    lines = text.splitlines()
    start = next((number for number, line in enumerate(lines) if line.startswith('"ID"')), len(lines))
    rows = [row for row in csv.DictReader(lines[start:]) if row["ID"]]  # the row of units has no number
    cases = [case for own in _by_size(counted_cases()).values() for case in own]
    if len(rows) != len(cases) or not all(row.get(WAVEFRONTS) for row in rows):
        told = " ".join(lines[-1].split())[:200] if lines else "nothing"
        raise DeviceError(f"ncu counted {len(rows)} of {len(cases)} launches; it said: {told}")
    numbers = (float(row[WAVEFRONTS].replace(",", "")) / (_ROUNDS * READS) for row in rows)
    assert MACHINE.banks is not None
    return [
        CountedRead(case, case.degree(MACHINE.lanes, MACHINE.banks), number)
        for case, number in zip(cases, numbers, strict=True)
    ]


def agreements(found: Sequence[CountedRead]) -> Iterator[CountedAgreement]:
    """Yield the agreement for each element size."""
    for element_bytes in ELEMENTS:
        own = [each for each in found if each.case.element_bytes == element_bytes]
        degrees, wavefronts = (
            np.array(each) for each in zip(*((e.degree, e.wavefronts) for e in own), strict=True)
        )
        ratios = wavefronts / degrees
        yield CountedAgreement(
            element_bytes,
            len(own),
            int(np.sum(np.abs(wavefronts - degrees) < 0.01)),
            float(spearmanr(degrees, wavefronts).statistic),
            float(ratios[np.argmax(np.abs(np.log(ratios)))]),
        )


def _by_size(cases: Sequence[ReadCase]) -> dict[int, list[ReadCase]]:
    return {size: [case for case in cases if case.element_bytes == size] for size in ELEMENTS}


def run_ncu(program: str, device: int) -> str:
    """Return what ncu prints of all launches. Raises DeviceError where it fails, or isn't there."""
    own = [sys.executable, "-m", _MODULE, _LAUNCH, "--device", str(device)]
    command = [program, "--csv", "--page", "raw", "--metrics", WAVEFRONTS, *own]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise DeviceError(
            f"{program} can't be started ({error.strerror}): it is NVIDIA's Nsight Compute"
        ) from None
    if done.returncode:
        raise DeviceError(f"{program} failed: {' '.join((done.stderr or done.stdout).split())[-300:]}")
    return done.stdout


def main(words: Sequence[str] | None = None) -> int:
    """Count, print a table, and keep lines."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--device", type=int, default=0, metavar="INDEX", help="the driver's number; 0")
    parser.add_argument("--ncu", default="ncu", metavar="PROGRAM", help="Nsight Compute's command line")
    parser.add_argument("--json", type=Path, metavar="FILE", help="a line for each number, added to a file")
    parser.add_argument(_LAUNCH, action="store_true", help="launch the cases and do nothing else; ncu runs this")
    asked = parser.parse_args(words)
    if asked.launch:
        launch_all(asked.device)
        return 0
    found = counted(run_ncu(asked.ncu, asked.device))
    rows = (
        [
            str(each.case.element_bytes),
            str(each.case.stride),
            each.case.layout,
            f"{each.degree:g}",
            f"{each.wavefronts:.2f}",
        ]
        for each in found
    )
    show(["bytes", "stride", "layout", "degree", "wavefronts of a read"], rows)
    lines = [{"part": "wavefronts", **asdict(each)} for each in found]
    for each in agreements(found):
        print(
            f"{each.element_bytes} bytes: equal in {each.equal} of {each.cases} cases, rank correlation "
            f"{each.rank:.3f}, worst ratio {each.worst:.2f}"
        )
        lines.append({"part": "agreement of wavefronts", **asdict(each)})
    if asked.json:
        add_lines(asked.json, [json.dumps(line) for line in lines])
    return 0


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
