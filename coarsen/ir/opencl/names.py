"""The names of builtin functions in IR: Itanium-mangled (`_Z13get_global_idj`); LLVM's intrinsics keep theirs."""

from __future__ import annotations

import re
from functools import lru_cache

_MANGLED = re.compile(r"_Z(\d+)(.*)", re.DOTALL)


@lru_cache(maxsize=4096)
def builtin_name(callee: str) -> str:
    """Return the OpenCL name of a function: `get_global_id` of `_Z13get_global_idj`; other names come back."""
    match = _MANGLED.match(callee)
    return match[2][: int(match[1])] if match else callee


def mangled_name(name: str, parameters: str) -> str:
    """Return a builtin's name in IR.

    Args:
        name: in OpenCL C.
        parameters: the mangled types of its parameters, `j` for one `uint`, `v` for none.
    """
    return f"_Z{len(name)}{name}{parameters}"
