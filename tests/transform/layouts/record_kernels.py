"""Kernels on arrays of records, with the types of these as the host has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

DType = np.dtype[Any]
BODY = np.dtype([("x", "f4"), ("tag", "u1"), ("mass", "f8"), ("kind", "i2")], align=True)
FULL = np.dtype([("mass", "f8"), ("count", "i4"), ("kind", "i2"), ("tag", "u1")], align=True)
PAIR = np.dtype([("x", "f4"), ("y", "f4")])
INTS = np.dtype([("low", "u4"), ("high", "u4")])
SHORTS = np.dtype([("low", "u2"), ("high", "u2")])
NESTED = np.dtype(
    {
        "names": ["place", "speed", "ids", "body"],
        "formats": [("f4", (4,)), ("f4", (4,)), ("i4", (3,)), BODY],
        "offsets": [0, 16, 32, 48],
        "itemsize": 80,
    }
)
FLOAT, INT = np.dtype("f4"), np.dtype("i4")
EITHER = np.dtype([("value", "f4"), ("count", "i4"), ("bits", "u4")])
BODY_C = "typedef struct { float x; uchar tag; double mass; short kind; } Body;\n"


@dataclass(frozen=True)
class RecordKernel:
    """A kernel `k(arrays…, int n)`: its source, and the types of its arrays by their names."""

    name: str
    source: str
    arrays: Mapping[str, DType] = field(hash=False)


ID = "int i = get_global_id(0); if (i >= n) return;"
KERNELS = (
    RecordKernel(
        "fields",
        f"""{BODY_C}
kernel void k(global Body *to, global const Body *from, int n)
{{
    {ID}
    to[i].x = from[n - 1 - i].x + from[i].tag;
    to[i].mass = from[i].mass - from[(i + 7) % n].mass;
    global Body *last = to + n - 1;
    last[-i].kind = from[i].kind + i;
}}
""",
        {"to": BODY, "from": BODY},
    ),
    RecordKernel(
        "whole_records",
        f"""{BODY_C}
kernel void k(global Body *to, global const Body *from, int n)
{{
    {ID}
    Body one = from[i], other = from[n - 1 - i];
    if (one.x > other.x) {{ Body kept = one; one = other; other = kept; }}
    one.tag += 1;
    to[i] = i % 3 ? one : other;
}}
""",
        {"to": BODY, "from": BODY},
    ),
    RecordKernel(
        "between_arrays",
        f"""{BODY_C}
kernel void k(global Body *to, global const Body *from, int n)
{{
    {ID}
    if (i % 5 == 0) to[i] = (Body){{0}};
    else to[i] = from[n - 1 - i];
}}
""",
        {"to": BODY, "from": BODY},
    ),
    RecordKernel(
        "in_place",
        f"""typedef struct {{ double mass; int count; short kind; uchar tag; }} Full;
kernel void k(global Full *all, int n)
{{
    {ID}
    Full mine = all[i];
    mine.count = mine.count * 3 + i;
    mine.mass = mine.mass + mine.kind;
    all[i] = mine;
    all[i].tag ^= 0x55;
}}
""",
        {"all": FULL},
    ),
    RecordKernel(
        "swapped",
        f"""typedef struct {{ double mass; int count; short kind; uchar tag; }} Full;
kernel void k(global Full *all, int n)
{{
    {ID}
    int low = i & ~1, high = low + 1;
    if (i == low && high < n) {{
        Full first = all[low], second = all[high];
        if (first.count != second.count ? first.count > second.count : first.kind > second.kind) {{
            all[low] = second;
            all[high] = second.tag & 1 ? first : second;
        }}
    }}
}}
""",
        {"all": FULL},
    ),
    RecordKernel(
        "unions",
        f"""typedef struct {{
    union {{ float value; uint bits; }} either;
    int count;
    union {{ uint bits; uchar low; }} other;
}} Either;
kernel void k(global Either *to, global const Either *from, int n)
{{
    {ID}
    Either mine = from[n - 1 - i];
    mine.either.bits ^= 0x80000000u;
    mine.count += from[i].either.value > mine.either.value;
    to[i] = mine;
    to[i].other.bits = from[i].either.bits + mine.other.bits;
    if (i % 3 == 0) to[i].either.value = from[i].other.bits;
    if (i % 5 == 0) to[i].other.low = from[i].other.low + 7;
}}
""",
        {"to": EITHER, "from": EITHER},
    ),
    RecordKernel(
        "pairs",
        f"""typedef struct {{ float x, y; }} Pair;
kernel void k(global Pair *to, global const Pair *from, int n)
{{
    {ID}
    Pair a = from[i], b = from[(i + 1) % n];
    to[i] = a.x > b.x ? a : b;
}}
""",
        {"to": PAIR, "from": PAIR},
    ),
    RecordKernel(
        "a_number_over_two_fields",
        f"""typedef struct {{ ushort low, high; }} Shorts;
kernel void k(global Shorts *to, constant Shorts *from, int n)
{{
    {ID}
    *(global uint *)&to[i] = *(constant uint *)&from[n - 1 - i] + 0x12345u;
}}
""",
        {"to": SHORTS, "from": SHORTS},
    ),
    RecordKernel(
        "an_index_over_two_fields",
        f"""typedef struct {{ uint low, high; }} Ints;
typedef struct {{ double mass; int count; short kind; uchar tag; }} Full;
kernel void k(global const Ints *from, global Full *to, int n)
{{
    {ID}
    ulong found = *(global const ulong *)&from[i];
    if (found < n) to[*(global const ulong *)&from[i]].tag = from[i].low + 1;
    to[i].count = found >> 32;
}}
""",
        {"from": INTS, "to": FULL},
    ),
    RecordKernel(
        "nested",
        f"""{BODY_C}
typedef struct {{ float4 place; float3 speed; int ids[3]; Body body; }} Nested;
kernel void k(global Nested *to, global const Nested *from, int n)
{{
    {ID}
    global Nested *mine = &to[i];
    *mine = from[n - 1 - i];
    mine->place += from[i].place;
    mine->place.y += from[i].speed.z;
    for (int j = 0; j < 3; ++j) mine->ids[j] = from[i].ids[2 - j] * (j + 1);
    mine->body.mass = from[i].body.mass + 1;
    mine->body.tag = 3;
}}
""",
        {"to": NESTED, "from": NESTED},
    ),
    RecordKernel(
        "atomics",
        f"""typedef struct {{ double mass; int count; short kind; uchar tag; }} Full;
kernel void k(global Full *to, global const int *from, int n)
{{
    {ID}
    atomic_add(&to[from[i] & (n > 7 ? 7 : 0)].count, i + 1);
    atomic_inc(&to[n - 1].count);
}}
""",
        {"to": FULL, "from": INT},
    ),
)
MATRIX = RecordKernel(
    "matrix",
    f"""{BODY_C}
kernel void k(global float *to, global const Body *from, int n, int width)
{{
    {ID}
    int height = n / width;
    to[(i % height) * width + i / height] = from[i].x - from[(i % height) * width + i / height].tag;
}}
""",
    {"to": FLOAT, "from": BODY},
)
