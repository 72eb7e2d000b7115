"""Which places may be the same memory, and what instructions touch."""

from __future__ import annotations

import itertools

import pytest

from coarsen.analysis.memory_accesses import Aliasing, Place
from coarsen.frontend.lower import lower
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import AddressSpace

SOURCE = """
constant int table[4] = {1, 2, 3, 4};
kernel void k(global int *plain, global int *other, global int *restrict own, global int *restrict own_too,
              constant int *fixed, local int *tile, local int *tile_too, int n)
{
    local int still[64];
    int array[8];
    int x = get_global_id(0);
    array[n] = table[n];
    array[n + 1] = fixed[x];
    tile[n] = array[x];
    tile_too[n] = 1;
    still[x] = 2;
    plain[x] = 3;
    other[x] = 4;
    own[x] = 5;
    own_too[x] = 6;
    global int *either = n > 2 ? plain + x : own + n;
    *either = 7;
}
"""
DISTINCT_SPACES = {"plain": 1, "own": 1, "fixed": 2, "tile": 3, "array": 0}


def kernel() -> Kernel:
    return lower(SOURCE)


def accesses(lowered: Kernel) -> dict[str, Instruction]:
    """One access to each variable or argument, by its name; `either` for the pointer that may be two of them."""
    aliasing = Aliasing(lowered)
    found = {}
    for instruction in lowered.instructions():
        if instruction.opcode in ("load", "store"):
            root = aliasing.place(instruction.operands[-1]).root
            found["either" if root is None else root.text.removeprefix("k.")] = instruction
    return found


def same(first: str, second: str) -> bool:
    lowered = kernel()
    aliasing, found = Aliasing(lowered), accesses(lowered)
    places = [aliasing.place(found[name].operands[-1]) for name in (first, second)]
    forwards, backwards = aliasing.may_be_same(*places), aliasing.may_be_same(*reversed(places))
    assert forwards == backwards
    return forwards


@pytest.mark.parametrize("name", ["plain", "own", "either", "tile", "still", "array", "fixed", "table"])
def test_a_place_is_itself(name: str) -> None:
    assert same(name, name)


@pytest.mark.parametrize(("first", "second"), [("plain", "other"), ("plain", "either"), ("own", "either")])
def test_what_may_be_the_same(first: str, second: str) -> None:
    assert same(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        *itertools.combinations(DISTINCT_SPACES, 2),
        ("own", "own_too"),
        ("own_too", "other"),
        ("tile", "tile_too"),
        ("tile", "still"),
        ("table", "fixed"),
        ("either", "tile"),
    ],
)
def test_what_is_not_the_same(first: str, second: str) -> None:
    assert not same(first, second)


@pytest.mark.parametrize(
    ("statement", "everything"),
    [
        ("barrier(CLK_LOCAL_MEM_FENCE);", True),
        ("mem_fence(CLK_GLOBAL_MEM_FENCE);", True),
        ("atomic_inc(p);", True),
        ("*(volatile global int *)p = 1;", True),
        ("vstore4((int4)(n), 0, p);", False),
        ('printf("%d", n);', False),
        ("int4 v = vload4(0, p); p[n] = v.x;", False),
        ("p[n] = (int)exp((float)n);", False),
    ],
)
def test_what_touches_everything(statement: str, everything: bool) -> None:
    lowered = lower(f"kernel void k(global int *p, int n) {{ {statement} }}")
    aliasing = Aliasing(lowered)
    # What is never written, no store is in the way of.
    constant = [(Place(AddressSpace.CONSTANT, None), True)]
    assert any(aliasing.conflicting(i, constant) for i in lowered.instructions()) == everything


def test_reading_builtins_read_all_there_is() -> None:
    lowered = lower("kernel void k(global int *p, global int *q) { *q = vload4(0, p).x; }")
    aliasing = Aliasing(lowered)
    call = next(i for i in lowered.instructions() if i.opcode == "call")
    store = next(i for i in lowered.instructions() if i.opcode == "store")
    written = aliasing.place(store.operands[1])
    assert aliasing.conflicting(call, [(written, False), (written, True)]) == [(written, False)]
