"""PoCL on CPUs: the remarks of LLVM's vectoriser, and the shared library in its programs' binaries.

With `POCL_VECTORIZER_REMARKS=1` PoCL prints LLVM's remarks, one after the other without line ends:

    <unknown>:0:0: vectorized loop (vectorization width: 8, interleaved count: 4)
    /tmp/….cl:7:3: vectorized loop (vectorization width: 8, interleaved count: 1)

Built with `-g`, which changes no instruction, a loop of the kernel has the place of its `for`, `while` or `do`;
loops over work-items, which PoCL makes, have another place or none. The binary holds the library that PoCL has
compiled ahead, for any local size. For a launch PoCL compiles the kernel again, for the launch's local size.
Nothing but a launch brings that about, so that code isn't read: over few work-items it may be vectorised less.
"""

from __future__ import annotations

import re
from dataclasses import replace

from coarsen.devices.compiled.build import Build
from coarsen.devices.compiled.elf import MAGIC, functions
from coarsen.devices.compiled.machine_code import facts_of_code
from coarsen.models.compiled.facts import CompiledFacts

OPTIONS = ("-g",)
VARIABLES = (("POCL_VECTORIZER_REMARKS", "1"),)

_REMARK = re.compile(r"(\d+):(\d+): vectorized loop \(vectorization width: (\d+)")
# LLVM remarks on this for each kernel: without it there were no remarks.
_INLINED = "'_pocl_kernel_{kernel}' inlined into"
_LOOP_WORD = re.compile(r"(for|while|do)\b")
# Between a file's name and its content stand a few bytes with its length.
_HEADER_BYTES = 16


def pocl_facts(build: Build) -> CompiledFacts:
    """Return the facts of a kernel that PoCL has built for a CPU.

    PoCL reports the same private memory for every kernel, so that is left out.
    """
    facts = facts_of_code(_code(build.binary, build.program.kernel))
    inlined = _INLINED.format(kernel=build.program.kernel)
    if not build.is_of_one_kernel or inlined not in build.output:
        return facts
    items, loops = [1], [1]
    for line, column, width in _REMARK.findall(build.output):
        widths = loops if _is_loop(build.program.source, int(line), int(column)) else items
        widths.append(int(width))
    return replace(facts, item_lanes=max(items), loop_lanes=max(loops))


def _is_loop(source: str, line: int, column: int) -> bool:
    """Return True if a place in the source is the beginning of a loop."""
    lines = source.split("\n")
    return 0 < line <= len(lines) and _LOOP_WORD.match(lines[line - 1], max(0, column - 1)) is not None


def _code(binary: bytes, kernel: str) -> bytes | None:
    """The machine code of the function that runs a work-group; None where it isn't there."""
    name = re.escape(kernel.encode())
    found = re.search(rb"/%s/0-0-0[\w-]*/%s\.so" % (name, name), binary)
    if found is None:
        return None
    start = binary.find(MAGIC, found.end(), found.end() + _HEADER_BYTES + len(MAGIC))
    return functions(binary[start:]).get(f"_pocl_kernel_{kernel}_workgroup") if start >= 0 else None
