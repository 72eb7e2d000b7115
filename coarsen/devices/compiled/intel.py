"""Intel's CPU runtime: its build log, and the ELF file in its programs' binaries.

The log has a line for each kernel,

    Kernel "scale" was successfully vectorized (16)
    Kernel "scale" was not vectorized

and, without the kernel's name, remarks on its loops and on those over work-items, with what was gathered in them,

    remark: <unknown>:0:0: Loop was 16-way vectorized
    remark: <unknown>:0:0: Kernel was 16-way vectorized2 gathers1 scatters

so remarks are read in programs of one kernel alone, and gathers counted in machine code where it can be read. The
binary is an ELF file whose section `.ocl.obj` is another one, with a function of the kernel's name that runs a
work-group: a loop over vectors of work-items, and one over the rest.
"""

from __future__ import annotations

import re
from dataclasses import replace

from coarsen.devices.compiled.build import Build
from coarsen.devices.compiled.elf import functions, sections
from coarsen.devices.compiled.machine_code import facts_of_code
from coarsen.models.compiled.facts import CompiledFacts

_OBJECT = ".ocl.obj"
_VERDICT = re.compile(r'^Kernel "([^"]+)" was (?:successfully vectorized \((\d+)\)|not vectorized)', re.MULTILINE)
_LOOP = re.compile(r"^remark: .*: (Loop|Kernel) was (\d+)-way vectorized(.*)$", re.MULTILINE)
_GATHERS, _SCATTERS = re.compile(r"(\d+) gathers"), re.compile(r"(\d+) scatters")


def intel_facts(build: Build) -> CompiledFacts:
    """Return the facts of a kernel that Intel's CPU runtime has built."""
    code = functions(sections(build.binary).get(_OBJECT, b"")).get(build.program.kernel)
    facts = facts_of_code(code)
    lanes = {name: int(number or 1) for name, number in _VERDICT.findall(build.log)}.get(build.program.kernel)
    if lanes is None:
        return facts
    facts = replace(facts, item_lanes=lanes)
    return _with_remarks(facts, build.log, lanes) if build.is_of_one_kernel else facts


def _with_remarks(facts: CompiledFacts, log: str, lanes: int) -> CompiledFacts:
    found = _LOOP.findall(log)
    loops = [int(number) for kind, number, _ in found if kind == "Loop"]
    # A kernel that is not vectorised may have been tried; what counts then are its loops.
    wanted = "Kernel" if lanes > 1 else "Loop"
    remarks = [rest for kind, _, rest in found if kind == wanted]
    facts = replace(facts, loop_lanes=max(loops, default=1))
    if facts.gathers is not None:
        return facts
    return replace(facts, gathers=_sum(_GATHERS, remarks), scatters=_sum(_SCATTERS, remarks))


def _sum(pattern: re.Pattern[str], remarks: list[str]) -> int:
    return sum(int(number) for remark in remarks for number in pattern.findall(remark))
