"""Try libclc's bitcode in place of this package's own definitions of OpenCL's builtins for PTX.

    python -m coarsen.opencl_bench.studies.libclc nvptx64--.bc

libclc is LLVM's library of OpenCL's builtins. Debian has it as `libclc-22`, whose version must be that of LLVM in
llvmlite; the file lies in /usr/lib/clc. For each elementary function, in a kernel that calls it in full precision:
the registers that NVIDIA's assembler gives the kernel, and the error of the function, run on this computer. Then,
for benchmarks that the PTX writer refuses without `-cl-fast-relaxed-math`, the processor time to write PTX with
approximations and with libclc. `docs/explanation/own-builtins.md` says what was found.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from coarsen.backend.builtin_library import with_definitions
from coarsen.backend.ptx import _library, write_ptx
from coarsen.backend.ptx_retarget import retargeted
from coarsen.backend.ptxas import ptxas_report
from coarsen.errors import CoarsenError
from coarsen.frontend.lower import lower
from coarsen.ir.graph.printer import module_text
from coarsen.ir.kernel import Kernel
from coarsen.opencl_bench.studies.libclc_accuracy import Function, worst_errors
from coarsen.opencl_bench.studies.libclc_linking import linked_ptx
from coarsen.opencl_bench.workloads.lookup import SUITE

NAMES = ("sin", "cos", "tan", "exp", "exp2", "exp10", "log", "log2", "log10", "pow", "atan2", "erf", "tgamma")
FUNCTIONS = tuple(Function(name, type_) for name in NAMES for type_ in ("float", "double"))
BENCHMARKS = ("blackscholes", "mriQ", "sobel")
_REGISTERS = re.compile(r"Compiling entry function '(\w+)'.*?Used (\d+) registers", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a benchmark's PTX costs: processor seconds to write it, and the registers of the kernel."""

    seconds: float
    registers: int


def registers_of(ptx: str, architecture: str) -> dict[str, int]:
    """Return the registers of each kernel of a PTX program. Raises DeviceError if `ptxas` refuses it."""
    return {name: int(count) for name, count in _REGISTERS.findall(ptxas_report(ptx, architecture))}


def functions_ptx(library: bytes, architecture: str) -> str:
    """Return PTX with a kernel for each elementary function, named after it."""
    text = "".join(_calling(function) for function in FUNCTIONS)
    return linked_ptx(text, library, {_kernel_name(function) for function in FUNCTIONS}, architecture)


def precise_ptx(kernel: Kernel, library: bytes, architecture: str) -> str:
    """Return a kernel's PTX with libclc's elementary functions, and all else defined as the PTX writer does."""
    text = with_definitions(module_text(kernel.graph), _library(frozenset()), kernel.structures)
    return linked_ptx(retargeted(text, kernel), library, {kernel.name}, architecture)


def benchmark_costs(library: bytes, architecture: str) -> Iterator[tuple[str, Cost, Cost]]:
    """Write each benchmark's PTX with approximations, then with libclc."""
    for name in BENCHMARKS:
        benchmark = SUITE[name]
        kernel = lower(benchmark.code, benchmark.kernel, benchmark.build_options)
        started = time.process_time()
        approximate = write_ptx(kernel, architecture, approximate=True)
        between = time.process_time()
        precise = precise_ptx(kernel, library, architecture)
        ended = time.process_time()
        before, after = (registers_of(ptx, architecture)[kernel.name] for ptx in (approximate, precise))
        yield name, Cost(between - started, before), Cost(ended - between, after)


def _kernel_name(function: Function) -> str:
    return f"{function.name}_{function.type_}"


def _calling(function: Function) -> str:
    """Return the text of a kernel that calls a function."""
    type_ = function.type_
    loads = "".join(
        f"  %a{k} = getelementptr {type_}, ptr addrspace(1) %p, i64 {k}\n"
        f"  %x{k} = load {type_}, ptr addrspace(1) %a{k}\n"
        for k in range(function.count)
    )
    return (
        f"{function.declaration}define ptx_kernel void @{_kernel_name(function)}(ptr addrspace(1) %p) {{\n"
        f"{loads}{function.call}  store {type_} %y, ptr addrspace(1) %p\n  ret void\n}}\n"
    )


def main(words: Sequence[str] | None = None) -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("library", type=Path, help="libclc's bitcode for nvptx64--")
    parser.add_argument("--architecture", default="sm_75")
    given = parser.parse_args(words)
    library = given.library.read_bytes()
    console = Console(width=120)
    registers = registers_of(functions_ptx(library, given.architecture), given.architecture)
    errors = worst_errors(library, FUNCTIONS)
    functions = Table("function", "type", "registers", "worst error in ulp")
    for function in FUNCTIONS:
        count = str(registers[_kernel_name(function)])
        functions.add_row(function.name, function.type_, count, f"{errors[function]:.2f}")
    console.print(functions)
    benchmarks = Table("benchmark", "s approximate", "s libclc", "registers approximate", "registers libclc")
    for name, before, after in benchmark_costs(library, given.architecture):
        times = (f"{before.seconds:.3f}", f"{after.seconds:.3f}")
        benchmarks.add_row(name, *times, str(before.registers), str(after.registers))
    console.print(benchmarks)


if __name__ == "__main__":
    try:
        main()
    except (CoarsenError, OSError) as error:
        raise SystemExit(f"libclc: {error}") from None
