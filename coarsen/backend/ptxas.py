"""NVIDIA's assembler `ptxas`, where there is one: it allocates the registers of a PTX program and reports them.

It is looked for on PATH, then in NVIDIA's wheels (`nvidia-cuda-nvcc`), which carry it too.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import tempfile
from pathlib import Path

from coarsen.errors import DeviceError

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
