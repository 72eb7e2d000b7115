"""Random kernels in a row: of some one launch does what two or three do, others have a mistake."""

from __future__ import annotations

import random
from dataclasses import dataclass

ITEMS = 60
# Beyond the last index of the last item.
ELEMENTS = 3 * ITEMS + 8
_ID = {
    1: "int i = get_global_id(0);",
    2: "int x = get_global_id(0), y = get_global_id(1), i = y * (int)get_global_size(0) + x;",
}
_GUARDS = ("if (i < n) {{ {} }}", "if (n > i) {{ {} }}", "if (i >= n) return; {}")
_INDICES = ("i", "2 * i", "i + 3", "3 * i + 1", "(n & 7) + i")
_UNGUARDED = "{}"


@dataclass(frozen=True)
class Chain:
    """Kernels over a number of dimensions, of elements of a type; what is given up."""

    source: str
    passed: dict[str, str]
    dimensions: int
    type: str
    gives_up: tuple[str, ...]
    is_legal: bool


def chain_of(seed: int) -> Chain:
    """Return the chain of a seed, always the same; each third has a mistake."""
    draw = random.Random(seed)
    dimensions, type_ = draw.choice((1, 1, 2)), draw.choice(("uint", "int", "ulong", "uint2", "ushort"))
    index, guard = draw.choice(_INDICES), draw.choice(_GUARDS)
    second_guard = draw.choice(_GUARDS)
    if draw.random() < 0.3:
        guard = _UNGUARDED
    mistake = draw.choice(("neighbour", "guard", "other index")) if seed % 3 == 0 else ""
    read, written = index, index
    if mistake == "neighbour":
        read = f"{index} + 1"
    elif mistake == "other index":
        read = f"a[{index}] & 1 ? {index} : i + 1" if type_ in ("uint", "int") else f"{index} ^ 1"
    elif mistake == "guard":
        guard, second_guard = "if (i < n - 1) {{ {} }}", _UNGUARDED
    first = [
        f"{type_} v = a[{index}] * k + ({type_})3;",
        *draw.choice(((), (_loop("v", "a[j]"),), (_branch("v"),))),
    ]
    first += [f"t[{written}] = v;", *draw.choice(((), (f"u[{index}] = v ^ k;",)))]
    second = [f"{type_} w = t[{read}] + b[{index}];", *draw.choice(((), (_loop("w", "b[j]"),), (_branch("w"),)))]
    second += [f"c[{index}] = w;", *draw.choice(((), (f"d[i] = t[{index}];",), (f"t[{index}] = w * k;",)))]
    second += draw.choice(((), (f"a[{index}] = w;",)))
    if guard == _UNGUARDED:  # not each work-item that did the first part does the second
        second = [line for line in second if not line.startswith(("a[", "t["))]
    if "a[j]" in first[1] or "a[" in read:
        second = [line for line in second if not line.startswith("a[")]
    pointer = f"global {type_} *"
    passed = {"one": "nkatu", "two": "nkatbcd"}
    third = ""
    if draw.random() < 0.4:
        passed["three"] = "nkce"
        item = f"{_ID[dimensions]} {second_guard.format(f'e[{index}] = c[{index}] * k;')}"
        third = f"kernel void three(int n, {type_} k, {pointer}c, {pointer}e)\n{{ {item} }}\n"
    return Chain(
        f"kernel void one(int n, {type_} k, {pointer}a, {pointer}t, {pointer}u)\n"
        f"{{ {_ID[dimensions]} {guard.format(' '.join(first))} }}\n"
        f"kernel void two(int n, {type_} k, {pointer}a, {pointer}t, {pointer}b, {pointer}c, {pointer}d)\n"
        f"{{ {_ID[dimensions]} {second_guard.format(' '.join(second))} }}\n{third}",
        passed,
        dimensions,
        type_,
        draw.choice(((), ("t",), ("t", "u"))),
        not mistake,
    )


def _loop(name: str, element: str) -> str:
    return f"for (int j = 0; j < (i & 3); ++j) {name} += {element};"


def _branch(name: str) -> str:
    return f"if (i % 3 == 1) {name} = {name} * 5 + 1;"
