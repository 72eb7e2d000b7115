"""The length of a kernel with all that it calls inlined, found before that is done.

Helpers that call the one before twice double the kernel with each: thirty short lines make 10⁹ instructions.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from coarsen.errors import RefusalError
from coarsen.limits import MOST_INSTRUCTIONS

_DEFINITION = re.compile(r'^define [^\n]*?@(?P<name>"[^"\n]*"|[-\w$.]+)\([^\n]*\{\n(?P<body>.*?)^\}$', re.M | re.S)
_CALL = re.compile(r'\bcall [^@\n]*@("[^"\n]*"|[-\w$.]+)\(')
# Labels stand at the start of a line, debug records are indented further.
_INSTRUCTION = re.compile(r"^  [^ ;#]", re.M)


@dataclass(frozen=True, slots=True)
class _Function:
    """The number of a function's own instructions, and how often it calls which other one."""

    length: int
    calls: Counter[str]


def check_inlined_length(assembly: str, kernel: str) -> None:
    """Raise RefusalError, `too-long`, for a kernel that would be too long with its helpers inlined.

    Args:
        assembly: LLVM IR text.
        kernel: the kernel's name.
    """
    if inlined_length(assembly, kernel) > MOST_INSTRUCTIONS:
        reason = f"with its helpers inlined the kernel has more than {MOST_INSTRUCTIONS:,} instructions"
        raise RefusalError("too-long", reason)


def inlined_length(assembly: str, kernel: str) -> int:
    """The number of a kernel's instructions once helpers are inlined; a call back to a caller is one of them."""
    functions = {match["name"].strip('"'): _function(match["body"]) for match in _DEFINITION.finditer(assembly)}
    lengths = dict.fromkeys((*functions, kernel), 0)
    entered = {kernel}
    path = [(kernel, iter(functions[kernel].calls if kernel in functions else ()))]
    while path:
        name, callees = path[-1]
        callee = next((callee for callee in callees if callee in functions and callee not in entered), None)
        if callee is not None:
            entered.add(callee)
            path.append((callee, iter(functions[callee].calls)))
            continue
        path.pop()
        if name in functions:
            inlined = sum(times * lengths.get(called, 0) for called, times in functions[name].calls.items())
            lengths[name] = functions[name].length + inlined
    return lengths[kernel]


def _function(body: str) -> _Function:
    return _Function(len(_INSTRUCTION.findall(body)), Counter(name.strip('"') for name in _CALL.findall(body)))
