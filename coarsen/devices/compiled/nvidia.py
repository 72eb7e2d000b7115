"""NVIDIA's driver: what its assembler says with `-cl-nv-verbose`, and PTX, which its programs' binaries are.

    ptxas info    : Compiling entry function 'scale' for 'sm_90'
    ptxas info    : Function properties for scale
        48 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads
    ptxas info    : Used 21 registers, used 1 barriers, 1024 bytes smem, 380 bytes cmem[0]

The driver keeps a cache of what it has compiled, and has no log of what it finds there: `CUDA_CACHE_DISABLE`.
"""

from __future__ import annotations

import re
from dataclasses import replace

from coarsen.devices.compiled.build import Build
from coarsen.models.compiled.facts import CompiledFacts
from coarsen.models.compiled.occupancy import CAPABILITIES, occupancy_of

OPTIONS = ("-cl-nv-verbose",)
VARIABLES = (("CUDA_CACHE_DISABLE", "1"),)

_FUNCTION = re.compile(r"(?:Compiling entry function|Function properties for) '?([\w$.]+)'?")
_REGISTERS = re.compile(r"Used (\d+) registers")
_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores")
# In old versions the static part and that of arguments stand apart: `1024+16 bytes smem`.
_SHARED = re.compile(r"(\d+)(?:\+(\d+))? bytes smem")
_STATEMENT = re.compile(r"^\s*(?:@!?%\w+\s+)?[a-z][\w.]*\s[^;]*;|^\s*(?:ret|exit|trap);", re.MULTILINE)


def nvidia_facts(build: Build) -> CompiledFacts:
    """Return the facts of a kernel that NVIDIA's driver has built."""
    facts = _facts_of_log(_log_of(build))
    facts = replace(facts, instructions=_ptx_instructions(build.binary, build.program.kernel))
    limits = CAPABILITIES.get(build.capability) if build.capability is not None else None
    if limits is None or not build.program.local_size:
        return facts
    return replace(facts, occupancy=occupancy_of(facts, build.program.local_size, limits))


def _log_of(build: Build) -> str:
    """The part of the log on the kernel; all of it where no function is named and there is one kernel."""
    names = list(_FUNCTION.finditer(build.log))
    if not names:
        return build.log if build.is_of_one_kernel else ""
    ends = [name.start() for name in names[1:]] + [len(build.log)]
    parts = zip(names, ends, strict=True)
    return "".join(build.log[name.start() : end] for name, end in parts if name[1] == build.program.kernel)


def _facts_of_log(log: str) -> CompiledFacts:
    registers, frame, shared = _REGISTERS.search(log), _FRAME.search(log), _SHARED.search(log)
    if registers is None:
        return CompiledFacts()
    return CompiledFacts(
        registers=int(registers[1]),
        frame_bytes=int(frame[1]) if frame else None,
        spilled_bytes=int(frame[2]) if frame else None,
        local_bytes=int(shared[1]) + int(shared[2] or 0) if shared else 0,
    )


def _ptx_instructions(binary: bytes, kernel: str) -> int | None:
    """The number of a kernel's instructions in PTX; None where the binary is none or lacks the kernel."""
    ptx = binary.decode(errors="replace")
    found = re.search(rf"\.entry\s+{re.escape(kernel)}\s*\(", ptx)
    if found is None:
        return None
    start = ptx.find("{", found.end())
    # In braces of their own stand the parameters of calls.
    end = ptx.find("\n}", start)
    return len(_STATEMENT.findall(ptx[start : end if end >= 0 else len(ptx)])) if start >= 0 else None
