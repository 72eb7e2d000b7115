"""Kernels on arrays of records that are hard to lay out: padded, packed, or accessed in unusual ways."""

from __future__ import annotations

import numpy as np
from pyopencl import cltypes

from tests.transform.layouts.record_kernels import (
    ID,
    RecordKernel,
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
)
