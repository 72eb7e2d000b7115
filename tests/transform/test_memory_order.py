"""Value numbering takes every builtin that writes for one that changes memory."""

from __future__ import annotations

import pytest

from coarsen.ir.opencl import builtins
from coarsen.ir.opencl.builtins import Builtin, Reach
from coarsen.transform.body_text import read_line
from coarsen.transform.memory_order import MemoryOrder


def writing() -> list[str]:
    """Functions of the table that write memory, by a name that they are called by."""
    named: list[tuple[str, Builtin]] = [*builtins._NAMED.items()]
    for prefix, builtin in builtins._BY_PREFIX:
        prefixes = (prefix,) if isinstance(prefix, str) else prefix
        named += [(f"{each}p0.p0.i64" if each.startswith("llvm.") else f"{each}4", builtin) for each in prefixes]
    return [name for name, builtin in named if builtin.writes is not Reach.NOTHING]


@pytest.mark.parametrize("name", writing())
def test_a_builtin_that_writes_changes_memory(name: str) -> None:
    callee = name if name.startswith("llvm.") else f"_Z{len(name)}{name}fPU3AS1f"
    line = read_line("r", f"%r = call spir_func float @{callee}(float %x, ptr addrspace(1) %p)")
    order = MemoryOrder("")
    assert order.may_change_memory(line)
    assert not order.is_function_of_operands(line)


def test_most_of_those_that_write_are_there() -> None:
    assert {"sincos", "fract", "modf", "vstore4", "atomic_init4", "llvm.memcpy.p0.p0.i64"} <= {*writing()}
