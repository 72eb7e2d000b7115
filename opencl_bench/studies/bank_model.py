"""The bank model against measurement, and what Baskaran et al. measured of memory, on this device.

python -m coarsen.opencl_bench.studies.bank_model --device NAME [--json FILE] [--quick]

1. Reads of local memory at strides of 1 to 33 and 64 elements of 4, 8 and 16 bytes, plain, padded and permuted:
   the slow-down over stride 1 beside the bank degree that coarsen predicts, and the line through both.
2. Copies at strides 1 to 32, blocked and cyclic ones (Baskaran et al. 2008, figure 1 and table 1).
3. Transpositions and matrix-vector products without a tile, with one, and with one that coarsen padded (table 2).

All are ratios in turns in one process. With `--json` each becomes a line of JSON. A device without banks is
measured all the same, and nothing is predicted of its local memory.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from coarsen.cost.locality.device import MemoryDevice
from coarsen.devices.selection import find_device
from coarsen.devices.targets import target_of_installed
from coarsen.models.memory_devices import memory_device
from coarsen.opencl_bench.calibration.device import ProbedDevice, Settings
from coarsen.opencl_bench.studies.bank_copies import measured_copies
from coarsen.opencl_bench.studies.bank_reads import agreements, measured_reads
from coarsen.opencl_bench.studies.bank_sources import PRODUCT_ITEMS
from coarsen.opencl_bench.studies.bank_tiles import MeasuredTile, measured_products, measured_transpositions
from coarsen.opencl_bench.studies.input_rows import exit_code_of
from coarsen.opencl_bench.studies.input_runs import add_lines
from coarsen.opencl_bench.studies.input_tables import show
from coarsen.opencl_bench.sweep.device_lock import device_lock

STRIDES = (*range(1, 34), 64)
COPY_STRIDES = tuple(range(1, 33))
QUICK_STRIDES = (1, 2, 8)
# Of Baskaran et al., tables 1 and 2, on a GeForce 8800 GTX: GB/s of one group's reads, GFLOPS by matrix size.
PAPER_ACCESS = {
    2048: (4.11, 22.91),
    4096: (4.78, 37.98),
    8192: (5.11, 48.20),
    16384: (5.34, 56.50),
    32768: (6.43, 68.51),
}
PAPER_PRODUCT = {
    4096: (0.43, 5.61, 13.18),
    5120: (0.48, 5.79, 13.87),
    6144: (0.35, 6.04, 14.37),
    7168: (0.30, 5.78, 13.86),
    8192: (0.24, 5.52, 13.63),
}
Line = dict[str, Any]


class Study:
    """The three parts on a device, each of which prints a table and gives lines.

    Args:
        probed: the device.
        machine: how it reaches memory.
        is_quick: little memory, few strides and sizes: for a try.
    """

    def __init__(self, probed: ProbedDevice, machine: MemoryDevice, *, is_quick: bool = False) -> None:
        self._probed, self._machine, self._is_quick = probed, machine, is_quick

    def lines(self) -> Iterator[Line]:
        """Yield a line for everything that is measured, and print tables."""
        yield from self._reads()
        yield from self._copies()
        yield from self._tiles()

    def _reads(self) -> Iterator[Line]:
        print("\nReads of local memory: slow-down over 4 bytes at stride 1, in turns")
        found = measured_reads(self._probed, self._machine, QUICK_STRIDES if self._is_quick else STRIDES)
        rows = (
            [
                str(each.case.element_bytes),
                str(each.case.stride),
                each.case.layout,
                "–" if each.degree is None else f"{each.degree:g}",
                f"{each.slow_down.value:.2f}",
            ]
            for each in found.measured
        )
        show(["bytes", "stride", "layout", "degree", "slow-down"], rows)
        for case in found.left_out:
            print(f"left out: {case}: no room in local memory")
        for each in found.measured:
            yield {"part": "local reads", **asdict(each)}
        for line in agreements(found.measured):
            print(
                f"{line.element_bytes} bytes: slow-down = {line.start:.2f} + {line.slope:.2f} · degree, "
                f"R² {line.r_squared:.3f}; measured over predicted {line.mean_ratio:.2f}, worst {line.worst:.2f}"
            )
            yield {"part": "agreement", **asdict(line)}

    def _copies(self) -> Iterator[Line]:
        print(f"\nCopies: pieces are {self._machine.piece}s of {self._machine.piece_bytes} bytes")
        found = [*measured_copies(self._probed, self._machine, *self._copy_settings())]
        rows = (
            [
                each.kind,
                str(each.number),
                f"{each.predicted:.2f}",
                f"{each.slow_down.value:.2f}",
                f"{each.gigabytes:.1f}",
            ]
            for each in found
        )
        show(["copy", "stride or elements each", "pieces", "slow-down", "GB/s"], rows)
        for elements, (blocked, cyclic) in PAPER_ACCESS.items():
            print(f"Baskaran et al., {elements} reads of one group: blocked {blocked} GB/s, cyclic {cyclic} GB/s")
        for each in found:
            yield {"part": "copies", **asdict(each)}

    def _tiles(self) -> Iterator[Line]:
        if self._probed.description.max_work_group_size < PRODUCT_ITEMS:
            print(f"\nleft out: tiles, for the device has no groups of {PRODUCT_ITEMS} work-items")
            return
        transposed, products = self._sizes()
        found: list[MeasuredTile] = []
        for size in transposed:
            found += measured_transpositions(self._probed, self._machine, size)
        for size in products:
            found += measured_products(self._probed, self._machine, size)
        rows = (
            [
                each.task,
                str(each.size),
                each.way,
                "–" if each.degrees is None else str(each.degrees),
                f"{each.slow_down.value:.2f}",
                f"{1e3 * each.seconds:.3f}",
                _paper(each),
            ]
            for each in found
        )
        print("\nTiles: time over a copy's (transposition) or over the product's without a tile")
        show(["task", "size", "way", "degrees", "time", "ms", "Baskaran et al."], rows)
        for each in found:
            yield {"part": "tiles", **asdict(each)}

    def _copy_settings(self) -> tuple[Sequence[int], int]:
        """The strides of copies, and the bytes of a buffer: more than any cache holds."""
        if self._is_quick:
            return QUICK_STRIDES, 1 << 18
        most = 1 << 29 if self._probed.is_gpu else 1 << 27
        return COPY_STRIDES, min(most, 1 << self._probed.largest_buffer.bit_length() - 1)

    def _sizes(self) -> tuple[Sequence[int], Sequence[int]]:
        """The sizes of matrices to transpose and to multiply."""
        if self._is_quick:
            return (64,), (128,)
        return ((2048, 8192), tuple(PAPER_PRODUCT)) if self._probed.is_gpu else ((2048, 4096), (4096, 6144))


def _paper(each: MeasuredTile) -> str:
    """The paper's time over its direct product's, of the same size."""
    if each.task != "product" or each.size not in PAPER_PRODUCT:
        return ""
    direct, plain, padded = PAPER_PRODUCT[each.size]
    of_way = {"direct": direct, "plain": plain, "padded": padded}.get(each.way)
    return "" if of_way is None else f"{direct / of_way:.3f}"


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print tables, and keep lines."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--device", required=True, help="part of its name")
    parser.add_argument("--json", type=Path, metavar="FILE", help="a line for each number, added to a file")
    parser.add_argument("--quick", action="store_true", help="little of everything, for a try")
    asked = parser.parse_args(words)
    device = find_device(asked.device)
    machine = memory_device(target_of_installed(device).descriptor)
    settings = Settings(repetitions=3, shortest_run=1e-4) if asked.quick else Settings()
    print(f"{device}; {machine.assumed or machine.piece}")
    about = {
        "device": device.name,
        "driver": device.driver_version,
        "platform": device.platform_name,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    with device_lock(device):
        for line in Study(ProbedDevice(device, settings), machine, is_quick=asked.quick).lines():
            if asked.json:
                add_lines(asked.json, [json.dumps({**about, **line})])
    return 0


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
