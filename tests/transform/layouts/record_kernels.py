"""Kernels on arrays of records, with the types of these as the host has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from pyopencl import cltypes

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

PLACED = np.dtype(
    [("place", "f4", (3,)), ("tag", "u1", (2, 3)), ("mass", "f8", (2,)), ("ids", "i2", (5,)), ("kind", "i2")],
    align=True,
)
TURNED = np.dtype([("turn", cltypes.float4, (2,)), ("count", "i4"), ("bins", "i4", (3,))], align=True)
PLACED_C = """typedef struct { float place[3]; uchar tag[2][3]; double mass[2]; short ids[5]; short kind; } Placed;
typedef struct { float4 turn[2]; int count; int bins[3]; } __attribute__((aligned(16))) Turned;
"""

DEEP_KERNELS = (
    RecordKernel(
        "constant_and_other_indices",
        f"""{PLACED_C}
kernel void k(global Placed *to, global const Placed *from, int n)
{{
    {ID}
    to[i].place[1] = from[n - 1 - i].place[2] + from[i].tag[1][2];
    for (int j = 0; j < 3; ++j) to[i].place[j] += from[(i + j) % n].place[2 - j] * (j + 1);
    to[i].tag[i & 1][(i + 1) % 3] = from[i].tag[1 - (i & 1)][i % 3] + 1;
    to[i].mass[from[i].kind & 1] -= from[i].mass[i & 1] + to[i].ids[4 - i % 5];
    to[i].ids[(uchar)(from[i].kind + 1) % 5] = i;
}}
""",
        {"to": PLACED, "from": PLACED},
    ),
    RecordKernel(
        "whole_records_and_whole_arrays",
        f"""{PLACED_C}
kernel void k(global Placed *to, global const Placed *from, int n)
{{
    {ID}
    Placed one = from[n - 1 - i];
    one.ids[i % 5] += one.tag[0][1];
    if (i % 3 == 0) to[i] = one;
    else if (i % 3 == 1) to[i] = (Placed){{{{0}}}};
    else for (int j = 0; j < 2; ++j) to[i].mass[j] = one.mass[1 - j];
}}
""",
        {"to": PLACED, "from": PLACED},
    ),
    RecordKernel(
        "arrays_of_vectors",
        f"""{PLACED_C}
kernel void k(global Turned *to, global const Turned *from, int n)
{{
    {ID}
    to[i].turn[i & 1] = from[n - 1 - i].turn[1] * from[i].turn[(i >> 1) & 1].wzyx;
    to[i].turn[0].y += from[i].count;
    to[i].bins[i % 3] = from[i].bins[(i + 1) % 3] + 1;
}}
""",
        {"to": TURNED, "from": TURNED},
    ),
    RecordKernel(
        "atomics_on_chosen_elements",
        f"""{PLACED_C}
kernel void k(global Turned *to, global const int *from, int n)
{{
    {ID}
    atomic_add(&to[from[i] & (n > 7 ? 7 : 0)].bins[i % 3], i + 1);
    atomic_inc(&to[n - 1].bins[2]);
}}
""",
        {"to": TURNED, "from": INT},
    ),
)

PACKED = np.dtype(
    {
        "names": ["tag", "place", "mass", "ids"],
        "formats": ["u1", ("f4", (3,)), ("f8", (2,)), ("u2", (4,))],
        "offsets": [0, 1, 13, 29],
        "itemsize": 37,
    }
)
BESIDE = np.dtype(
    [("a", "f4", (8,)), ("b", "f4", (3,)), ("grid", "i4", (2, 3)), ("bytes", "u1", (8,))], align=True
)
THREES = np.dtype(
    [("ends", cltypes.float3, (2,)), ("turn", cltypes.float4, (3,)), ("tags", cltypes.char3, (4,))], align=False
)
PACKED_C = """typedef struct __attribute__((packed)) {
    uchar tag; float place[3]; double mass[2]; ushort ids[4];
} Packed;
"""
BESIDE_C = "typedef struct { float a[8], b[3]; int grid[2][3]; uchar bytes[8]; } Beside;"

# Written to be got wrong: arrays side by side that are alike, addresses that leave one and come back, bytes.
HARD_KERNELS = (
    RecordKernel(
        "packed_members",
        f"""{PACKED_C}
kernel void k(global Packed *to, global const Packed *from, int n)
{{
    {ID}
    Packed one = from[n - 1 - i];
    one.place[1] = one.mass[0];
    one.ids[i & 3]++;
    if (i & 1) to[i] = one;
    to[i].place[i % 3] = from[n - 1 - i].place[2 - i % 3];
    to[i].mass[i & 1] += from[i].mass[1];
    to[i].ids[i & 3] = from[i].ids[(i + 1) & 3] + from[i].tag;
}}
""",
        {"to": PACKED, "from": PACKED},
    ),
    RecordKernel(
        "vectors_of_three",
        f"""typedef struct {{ float3 ends[2]; float4 turn[3]; char3 tags[4]; }} Threes;
kernel void k(global Threes *to, global const Threes *from, int n)
{{
    {ID}
    to[i].ends[i & 1] = from[n - 1 - i].ends[1 - (i & 1)].zyx + 1;
    to[i].ends[0].y = from[i].ends[i & 1].x;
    to[i].tags[i & 3] = from[i].tags[3 - (i & 3)].yzx;
    to[i].turn[i % 3].y = from[i].turn[(i + 1) % 3].w;
    to[i].turn[2][i & 3] = 3;
    ((global float *)&to[i].turn[i % 3])[2] = 4;
}}
""",
        {"to": THREES, "from": THREES},
    ),
    RecordKernel(
        "indices_of_all_kinds",
        f"""{BESIDE_C}
kernel void k(global Beside *to, global const Beside *from, int n)
{{
    {ID}
    long far = i % 3;
    uint near = i % 3;
    uchar small = i % 3;
    char below = -(char)(i % 5);
    to[i].b[far] = from[n - 1 - i].b[2 - far] + from[i].a[(near - 1u) & 7u];
    to[i].b[2u - near] += from[i].b[small];
    to[i].bytes[-below] = from[i].bytes[4 + below];
    to[i].grid[0][i % 6] = from[i].grid[1][i % 6 - 3];
    to[i].grid[i & 1][near] += from[n - 1 - i].grid[1 - (i & 1)][2 - near];
    if (i > 0 && i < n - 1) to[i].a[small + 3] = from[i - 1].b[far] + (&from[i])[1].b[near];
}}
""",
        {"to": BESIDE, "from": BESIDE},
    ),
    RecordKernel(
        "addresses_and_bytes",
        f"""{BESIDE_C}
float sum(global const float *at) {{ return at[0] + at[1] * 2 + at[2] * 4; }}
kernel void k(global Beside *to, global const Beside *from, int n)
{{
    {ID}
    global float *first = &to[i].b[0];
    first[2] = first[-1] + sum(from[n - 1 - i].b) + sum(&from[i].a[5]);
    to[i].a[1] = (&from[i].b[2])[-1];
    global uchar *bytes = (global uchar *)&to[i];
    bytes[68] = ((global const uchar *)&from[n - 1 - i])[75];
    bytes[44 + 4 * 3 + 1] = 1;
    to[i].bytes[2] = ((global const uchar *)&from[i].b[i % 3])[2];
    ((global ushort *)&to[i].grid[i & 1][i % 3])[0] = 77;
    *(global ulong *)&to[i].a[2] = *(global const ulong *)&from[i].a[4];
}}
""",
        {"to": BESIDE, "from": BESIDE},
    ),
    RecordKernel(
        "addresses_that_step_on",
        f"""{BESIDE_C}
kernel void k(global Beside *to, global const Beside *from, int n)
{{
    {ID}
    global const float *p = from[n - 1 - i].a + (i & 3);
    float sum = p[1] + p[(uint)i % 5];
    for (int j = 0; j < 3; ++j) sum = sum * 2 + p[j + 1];
    global int *grid = &to[i].grid[0][0];
    for (int j = 5; j >= 0; --j) grid[j] = j + i;
    global float *last = to[i].b + 2;
    last[-(i & 1)] = sum;
    (last - (i & 1))[-1] += from[i].a[(uint)i % 7 + 1];
    global uchar *bytes = to[i].bytes + (i > 2 ? 5 : 3);
    bytes[(uchar)i >> 7] = bytes[-((i & 4) >> 1)];
    bytes[2] = from[i].bytes[0] + (&from[i].b[2] - (i & 1))[0];
    (&to[i].a[6] + (i & 1))[0] = sum - 1;
}}
""",
        {"to": BESIDE, "from": BESIDE},
    ),
    RecordKernel(
        "rows_that_are_stepped_over",
        f"""{PLACED_C}
kernel void k(global Placed *to, global const Placed *from, int n)
{{
    {ID}
    global uchar *tag = to[i].tag[i & 1];
    for (int c = 0; c < 3; ++c) tag[c] = from[n - 1 - i].tag[1][2 - c] + c;
    global const uchar *all = &from[i].tag[0][0] + (i & 1) * 3;
    int sum = 0;
    for (int c = 2; c >= 0; --c) sum = 3 * sum + all[c];
    to[i].kind = sum;
    global double *mass = to[i].mass;
    mass[i & 1] += from[i].place[2];
}}
""",
        {"to": PLACED, "from": PLACED},
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
