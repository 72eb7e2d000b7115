"""The registers that a kernel takes on an NVIDIA GPU that need not be there, as `ptxas` counts them.

Approximate: elementary functions on floats are the hardware's, a driver's compiler is another than this, and there
is no global offset. Exact is what the assembler says of the code that it wrote.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from coarsen.backend.ptx import DEFAULT_ARCHITECTURE, write_ptx
from coarsen.errors import DeviceError, InvalidInputError
from coarsen.ir.kernel import Kernel

_REGISTERS = re.compile(r"Used (\d+) registers")
_MEMORY = re.compile(r"(\d+) bytes (stack frame|spill stores|spill loads)")


@dataclass(frozen=True, slots=True)
class RegisterUse:
    """What a kernel takes on a chip.

    per_work_item: 32-bit registers of each work-item.
    scratch_bytes: private memory of a work-item, for arrays and for what did not fit into registers.
    """

    chip: str
    per_work_item: int
    scratch_bytes: int


def registers_on(kernel: Kernel, chip: str) -> RegisterUse:
    """Return the registers of a kernel on an NVIDIA GPU, as `ptxas` allocates them.

    Elementary functions on floats are approximated by the hardware's, whatever the build options.

    Args:
        kernel: the kernel, in normal form, coarsened or not.
        chip: NVIDIA's name of a compute capability, `sm_90` for one; `nvidia` for sm_75.

    Raises:
        DeviceError: there is no `ptxas`, or it does not take the target or the kernel.
        RefusalError: `ptx-unsupported`: the kernel uses what PTX has no counterpart of.
        InvalidInputError: there is no such target.
    """
    target = DEFAULT_ARCHITECTURE if chip == "nvidia" else chip
    if not target.startswith("sm_"):
        raise InvalidInputError(f"no registers are known of '{chip}', only of nvidia, sm_75 and so on")
    report = ptxas_report(write_ptx(kernel, target, approximate=True), target)
    registers = _REGISTERS.search(report)
    if registers is None:
        raise DeviceError("ptxas does not say how many registers there are")
    memory = {what: int(number) for number, what in _MEMORY.findall(report)}
    return RegisterUse(target, int(registers[1]), memory.get("stack frame", 0))


# NVIDIA's assembler `ptxas`, which allocates the registers of a PTX program and reports them, where there is one.
# It is looked for on PATH, then in NVIDIA's wheels (`nvidia-cuda-nvcc`), which carry it too.

_TIME_LIMIT_SECONDS = 60
# Since CUDA 13 the wheels share one folder per major version.
_IN_WHEELS = ("cuda_nvcc/bin/ptxas", "cu*/bin/ptxas")


def find_ptxas() -> Path | None:
    """Return the assembler, or None where there is none."""
    found = shutil.which("ptxas")
    if found:
        return Path(found)
    package = importlib.util.find_spec("nvidia")
    folders = [Path(place) for place in package.submodule_search_locations or ()] if package else []
    carried = [path for folder in folders for pattern in _IN_WHEELS for path in sorted(folder.glob(pattern))]
    return carried[-1] if carried else None


def ptxas_report(ptx: str, target: str) -> str:
    """Return what the assembler says of a program's registers and memory (`ptxas -v`).

    Args:
        ptx: the program.
        target: the compute capability, `sm_75` for one.

    Raises:
        DeviceError: there is no assembler, or it does not take the program.
    """
    assembler = find_ptxas()
    if assembler is None:
        raise DeviceError("registers on NVIDIA's GPUs are not available: there is no ptxas on PATH")
    with tempfile.TemporaryDirectory() as folder:
        program, result = Path(folder) / "kernel.ptx", Path(folder) / "kernel.cubin"
        program.write_text(ptx)
        return _output([str(assembler), "-v", f"-arch={target}", "-o", str(result), str(program)])


def _output(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=_TIME_LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        raise DeviceError(f"ptxas took more than {_TIME_LIMIT_SECONDS} seconds") from None
    except OSError as error:
        raise DeviceError(f"ptxas can't be started: {error.strerror}") from None
    output = (done.stdout + done.stderr).decode(errors="replace")
    if done.returncode != 0:
        told = [line.strip() for line in output.splitlines() if line.strip()]
        raise DeviceError(f"ptxas does not take the kernel: {told[0] if told else 'it stopped without a word'}")
    return output
