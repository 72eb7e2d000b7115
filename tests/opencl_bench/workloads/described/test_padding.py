"""Padding of what kernels write: found in their code, left out of comparisons, and nothing else is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import WrittenArgument
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.tuning.measure.comparison import padding_of, without_padding
from coarsen.tuning.measure.opencl_machine import OpenClMachine
from coarsen.tuning.measure.session import Session, Slot
from coarsen.tuning.processes.compile_service import CompileService
from coarsen.tuning.records.code import Code, code_from_json
from coarsen.tuning.workload.benchmark import BufferArgument, Launch
from coarsen.tuning.workload.captured_launch import CapturedBuffer, CapturedLaunch
from coarsen.tuning.workload.padding import written_arguments
from coarsen.variant.variant import Variant
from coarsen.variant.variant_json import variant_to_json
from tests.captured_files import written_capture

TYPES = """
typedef struct { char tag; int count; } Hole;
typedef struct { float3 place; char3 colour; } Vectors;
typedef struct { Hole inner[2]; short last; } Nested;
typedef union { float3 three; uchar bytes[4]; } Union;
typedef union { float3 three; float4 four; } Wide;
typedef struct { Hole of[4]; } Holes;
typedef struct { int of[8]; } Numbers;
typedef struct { float4 place; float size; char name[12]; } Named;
"""
ITEM = "int i = get_global_id(0);"

# A parameter, what the kernel does, the period and the bytes of padding.
PADDED = [
    ("float3 *o", "o[i] = (float3)(1, i, 3);", 16, range(12, 16)),
    ("float3 *o", "float3 v = o[i]; for (int k = 0; k < i; k++) v = v.zxy + 1; o[i] = v;", 16, range(12, 16)),
    ("float3 *o", "o[i] = i > 5 ? o[i + 1] : (float3)(0.0f);", 16, range(12, 16)),
    ("float3 *o", "o[i].y = i;", 16, range(12, 16)),
    ("char3 *o", "o[i] = (char3)(i);", 4, [3]),
    ("short3 *o", "o[i] = (short3)(i);", 8, [6, 7]),
    ("float *o", "((global float3 *)o)[i] = (float3)(i);", 16, range(12, 16)),
    ("Hole *o", "Hole h; h.tag = i; h.count = 7; o[i] = h;", 8, [1, 2, 3]),
    ("Hole *o", "o[i] = o[i + 1];", 8, [1, 2, 3]),
    (
        "Vectors *o",
        "Vectors v; v.place = (float3)(i); v.colour = (char3)(i); o[i] = v;",
        32,
        [*range(12, 16), *range(19, 32)],
    ),
    (
        "Nested *o",
        "Hole h; h.tag = h.count = i; Nested n; n.inner[0] = n.inner[1] = h; n.last = i; o[i] = n;",
        20,
        [1, 2, 3, 9, 10, 11, 18, 19],
    ),
    ("Named *o", "Named n; n.place = (float4)(i); n.size = 2; o[i] = n;", 32, range(20, 32)),
    ("Union *o", "Union u; u.three = (float3)(i); o[i] = u;", 16, range(12, 16)),
]
FULL = [
    ("float4 *o", "o[i] = (float4)(i);"),
    ("float *o", "vstore3((float3)(i), i, o);"),
    ("float3 *o", "o[i] = (float3)(1); ((global float *)o)[4 * i + 3] = 2;"),
    ("float3 *o", "((global float4 *)o)[i] = (float4)(i);"),
    ("float3 *o", "o[i] = (float3)(1); atomic_add((global int *)o + 3, 1);"),
    ("float3 *o", "o[i] = (float3)(1); vstore4((float4)(2), i, (global float *)o);"),
    ("Wide *o", "o[i].three = (float3)(i); o[i].four.w = 1;"),
    ("Hole *o", "((global int2 *)o)[i] = (int2)(i);"),
    ("Holes *o", "Numbers n; for (int k = 0; k < 8; k++) n.of[k] = a[i + k]; *(global Numbers *)(o + i) = n;"),
    ("Holes *o", "*(global Numbers *)(o + i) = *(global const Numbers *)(a + 8 * i);"),
    ("Named *o", "o[i] = o[i + 1];"),
    ("Named *o", "Named n = o[i + 1]; n.size = 2; o[i] = n;"),
    ("Named *o", "o[i].size = 2; o[i].place = (float4)(i);"),
    ("int *o", "o[i] = i;"),
]


def padding(parameter: str, body: str) -> tuple[WrittenArgument, ...]:
    source = f"{TYPES} kernel void k(global const float *a, global {parameter}) {{ {ITEM} {body} }}"
    return tuple(each for each in written_arguments(lower(source, "k")) if each.padding)


@pytest.mark.parametrize(("parameter", "body", "period", "places"), PADDED)
def test_padding_is_found(parameter: str, body: str, period: int, places: list[int]) -> None:
    assert padding(parameter, body) == (WrittenArgument("k", 1, period, tuple(places)),)


@pytest.mark.parametrize(("parameter", "body"), FULL)
def test_what_a_store_gives_a_value_is_no_padding(parameter: str, body: str) -> None:
    assert padding(parameter, body) == ()


def launch(*buffers: str, kernel: str = "k") -> Launch:
    return Launch(kernel, (64,), (64,), tuple(map(BufferArgument, buffers)))


def test_of_a_buffer_that_several_kernels_write_padding_is_what_none_of_them_gives_a_value() -> None:
    three, pair = WrittenArgument("k", 0, 16, (12, 13, 14, 15)), WrittenArgument("k", 1, 8, (4, 5, 6, 7))
    code = Code("opencl_c", "k", "", kernels=("other",), written=(three, pair, WrittenArgument("other", 0)))
    assert padding_of(code, [launch("a", "b")])["a"].padding == (12, 13, 14, 15)
    assert padding_of(code, [launch("a", "a")])["a"].padding == (12, 13, 14, 15)
    assert padding_of(code, [launch("b", "b")])["b"].period == 16
    assert padding_of(code, [launch("a", "b"), launch("a", kernel="other")]).keys() == {"b"}
    assert padding_of(code, [launch("a", "b"), launch("c", "a", kernel="other")]).keys() == {"a", "b"}
    assert padding_of(Code("opencl_c", "k", ""), [launch("a")]) == {}


def test_only_padding_is_made_the_same() -> None:
    written = {"o": WrittenArgument("k", 0, 16, (12, 13, 14, 15))}
    numbers = np.arange(1, 11, dtype=np.float32)
    blanked = without_padding({"o": numbers, "p": numbers}, written)
    assert blanked["o"].tolist() == [1, 2, 3, 0, 5, 6, 7, 0, 9, 10]
    assert blanked["p"] is numbers and numbers[3] == 4
    half = without_padding({"o": numbers}, {"o": WrittenArgument("k", 0, 4, (3,))})
    assert half["o"].view(np.uint8)[3::4].any() == 0


def test_padding_goes_with_the_code() -> None:
    written = (WrittenArgument("k", 1, 16, (12, 13, 14, 15)), WrittenArgument("k", 2))
    code = Code("opencl_c", "k", "", written=written)
    assert code_from_json(code.to_json()) == code


COUNT = 256
# A parameter, what the kernel does, a mistake, the size of an element, and bytes of which each counts: of a float
# the last, since less may be rounding.
THREE = "float3 v = (float3)(a[i], 2, 3); o[i] = v;"
HOLE = "Hole h; h.tag = i; h.count = 7; o[i] = h;"
VECTORS = "Vectors v; v.place = (float3)(i); v.colour = (char3)(1, 2, 3); o[i] = v;"
RUN = [
    ("float3 *o", THREE, ("2, 3)", "2, 4)"), 16, [3, 7, 11]),
    ("Hole *o", HOLE, ("tag = i", "tag = i + 1"), 8, [0, 4, 5, 6, 7]),
    ("Vectors *o", VECTORS, ("1, 2, 3", "1, 2, 4"), 32, [3, 7, 11, 16, 17, 18]),
]


@pytest.mark.parametrize(("parameter", "body", "mistake", "size", "counting"), RUN)
def test_a_mistake_beside_padding_is_found_and_garbage_in_it_is_none(
    device: DeviceDescription,
    tmp_path: Path,
    parameter: str,
    body: str,
    mistake: tuple[str, str],
    size: int,
    counting: list[int],
) -> None:
    source = f"{TYPES} kernel void k(global const float *a, global {parameter}) {{ {ITEM} {body} }}"
    content = CapturedBuffer(np.arange(COUNT, dtype=np.float32).view(np.uint8))
    filled = CapturedBuffer(np.full(COUNT * size, 0x40, np.uint8))
    path = written_capture(CapturedLaunch(source, (), "k", (COUNT,), (64,), (content, filled)), tmp_path, "k")
    compiled = CompileService().compile(
        {
            "benchmark": str(path),
            "candidate": variant_to_json(Variant((64,))),
            "form": "opencl_c",
            "machine": None,
            "ir_hash": None,
        }
    )
    original = code_from_json(compiled["code"])
    (written,) = original.written
    session = Session(OpenClMachine(device), find_benchmark(path), "test", 0)

    def wrong(content: str) -> tuple[str, ...]:
        session.load(Slot.CANDIDATE, Variant((64,)), replace(original, content=content))
        session.expect(Slot.CANDIDATE, original)
        return session.try_out(Slot.CANDIDATE).wrong

    assert wrong(source) == ()
    garbage = "".join(f"((global uchar *)(o + i))[{place}] = i * 7 + {place};" for place in written.padding)
    assert wrong(source.replace(body, f"{body} {garbage}")) == ()
    assert any("elements wrong" in each for each in wrong(source.replace(*mistake)))
    for place in counting:
        (found,) = wrong(source.replace(body, f"{body} ((global uchar *)(o + i))[{place}] ^= 0x55;"))
        assert "elements wrong" in found
