"""Criteria I2 and I3: how much code the shipped versions of a kernel are, over that of the default version.

python -m coarsen.opencl_bench.studies.input_code STORE … --device NAME [--kernels NAME …] [--json FILE]

OpenCL C    the texts that a program must carry: versions that differ in macros or local sizes alone share one
binaries    of the device's own compiler, each version's
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import pyopencl as cl

from coarsen.devices.selection import find_device
from coarsen.opencl_bench.measure.opencl_machine import OpenClMachine
from coarsen.opencl_bench.records.code import Code
from coarsen.opencl_bench.studies.input_command import device_parser, say_no_rows
from coarsen.opencl_bench.studies.input_rows import exit_code_of
from coarsen.opencl_bench.studies.input_runs import add_lines, run_line
from coarsen.opencl_bench.studies.input_shipped import VersionCodes, shipped_kernels
from coarsen.opencl_bench.studies.input_tables import table


@dataclass(frozen=True, slots=True)
class CodeSizes:
    """The bytes of a kernel's code.

    Attributes:
        kernel: its name.
        versions: how many are shipped.
        texts: of all versions' OpenCL C over the default version's.
        binaries: the same of the device's binaries.
    """

    kernel: str
    versions: int
    texts: float
    binaries: float


def text_bytes(codes: Sequence[Code]) -> int:
    """Return the bytes of different texts, those of other kernels' programs among them."""
    programs = [program for code in codes for program in (code, *code.others)]
    return sum(map(len, {_bytes(program.content) for program in programs}))


def _bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


def binary_bytes(machine: OpenClMachine, codes: Sequence[Code]) -> int:
    """Return the bytes of the device's binaries of different programs. Raises BuildError."""
    programs = {(_bytes(p.content), p.options): p for code in codes for p in (code, *code.others)}
    return sum(_binary_bytes(machine, program) for program in programs.values())


def _binary_bytes(machine: OpenClMachine, program: Code) -> int:
    return sum(map(len, cast("list[bytes]", machine.build(program).get_info(cl.program_info.BINARIES))))


def measured(stores: Sequence[str], names: Sequence[str], device: str) -> Iterator[CodeSizes]:
    """Yield the sizes of each kernel's code. Raises as `shipped_kernels` does, and BuildError."""
    found = find_device(device)
    machine, compiled = OpenClMachine(found), VersionCodes()
    for each in shipped_kernels(stores, names, found):
        codes = [compiled.of(each.stored, version.variant) for version in each.file.versions]
        own = [codes[each.file.default]]
        yield CodeSizes(
            each.stored.kernel.name,
            len(codes),
            text_bytes(codes) / text_bytes(own),
            binary_bytes(machine, codes) / binary_bytes(machine, own),
        )


def lines(found: Sequence[CodeSizes]) -> Iterator[str]:
    """Yield the table of some kernels, with the mean and the most."""
    rows = [[each.kernel, str(each.versions), f"{each.texts:.2f}", f"{each.binaries:.2f}"] for each in found]
    texts, binaries = [each.texts for each in found], [each.binaries for each in found]
    rows.append(["mean", "", f"{np.mean(texts):.2f}", f"{np.mean(binaries):.2f}"])
    rows.append(["most", "", f"{max(texts):.2f}", f"{max(binaries):.2f}"])
    yield from table(["kernel", "versions", "OpenCL C", "binaries"], rows)


def run_lines(found: Sequence[CodeSizes], device: str) -> Iterator[str]:
    """Yield the lines that `input_acceptance --runs` reads."""
    for suffix, values in (("", [each.texts for each in found]), ("b", [each.binaries for each in found])):
        yield run_line(f"I2{suffix}", device, float(np.mean(values)))
        yield run_line(f"I3{suffix}", device, max(values))


def main(words: Sequence[str] | None = None) -> int:
    """Print the table of a device."""
    parser = device_parser(__doc__, "the numbers of I2 and I3")
    asked = parser.parse_args(words)
    found = [*measured(asked.stores, asked.kernels, asked.device)]
    if not found:
        say_no_rows()
        return 1
    print("\n".join(lines(found)))
    if asked.json:
        add_lines(asked.json, run_lines(found, find_device(asked.device).platform_name))
    return 0


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
