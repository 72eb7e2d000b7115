"""The length of a kernel with all that it calls inlined, found before that is done.

Helpers that call the one before twice double the kernel with each: thirty short lines make 10⁹ instructions.
"""

from __future__ import annotations

from coarsen.errors import RefusalError
from coarsen.ir.graph.module import Module
from coarsen.limits import MOST_INSTRUCTIONS


def check_inlined_length(module: Module, kernel: str) -> None:
    """Raise RefusalError, `too-long`, for a kernel that would be too long with its helpers inlined.

    Args:
        module: whose functions are unread.
        kernel: the kernel's name.
    """
    if inlined_length(module, kernel) > MOST_INSTRUCTIONS:
        reason = f"with its helpers inlined the kernel has more than {MOST_INSTRUCTIONS:,} instructions"
        raise RefusalError("too-long", reason)


def inlined_length(module: Module, kernel: str) -> int:
    """Return how many instructions a kernel has with helpers inlined; a call back to a caller is one of them."""
    functions = module.unread
    lengths = dict.fromkeys((*functions, kernel), 0)
    entered = {kernel}
    path = [(kernel, iter(functions[kernel].called if kernel in functions else ()))]
    while path:
        name, callees = path[-1]
        callee = next((callee for callee in callees if callee in functions and callee not in entered), None)
        if callee is not None:
            entered.add(callee)
            path.append((callee, iter(functions[callee].called)))
            continue
        path.pop()
        if name in functions:
            inlined = sum(times * lengths.get(called, 0) for called, times in functions[name].called.items())
            lengths[name] = functions[name].length + inlined
    return lengths[kernel]
