"""Kernels with tiles inside of their loops leave what they leave as written, on each device."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from coarsen.errors import InvalidInputError, RefusalError
from coarsen.pipeline import CoarsenedKernel, run_pipeline
from coarsen.transform.placement import strips, tiled_loops
from coarsen.variant.coarsening import Coarsening, Configuration, Level
from coarsen.variant.transforms import DeviceKind, Tile, Transforms
from coarsen.variant.variant import Variant
from tests.transform.cases import Case, integers, zeros
from tests.transform.harness import assert_same, coarsened_outcome, lowered, original_outcome, turns_of

W, H = 32, 16
LOCAL = (16, 8)
# Enough for each read of the longest loop.
ROOM = 4096


@dataclass(frozen=True)
class Loop:
    """A kernel `k(global const T *a, global const T *b, global int *out, int n, int m)` with a loop of n trips.

    `copied` are the arrays that get a tile when 8 trips are copied, uncoarsened or not; `tile` may name them.
    """

    name: str
    body: str
    copied: tuple[str, ...] = ("a", "b")
    type: str = "int"
    tile: str = "8"

    def case(self, n: int, m: int) -> Case:
        """Its launch."""
        width = {"int": 1, "int2": 2, "int4": 4}.get(self.type, 1)
        return Case(
            "k",
            (W, H),
            LOCAL,
            lambda rng, items: [
                integers(rng, ROOM * width, -9, 9),
                integers(rng, ROOM * width, -9, 9),
                zeros(items),
                np.int32(n),
                np.int32(m),
            ],
            text=f"""
kernel void k(global const {self.type} *a, global const {self.type} *b, global int *out, int n, int m)
{{
    int x = get_global_id(0), y = get_global_id(1), sum = 0;
    {self.body}
    out[y * {W} + x] = sum;
}}
""",
        )


KERNELS = (
    Loop("product", f"for (int k = 0; k < n; ++k) sum += a[x + k*{W}] * b[y + k*{H}];"),
    Loop("product_of_rows", "for (int k = 0; k < n; ++k) sum += a[y*n + k] * b[k*m + x];"),
    Loop("strides_that_are_passed", "for (int k = 0; k < n; ++k) sum += a[x + k*m] * b[y + k*m];"),
    Loop(
        "a_stride_that_is_clamped",
        "int w = min(m, 40); for (int k = 0; k < n; ++k) sum += a[y*w + k] * b[k*m + x];",
    ),
    Loop("from_a_number", "for (int k = m; k < m + n; ++k) sum += a[x + k] * b[k];"),
    Loop("by_two", f"for (int k = 0; k < n; k += 2) sum += a[x + k*{W}] * b[k];"),
    Loop("down", f"for (int k = n; k-- > 0;) sum = 3*sum + a[x + k*{W}] * b[k];"),
    Loop("without_a_sign", f"for (uint k = 0; k != (uint)n; ++k) sum += a[x + k*{W}] * b[k];"),
    Loop("long_counter", f"for (long k = 0; k < n; ++k) sum += a[get_global_id(0) + k*{W}] * b[k];"),
    Loop("int_in_long", f"for (long k = 0; k < n; ++k) sum += a[x + k*{W}] * b[k];", ("b",)),
    Loop("all_pairs", "for (int k = 0; k < n; ++k) { int d = a[k] - x; sum += d*d + b[k]*y; }"),
    Loop(
        "window",
        "for (int i = 0; i < 3; ++i) for (int k = 0; k < n; ++k) sum += a[(y + i)*40 + x + k] * b[i*n + k];",
    ),
    Loop("two_loops", "for (int k = 0; k < n; ++k) sum += a[x + k]; for (int k = 0; k < m; ++k) sum ^= b[y + k];"),
    Loop(
        "a_sum_in_an_index",
        "int s = 0; for (int k = 0; k < n; ++k) s += b[k] & 3;"
        " for (int k = 0; k < m; ++k) sum += a[s + x*40 + k] * b[x + s + k];",
    ),
    Loop("two_reads", "for (int k = 0; k < n; ++k) sum += a[x + k] * a[x + k + 2] - b[k] * b[k + 1];"),
    Loop(
        "vectors",
        "for (int k = 0; k < n; ++k) { int2 p = a[x + k], q = b[k]; sum += p.x * q.y - p.y * q.x; }",
        type="int2",
    ),
    Loop("rows_along_both", "for (int k = 0; k < n; ++k) sum += a[x*n + k] * a[y*n + k] - b[x*n + k];"),
    Loop("one_array_twice", "for (int k = 0; k < n; ++k) sum += a[x + k*m] * a[y + k*m] + b[k];"),
    # Reads of an axis by steps of three and four: what lies between is not read by either alone.
    Loop(
        "steps_of_three_and_four", "for (int k = 0; k < n; ++k) sum += a[4*x + 3*k] + 5 * a[4*x + 3*k + 1] + b[k];"
    ),
    Loop(
        "a_narrow_argument",
        "int w = (int)(ulong)m;"
        " for (int k = 0; k < n; ++k) sum += a[(2*y)*w + k + x] - 3 * a[(2*y + 1)*w + k + x] + b[k];",
    ),
    Loop("guard", f"if (x < m) for (int k = 0; k < n; ++k) sum += a[x + k*{W}] * b[y + k*{H}];"),
    Loop("two_guards", f"if (x < m && y < m - 9) for (int k = 0; k < n; ++k) sum += a[x + k*{W}] * b[y + k*{H}];"),
    Loop("return", f"if (x >= m) return; for (int k = 0; k < n; ++k) sum += a[x + k*{W}] * b[y + k*{H}];"),
    Loop(
        "nested_guards",
        f"if (x < m) {{ sum = 5; if (y < m - 3) for (int k = 0; k < n; ++k) sum += a[x + k*{W}] * b[y]; }}",
    ),
    Loop(
        "condition_in_the_loop",
        f"for (int k = 0; k < n; ++k) if (x + k < m) sum += a[x + k] * b[y + k*{H}];",
        ("a",),
    ),
    Loop("condition_on_an_argument", "for (int k = 0; k < n; ++k) if (m > 9) sum += a[x + k] * b[y + k];"),
    Loop("condition_on_a_counter", "for (int k = 0; k < n; ++k) if (k != m) sum += a[x + k] * b[y + k];"),
    Loop(
        "condition_on_each_id",
        f"for (int k = 0; k < n; ++k) sum += (x < m ? a[x + k*{W}] : 3) * (y < m - 20 ? b[y + k*{H}] : k);",
    ),
    Loop(
        "barriers",
        "local int own[128]; int l = get_local_id(1)*16 + get_local_id(0); own[l] = x + 3*y;"
        " barrier(CLK_LOCAL_MEM_FENCE);"
        f" for (int k = 0; k < n; ++k) sum += a[x + k*{W}] * b[y] - own[(l + k) & 127];",
    ),
    Loop("an_array_that_has_no_box", f"for (int k = 0; k < n; ++k) sum += a[x + k*{W}] * b[(k*k) & 15];", ("a",)),
    Loop("one_is_named", "for (int k = 0; k < n; ++k) sum += a[y*n + k] * b[k*m + x];", ("b",), tile="8:b"),
    Loop(
        "one_is_named_under_a_guard",
        f"if (x < m) for (int k = 0; k < n; ++k) sum += a[x + k*{W}] * b[y];",
        ("a",),
        tile="8:a",
    ),
)
LENGTHS = ((0, 1), (1, 3), (8, 32), (19, 24))
CONFIGURATIONS: tuple[Configuration, ...] = (
    (Coarsening(2),),
    (Coarsening(2, stride=8), Coarsening(4, 1, 2)),
    (Coarsening(2, 1),),
    (),
    (Coarsening(2, level=Level.GROUP), Coarsening(2, 1, level=Level.GROUP)),
)


@functools.cache
def tiled(kernel: Loop, chosen: Configuration, tile: Tile) -> CoarsenedKernel:
    variant = Variant(LOCAL, chosen, transforms=Transforms(tile=tile))
    return run_pipeline(lowered(kernel.case(0, 0)), variant)


def runs_on(parameters: Mapping[str, Any]) -> bool:
    """Each device takes another configuration of each kernel."""
    if "kernel" not in parameters:
        return True
    place = CONFIGURATIONS.index(parameters["chosen"])
    return place in turns_of(parameters["device"], KERNELS.index(parameters["kernel"]), len(CONFIGURATIONS))


@pytest.mark.parametrize(
    "chosen", CONFIGURATIONS, ids=lambda chosen: "_".join(f"{each.factor}{each.level.value[0]}" for each in chosen)
)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_results_are_those_of_the_kernel(kernel: Loop, chosen: Configuration, queue: cl.CommandQueue) -> None:
    made = tiled(kernel, chosen, Tile(kernel.tile))
    assert made.tiles is not None
    assert {each.array for each in made.tiles.arrays if not each.why_not} == set(kernel.copied)
    for n, m in LENGTHS:
        case = kernel.case(n, m)
        got = coarsened_outcome(queue, made, "opencl_c", case, chosen)
        assert_same(original_outcome(queue.context, case), got, 0)


@pytest.mark.parametrize(
    ("name", "error", "reason"),
    [
        ("out", RefusalError, "the loop reads no array that the tile names"),
        ("none", InvalidInputError, "the kernel k has no argument none"),
        ("n", InvalidInputError, "the argument n is no array in global memory"),
    ],
)
def test_what_is_named_and_can_not_be_copied_is_refused(name: str, error: type[Exception], reason: str) -> None:
    with pytest.raises(error, match=reason):
        tiled(KERNELS[0], (), Tile(f"8:{name}"))


UNKNOWN = "place-footprint-unknown"


def refusal(body: str, type_: str = "int") -> RefusalError:
    with pytest.raises(RefusalError) as refused:
        tiled(Loop("refused", body, type=type_), CONFIGURATIONS[0], Tile("8"))
    return refused.value


@pytest.mark.parametrize(
    ("body", "code", "reason"),
    [
        ("sum = a[x];", "tile-loop-unknown", "no loop counts by a number up to a bound that stays the same"),
        ("for (int k = 0; k < n; ++k) { sum += a[x + k]; if (sum > 9) break; }", "tile-loop-unknown", "no loop"),
        ("for (int k = 0; k < x; ++k) sum += a[y + k];", "tile-not-together", "not all work-items"),
        ("for (int k = x; k < n; ++k) sum += a[y + k];", "tile-not-together", "not all work-items"),
        ("for (int i = 0; i < x; ++i) for (int k = 0; k < n; ++k) sum += a[k];", "tile-not-together", "differs"),
        ("for (int k = 0; k < 3; ++k) sum += a[x + k];", "tile-loop-unknown", "fewer than 8 trips"),
        (
            "atomic_inc(out + 9); int c = out[9]; for (int k = 0; k < (c & 15); ++k) sum += a[x + k];",
            "tile-not-together",
            "memory that may change",
        ),
        (
            # Called what a vote's variable is, which is read between barriers alone.
            "local int apart[64]; apart[y] = x; int c = apart[3]; for (int k = 0; k < c; ++k) sum += a[x + k];",
            "tile-not-together",
            "memory that may change",
        ),
        (
            "for (int i = 0; i < 9; ++i) { if (out[0] == 77) break; for (int k = 0; k < n; ++k) sum += a[x + k];"
            " if (sum > 1000) out[0] = 77; }",
            "tile-not-together",
            "memory that may change",
        ),
        (
            "int j = b[x]; for (int k = 0; k < n; ++k) sum += a[j + k];",
            "place-footprint-unknown",
            "what a work-group reads of a isn't known",
        ),
        (
            "for (int k = 0; k < n; ++k) sum += a[(x*m + y)*n + k];",
            "place-footprint-unknown",
            "reads each element 1 times",
        ),
        ("for (int k = 0; k < n; ++k) out[k] += k;", UNKNOWN, "out is written here"),
    ],
)
def test_what_has_no_tile_is_refused(body: str, code: str, reason: str) -> None:
    refused = refusal(body)
    assert refused.code == code
    assert reason in refused.reason


def test_elements_that_no_single_copy_takes_are_refused() -> None:
    refused = refusal("for (int k = 0; k < n; ++k) sum += a[x + k].x;", "int3")
    assert refused.code == UNKNOWN
    assert refused.reason.endswith("its elements are no numbers")


def test_groups_that_may_be_smaller_are_refused() -> None:
    body = "for (int k = 0; k < n; ++k) sum += a[x + k]; atomic_int *p = (atomic_int *)out; (void)p;"
    generic = "int *q = n > 3 ? (int *)(out) : (int *)0; sum += q != 0; " + body
    case = replace(Loop("newer", generic).case(0, 0), options=("-cl-std=CL2.0",))
    variant = Variant(LOCAL, CONFIGURATIONS[0], transforms=Transforms(tile=Tile("8")))
    with pytest.raises(RefusalError, match="the last groups may be smaller"):
        run_pipeline(lowered(case), variant)


def test_local_memory_is_shared_out_among_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiled_loops, "MOST_BYTES", 200)
    made = tiled(next(each for each in KERNELS if each.name == "two_loops"), CONFIGURATIONS[0], Tile("16"))
    assert made.tiles is not None
    assert sum(each.bytes for each in made.tiles.arrays) <= 200
    assert [bool(each.why_not) for each in made.tiles.arrays] == [True, False]
    # What has no room is no loop of strips either.
    assert made.opencl_c.count("barrier(") == 2
    assert made.opencl_c.count("while (true)") == 1


def test_without_a_local_size_it_is_asked_for() -> None:
    variant = Variant((), CONFIGURATIONS[0], transforms=Transforms(tile=Tile("8")))
    with pytest.raises(RefusalError, match=r"give the launch's local size \(--local-size\)"):
        run_pipeline(lowered(KERNELS[0].case(0, 0)), variant)


def test_the_kernel_demands_the_local_size_and_says_what_must_be_apart() -> None:
    made = tiled(KERNELS[0], CONFIGURATIONS[1], Tile("16"))
    assert made.kernel.required_work_group_size == (8, 2, 1)
    assert made.apart == ((0, 2), (1, 2))
    assert made.assumptions == tuple(
        f"the memory passed for {name} must not overlap that for out" for name in "ab"
    )


def test_ptx_demands_the_local_size() -> None:
    assert ".reqntid 8, 2, 1" in tiled(KERNELS[0], CONFIGURATIONS[1], Tile("8")).ptx()
    plain = Variant(LOCAL, CONFIGURATIONS[1])
    assert ".reqntid" not in run_pipeline(lowered(KERNELS[0].case(0, 0)), plain).ptx()


def test_arrays_that_do_not_fit_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiled_loops, "MOST_BYTES", 600)
    made = tiled(KERNELS[1], CONFIGURATIONS[2], Tile("16"))
    assert made.tiles is not None
    assert [(each.array, each.bytes, each.why_not) for each in made.tiles.arrays] == [
        ("a", 544, ""),
        ("b", 0, "it would take 1024 bytes of local memory, of 56 that are left"),
    ]


def test_rows_are_padded_where_work_items_would_read_one_bank() -> None:
    # Rows of 8: of 8 work-items along x, every fourth would read the same bank.
    kernel = next(each for each in KERNELS if each.name == "rows_along_both")
    variant = Variant(LOCAL, CONFIGURATIONS[0], transforms=Transforms(tile=Tile("8")))
    made = run_pipeline(lowered(kernel.case(0, 0)), variant)
    assert made.tiles is not None
    assert [(each.array, each.elements, each.pad, each.bytes) for each in made.tiles.arrays] == [
        *(("a", 64, 0, 4 * 64), ("a", 128, 1, 4 * 16 * 9), ("b", 128, 1, 4 * 16 * 9)),
    ]
    cpu = replace(variant, transforms=replace(variant.transforms, device_kind=DeviceKind.CPU))
    made = run_pipeline(lowered(kernel.case(0, 0)), cpu)
    assert made.tiles is not None
    assert not any(each.pad for each in made.tiles.arrays)


def test_what_is_saved_is_said() -> None:
    made = tiled(KERNELS[0], CONFIGURATIONS[0], Tile("8"))
    assert made.tiles is not None
    # In each of 8 trips 64 work-items read two elements of 16 along x, and one of 8 along y.
    assert [each.saved for each in made.tiles.arrays] == [4 * 8 * (128 - 16), 4 * 8 * (64 - 8)]
    assert "read 8 times each by a work-group: 3584 bytes are saved" in made.tiles.arrays[0].sentence


def test_a_forgotten_rest_is_noticed(monkeypatch: pytest.MonkeyPatch, queue: cl.CommandQueue) -> None:
    whole = strips._is_whole

    def planted(build: object, counted: object, first: object, trips: int) -> object:
        return whole(build, counted, first, trips - 1)  # type: ignore[arg-type]

    monkeypatch.setattr(strips, "_is_whole", planted)
    kernel, chosen = KERNELS[0], CONFIGURATIONS[0]
    made = run_pipeline(lowered(kernel.case(0, 0)), Variant(LOCAL, chosen, transforms=Transforms(tile=Tile("8"))))
    case = kernel.case(7, 1)
    with pytest.raises(AssertionError):
        assert_same(
            original_outcome(queue.context, case), coarsened_outcome(queue, made, "opencl_c", case, chosen), 0
        )
