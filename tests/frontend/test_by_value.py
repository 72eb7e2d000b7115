"""Structures passed by value: changed ones become variables, read ones stay as they are."""

from __future__ import annotations

import pytest

from coarsen.frontend.lower import lower
from coarsen.ir.graph.printer import instruction_text
from coarsen.ir.kernel import Kernel

STRUCTURE = "typedef struct { int first; int second[3]; } Record;"


def kernel_of(body: str) -> Kernel:
    return lower(f"{STRUCTURE} kernel void k(global int *out, Record record, int n) {{ {body} }}")


def uses_of_argument(kernel: Kernel) -> list[str]:
    return [i.opcode for i in kernel.instructions() if any(o.text == "record" for o in i.operands)]


@pytest.mark.parametrize(
    "body",
    [
        "record.first = n; out[0] = record.first;",
        "record.second[n] += 1; out[0] = record.second[n + 1];",
        "int *inside = &record.second[1]; *inside = n; out[0] = record.second[n];",
        "float whole; *(float *)&record.first = fract(1.5f, &whole); out[0] = record.first;",
    ],
)
def test_a_changed_structure_is_copied_first(body: str) -> None:
    kernel = kernel_of(body)
    assert set(uses_of_argument(kernel)) <= {"load", "getelementptr"}
    stores = [i for i in kernel.instructions() if i.opcode == "store" and i.operands[1].text.startswith("record")]
    assert all(store.operands[1].text != "record" for store in stores)


def test_a_structure_that_is_only_read_is_not_copied() -> None:
    kernel = kernel_of("out[0] = record.first + record.second[n];")
    assert not [
        i for i in kernel.instructions() if i.opcode in ("alloca", "store") and "record" in instruction_text(i)
    ]


def test_a_copy_from_a_structure_does_not_change_it() -> None:
    kernel = kernel_of("Record mine = record; mine.second[n] = 4; out[0] = mine.second[1] + record.first;")
    assert not any(i.name.startswith("record.own") for i in kernel.instructions())
