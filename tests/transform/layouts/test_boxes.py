"""Kernels that read a box of an array from local memory leave what they leave as written, on each device.

Buffers end with the last element that is read, so that Oclgrind sees what is copied beyond. Devices and forms of
output come by turns (`tests/selection.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.frontend.lower import lower
from coarsen.ir.graph.instruction import Instruction
from coarsen.pipeline import laid_out, run_pipeline
from coarsen.transform.placement.boxes import Conditions
from coarsen.transform.placement.guards import Guards
from coarsen.variant.coarsening import Coarsening, Configuration, Level
from coarsen.variant.data_plan import array_plan
from coarsen.variant.variant import Variant
from tests.transform.cases import Case, integers, zeros
from tests.transform.harness import (
    assert_same,
    coarsened_outcome,
    form_by_turns,
    lowered,
    original_outcome,
    turns_of,
)

W, H = 32, 8


@dataclass(frozen=True)
class BoxKernel:
    """A kernel `k(global const int *a, global const int *b, global int *out, int n)` and what it reads of `a`.

    `arrays` are copied, `cells` of `a`; `read` is the number of elements of `a`, up to the last that is read.
    """

    name: str
    body: str
    cells: int
    read: int
    arrays: tuple[str, ...] = ("a",)
    number: int = W + 2
    offset: tuple[int, ...] | None = None
    b_read: int = 16

    @property
    def case(self) -> Case:
        """Its launch."""
        return Case(
            "k",
            (W, H),
            (8, 4),
            lambda rng, n: [
                integers(rng, self.read),
                integers(rng, self.b_read),
                zeros(n),
                np.int32(self.number),
            ],
            global_offset=self.offset,
            text=f"""
kernel __attribute__((reqd_work_group_size(8, 4, 1)))
void k(global const int *a, global const int *b, global int *out, int n)
{{
    int x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - get_global_offset(1);
    global int *to = out + y * {W} + x;
    {self.body}
}}
""",
        )


STAR = """*to = 4 * a[(y + 1)*n + x + 1] - a[y*n + x + 1] - a[(y + 2)*n + x + 1]
        - a[(y + 1)*n + x] - a[(y + 1)*n + x + 2];"""
LAST_OF_STAR = (H + 1) * (W + 2) + W + 1
WINDOW = """int sum = 0;
    for (int i = 0; i < 3; ++i)
        for (int j = -1; j <= 1; ++j)
            sum += a[(y + i)*n + x + j + 1] * b[3*i + j + 1];
    *to = sum;"""
PRODUCT = """int sum = 0;
    for (int k = 0; k < 16; ++k) sum += a[y*16 + k] * b[k*n + x];
    *to = sum;"""

INSIDE = f"x < n - 1 && y < {H} - 1 && x > 0 && y > 0"
GUARDED_STAR = "*to = 4 * a[y*n + x] - a[y*n + x - 1] - a[y*n + x + 1] - a[(y - 1)*n + x] - a[(y + 1)*n + x];"
CLAMPED_STAR = "*to = " + " - 3 * ".join(
    f"a[clamp(y + {dy}, 0, 5)*n + clamp(x + {dx}, 0, n - 1)]"
    for dx, dy in ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1))
) + ";"  # fmt: skip
PAIR = "*to = a[y*n + x] - 2 * a[(y + 1)*n + x];"

KERNELS = (
    BoxKernel("star", STAR, 60, LAST_OF_STAR),
    BoxKernel("star_offset", STAR, 60, LAST_OF_STAR, offset=(3, 5)),
    BoxKernel("window", WINDOW, 60, (H + 2) * (W + 2)),
    BoxKernel("window_and_weights", WINDOW, 60, (H + 2) * (W + 2), ("a", "b"), b_read=9),
    BoxKernel("transposed", "to[0] = a[x*n + y];", 32, W * H, number=H),
    BoxKernel("rows_times_vector", PRODUCT.replace("k*n + x", "k"), 64, 16 * H, ("a", "b")),
    BoxKernel("product", PRODUCT, 64, 16 * H, ("a", "b"), W, b_read=16 * W),
    BoxKernel("backwards", "size_t i = get_global_id(0); *to = a[n - i - 1] + a[n - i];", 9, W + 1, number=W),
    BoxKernel("known_rows", "*to = a[40*y + x] - a[40*y + x + 2] + a[40*(y + 1) + x];", 50, 40 * H + W),
    BoxKernel(
        "ids_in_the_group",
        "int i = get_group_id(0) * 8 + get_local_id(0); *to = a[i] + 3 * a[i + 5];",
        13,
        W + 5,
    ),
    BoxKernel("down", "for (int k = 2; k >= -2; --k) to[0] = (k == 2 ? 0 : to[0] * 3) + a[2 + x - k];", 40, W + 4),
    BoxKernel(
        "wide",
        "size_t i = get_global_id(0); *to = 0; for (int k = -1; k <= 1; ++k) *to += a[i + k + 1] * b[k + 1];",
        10,
        W + 2,
    ),
    BoxKernel(
        "called_as_the_copy_is",
        "int sum = 0; for (int base = 0; base < 4; ++base) sum = 3*sum + a[x + base] * b[y + base]; *to = sum;",
        11,
        W + 3,
        ("a", "b"),
        b_read=H + 3,
    ),
    BoxKernel(
        "unknown_dimension_cancels",
        "int q = get_global_id(n), i = (x + q)*n + y; *to = a[i - n*q - y];",
        8,
        W,
        number=1,
    ),
    BoxKernel(
        "unsigned_counters",
        """*to = 0; for (uint k = 0; k < 4; ++k) *to = 3 * *to + a[get_global_id(0) + k] * b[k];
    for (uint k = 1; k < 4; ++k) *to = 3 * *to + a[get_global_id(0) + k + 2] * b[k + 2];""",
        13,
        W + 5,
        ("a", "b"),
        b_read=6,
    ),
    BoxKernel(
        "unsigned_counters_of_rows",
        """*to = 0; for (uint k = 2; k < 5; ++k) *to = 3 * *to + a[get_global_id(0) + k * (size_t)n];
    for (uint k = 0; k < 2; ++k) *to = 3 * *to + a[get_global_id(0) + (k + (size_t)1) * n];""",
        32,
        W + 4 * W,
        number=W,
    ),
    BoxKernel(
        "queries_asked_twice",
        """*to = a[get_group_id(0) * 8 + get_local_id(0)] - 3 * a[get_group_id(0) * 8 + get_local_id(0) + 2]
        + b[get_global_id(1) - get_global_offset(1)] - 3 * b[get_global_id(1) - get_global_offset(1) + 1];""",
        10,
        W + 2,
        ("a", "b"),
        offset=(3, 5),
        b_read=H + 1,
    ),
    BoxKernel("between", "*to = a[4 * x] - 3 * a[4 * x + 1];", 30, 4 * (W - 1) + 2),
    # Conditions on the way to reads: buffers end with the last element that a work-item reads which meets them.
    BoxKernel("guarded_star", f"*to = 0; if ({INSIDE}) {GUARDED_STAR}", 60, W * H - 1, number=W),
    BoxKernel("guarded_star_offset", f"*to = 0; if ({INSIDE}) {GUARDED_STAR}", 60, W * H - 1, ("a",), W, (3, 5)),
    BoxKernel(
        "early_returns",
        f"*to = 0; if (x >= n || y >= 5) return; {PAIR} if (y > 3) return; {PAIR}",
        40,
        162,
        number=27,
    ),
    BoxKernel(
        "nested_conditions",
        f"*to = 0; if (x > 2) {{ *to = n; if (y < n - 20) {{ {PAIR} }} }}",
        40,
        7 * 27 + W,
        number=27,
    ),
    BoxKernel(
        "each_side",
        "int i = y*n + x; *to = x == 0 ? 2 * a[i + 1] : x == n - 1 ? 3 * a[i - 1] : a[i - 1] - a[i + 1];",
        40,
        W * H,
        number=W,
    ),
    BoxKernel(
        "window_at_the_edge",
        """int sum = 0;
    for (int i = -1; i <= 1; ++i)
        for (int j = -1; j <= 1; ++j)
            if (x + j >= 0 && x + j < n && y + i >= 0 && y + i < 7) sum += a[(y + i)*n + x + j] * (3*i + j + 5);
    *to = sum;""",
        60,
        W * 7,
        number=W,
    ),
    BoxKernel(
        "in_some_rounds",
        "*to = 0; for (int k = 0; k < 3; ++k) if (x + k < n) *to = 3 * *to + a[x + k];",
        10,
        20,
        number=20,
    ),
    BoxKernel(
        "unsigned_wrap",
        "uint i = get_global_id(0); *to = 0; if (i - 1 < n - 2u) *to = a[i - 1] - 3 * a[i + 1];",
        10,
        20,
        number=20,
    ),
    BoxKernel("never_negative", "*to = 0; if (x > 0) *to = a[x - 1] - 3 * a[x];", 9, W),
    BoxKernel("by_steps", "*to = 0; if (x < n) *to = a[4*x] - 3 * a[4*x + 1];", 30, 4 * 19 + 2, number=20),
    BoxKernel("not_met", "*to = 0; if (n > 9) *to = a[x] + a[x + 1];", 9, 1, number=3),
    BoxKernel("met_by_all", "*to = 0; if (n > 9) *to = a[x] + a[x + 1];", 9, W + 1),
    # Places that are clamped: a cell has the element of its place, inside of the array or not.
    BoxKernel("clamped_star", CLAMPED_STAR, 60, 6 * 29, number=29),
    BoxKernel("clamped_star_offset", CLAMPED_STAR, 60, 6 * 29, ("a",), 29, (3, 5)),
    BoxKernel(
        "clamped_window",
        """int sum = 0;
    for (int i = -1; i <= 1; ++i)
        for (int j = -1; j <= 1; ++j)
            sum = 3 * sum + a[min(max(y + i, 0), 5)*n + min(max(x + j, 0), n - 1)] * b[3*i + j + 4];
    *to = sum;""",
        60,
        6 * 29,
        ("a", "b"),
        number=29,
        b_read=9,
    ),
    BoxKernel(
        "clamped_where_inside",
        """*to = 0; if (x < n && y < 6)
    *to = a[y*n + clamp(x - 2, 0, n - 1)] - 3 * a[(y + 1)*n + clamp(x + 1, 0, n - 1)];""",
        55,
        7 * 29,
        number=29,
    ),
    BoxKernel("clamped_by_steps", "*to = a[3 * max(x - 5, 0) + 1] - 3 * a[3 * max(x - 6, 0) + 1];", 9, 3 * 26 + 2),
    BoxKernel("unsigned", "uint i = get_global_id(0), m = n; *to = a[m*y + i] ^ a[m*y + i + m];", 40, H * 34 + W),
)
CONFIGURATIONS: tuple[Configuration, ...] = (
    (),
    (Coarsening(4),),
    (Coarsening(2, 1),),
    (Coarsening(2, level=Level.GROUP),),
)


def runs_on(parameters: Mapping[str, Any]) -> bool:
    """Return True if any of a kernel's configurations is for the device."""
    return "kernel" not in parameters or bool(
        turns_of(parameters["device"], KERNELS.index(parameters["kernel"]), len(CONFIGURATIONS))
    )


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_boxes(queue: cl.CommandQueue, device: DeviceDescription, kernel: BoxKernel) -> None:
    number, case = KERNELS.index(kernel), kernel.case
    original = original_outcome(queue.context, case)
    laid = laid_out(lowered(case), [array_plan(name, place="local") for name in kernel.arrays])
    assert [(each.argument, each.size) for each in laid.placed] == [(name, None) for name in kernel.arrays]
    assert f"[{kernel.cells} x i32]" in laid.kernel.graph.variables["k.a_tile"].definition
    for place, turn in turns_of(device, number, len(CONFIGURATIONS)).items():
        chosen = CONFIGURATIONS[place]
        result = run_pipeline(laid.kernel, Variant(coarsenings=chosen))
        form = form_by_turns(device, turn)
        assert_same(original, coarsened_outcome(queue, result, form, case, chosen), case.tolerance)


@dataclass(frozen=True)
class Refused:
    """A kernel whose reads of `a` are no box, why, and in which line of the body this is said."""

    name: str
    body: str
    why: str
    line: int = 1


MORE = "depends on more than ids, counters"
NOT_ALL = "it isn't known which work-items come to this read, and how often"
UNTOLD = "an element doesn't tell whether work-items come to this read of it"
REFUSED = (
    Refused("condition_of_data", "if (b[x] > 2)\n*to = a[x];", UNTOLD, 2),
    Refused("condition_of_another_id", "if (y > 2)\n*to = a[x];", UNTOLD, 2),
    Refused("condition_of_both_ids", "if (x + y > 2)\n*to = a[4*y + x];", UNTOLD, 2),
    Refused("condition_in_an_open_loop", "for (int k = 0; k < n; ++k) if (k < x)\n*to += a[x + 1];", NOT_ALL, 2),
    Refused("many_rounds", "for (int k = 0; k < 17; ++k) if (x + k < n)\n*to += a[x + k];", UNTOLD, 2),
    Refused(
        "two_ways_to_it",
        "if (x < 2) { *to = n; if (y < 2) return; goto read; }\nif (y > 5) { read: *to = a[8*y + x]; }",
        NOT_ALL,
        2,
    ),
    Refused("inner_condition", "for (int k = 0; k < 4; ++k)\nif (k != y)\n*to += a[x + k];", UNTOLD, 3),
    Refused("open_loop", "for (int k = 0; k < n; ++k)\n*to += a[x + k];", NOT_ALL, 2),
    Refused("left_early", "for (int k = 0; k < 4; ++k) { if (b[k]) break;\n*to += a[x + k]; }", NOT_ALL, 2),
    Refused("tested_last", "int k = 0; do\n*to += a[x + k]; while (++k < 4);", NOT_ALL, 2),
    Refused("data", "*to = a[b[x]];", MORE),
    Refused("square", "*to = a[x * x];", "no sum of ids and counters"),
    Refused("halves", "*to = a[x / 2];", MORE),
    Refused("diagonal", "*to = a[x * n + x];", "an id or a counter counts in two ways"),
    Refused("two_ways", "*to = a[x] +\na[2 * x];", "an id or a counter counts in two ways", 2),
    Refused("other_row", "*to = a[x] +\na[x + n];", "how far it is from another read of the array", 2),
    Refused("between", "*to = a[40 * x] +\na[40 * x + 1];", "how far it is from another read of the array", 2),
    Refused("widened", "long i = x + 1; *to = a[i * 2];", "a number of more bits"),
    Refused("types", "*to = a[x] +\na[(size_t)get_global_id(0)];", "of different types", 2),
    Refused("after_a_loop", "int k = 0; for (; k < 4; ++k) *to += b[k];\n*to += a[x + k];", MORE, 2),
    Refused("two_counters", "for (int k = 0, m = 3; k < 4; ++k, ++m)\n*to += a[x + m];", MORE, 2),
    Refused("cancelled", "for (int k = 0, m = n; k < 4; ++k, ++m)\n*to += a[x + k + m - m];", MORE, 2),
    Refused(
        "far_counters",
        "for (int k = (1 << 30) - 3; k < 1 << 30; ++k) for (int m = (1 << 30) - 3; m < 1 << 30; ++m)\n"
        "*to += a[(long)k + m] + a[(long)k + m + 8];",
        NOT_ALL,
        2,
    ),
    Refused("clamped_and_not", "*to = a[max(x, 0)] +\na[x + 1];", "an id or a counter counts in two ways", 2),
    Refused("other_bounds", "*to = a[max(x, 0)] +\na[max(x, 1)];", "an id or a counter counts in two ways", 2),
    Refused("added_outside", "*to = a[max(x, 3)] +\na[max(x - 1, 3) + 1];", "how far it is from another read", 2),
    Refused("added_between", "*to = a[min(max(x, 3) + 1, n)];", MORE),
    Refused("clamped_twice", "*to = a[max(x, 3) + max(x + 1, 3)];", MORE),
    Refused("clamped_less_itself", "*to = a[max(x, 3) - x + y];", MORE),
    Refused("clamped_and_another", "*to = a[max(x, 3) + y];", MORE),
    Refused("bound_of_an_id", "*to = a[max(x, y)];", MORE),
    Refused("bound_of_data", "*to = a[max(x, b[0])];", MORE),
    Refused(
        "clamped_steps", "*to = a[max(2 * x, 3)] +\na[max(2 * x + 1, 3)];", "how far it is from another read", 2
    ),
    Refused("wider", "*to = a[max(x, 3) + get_global_id(1)];", "a number of more bits"),
    Refused("vector", "*to = vload2(x, a).x;", "this takes something else than an element"),
    Refused("part", "*to = ((global const short *)a)[x];", "this takes something else than an element"),
    Refused("same", "*to = a[n];", "all work-items read the same element"),
)


def refusal(source: str, name: str = "a") -> RefusalError:
    with pytest.raises(RefusalError) as caught:
        laid_out(lower(source, "k"), [array_plan(name, place="local")])
    return caught.value


@pytest.mark.parametrize("refused", REFUSED, ids=lambda refused: refused.name)
def test_refused(refused: Refused) -> None:
    found = refusal(BoxKernel(refused.name, refused.body, 0, 0).case.source)
    assert found.code == "place-footprint-unknown" and refused.why in str(found)
    assert found.position is not None
    assert found.position.line == 6 + refused.line


def test_a_mistaken_condition_is_noticed(queue: cl.CommandQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    known = Guards.conditions

    def mistaken(self: Guards, read: Instruction) -> Conditions | None:
        found = known(self, read)
        return found and tuple((name, not is_true) for name, is_true in found)

    monkeypatch.setattr(Guards, "conditions", mistaken)
    case = next(kernel.case for kernel in KERNELS if kernel.name == "guarded_star")
    made = run_pipeline(laid_out(lowered(case), [array_plan("a", place="local")]), Variant())
    with pytest.raises(AssertionError):
        assert_same(original_outcome(queue.context, case), coarsened_outcome(queue, made, "opencl_c", case, ()), 0)


def test_what_is_not_read_is_not_copied() -> None:
    found = refusal(BoxKernel("none", "*to = n;", 0, 0).case.source)
    assert found.code == "place-footprint-unknown" and "nothing of a is read" in str(found)


COUNTED = """target triple = "spir64-unknown-unknown"
declare spir_func i64 @_Z13get_global_idj(i32)

define spir_kernel void @k(ptr addrspace(1) %a, ptr addrspace(1) %out) !reqd_work_group_size !0 {
entry:
  %x = call spir_func i64 @_Z13get_global_idj(i32 0)
  br label %head

head:
  %k = phi i64 [ 0, %entry ], [ %k.next, %body ]
  %sum = phi i32 [ 0, %entry ], [ %sum.next, %body ]
  %is.less = icmp ult i64 %k, 4
  br i1 %is.less, label %body, label %end

body:
  %i = add i64 %x, %k
  %from = getelementptr i32, ptr addrspace(1) %a, i64 %i
  %value = load i32, ptr addrspace(1) %from, align 4
  %sum.next = sub i32 %value, %sum
  %k.next = add i64 %k, 1
  br label %head

end:
  %to = getelementptr i32, ptr addrspace(1) %out, i64 %x
  store i32 %sum, ptr addrspace(1) %to, align 4
  ret void
}

!0 = !{i32 8, i32 1, i32 1}
"""


def test_addresses_have_64_bits() -> None:
    source = COUNTED.replace("spir64", "spir").replace("i64 @_Z13", "i32 @_Z13")
    source = source.replace("%x = call spir_func i32", "%id = call spir_func i32")
    source = source.replace("  br label %head\n\nhead", "  %x = zext i32 %id to i64\n  br label %head\n\nhead")
    with pytest.raises(InvalidInputError, match="addresses of 64 bits"):
        laid_out(lower(source, "k"), [array_plan("a", place="local")])


def test_a_box_has_a_limit() -> None:
    found = refusal(BoxKernel("large", "for (int k = 0; k < 600; ++k) *to += a[x * 600 + k];", 0, 0).case.source)
    assert found.code == "place-too-large" and "reads 4800 elements of a" in str(found)


def test_records_are_not_copied_in_boxes() -> None:
    found = refusal(
        "typedef struct { char c; int i; } R; kernel __attribute__((reqd_work_group_size(8, 1, 1)))\n"
        "void k(global const R *a, global R *out) { int x = get_global_id(0); out[x] = a[x]; }"
    )
    assert found.code == "place-footprint-unknown"


def test_the_local_size_must_be_demanded() -> None:
    source = KERNELS[0].case.source.replace("__attribute__((reqd_work_group_size(8, 4, 1)))", "")
    assert refusal(source).code == "place-extent-unknown"
