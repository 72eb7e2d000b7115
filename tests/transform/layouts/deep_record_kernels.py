"""Kernels on arrays of records that have arrays inside."""

from __future__ import annotations

import numpy as np
from pyopencl import cltypes

from tests.transform.layouts.record_kernels import (
    ID,
    INT,
    RecordKernel,
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
