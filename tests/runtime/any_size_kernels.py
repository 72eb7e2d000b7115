"""Kernels that differ in what they ask of the launch's geometry; each writes where its linear id says.

What they write is the same for every local size, so that launches that leave it open can be compared.
"""

from __future__ import annotations

_PLACE = """
    size_t width = get_global_size(0), height = get_global_size(1);
    size_t x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - get_global_offset(1);
    size_t z = get_global_id(2) - get_global_offset(2);
    size_t place = (z * height + y) * width + x;
"""

# Nothing of the work-group: any geometry will do.
_PLAIN = f"""
kernel void plain(global int *out, int number)
{{{_PLACE}
    int total = number;
    for (int i = 0; i < (int)(place % 5); ++i)
        total += i * (int)get_global_id(0);
    if (x % 7 == 3)
        total = -total;
    out[place] = total + (int)(width * 1000 + height * 10);
}}
"""

# An early way out, ids narrowed at once, a private array, and a dimension that is known only at run time.
_EARLY = f"""
kernel void early(global int *out, int number)
{{{_PLACE}
    int kept[4];
    uint id = get_global_id(0);
    for (int i = 0; i < 4; ++i)
        kept[i] = (int)get_global_size((number + i) % 3) + i;
    if (id % 3 == 1)
        return;
    out[place] = kept[place % 4] * 100 + id;
}}
"""

# Asks for local ids and sizes, without barriers: global ids made of them.
_PARTS = f"""
kernel void parts(global int *out, int number)
{{{_PLACE}
    size_t again = get_group_id(0) * get_local_size(0) + get_local_id(0);
    int groups = get_num_groups(0) * get_local_size(0) == width && get_local_id(1) < get_local_size(1);
    out[place] = (int)(again * 10 + groups) + number;
}}
"""

# Static local memory between barriers: each work-item moves what another one has written.
_STATIC = f"""
kernel void fixed(global int *out, int number)
{{{_PLACE}
    local int tile[8192];
    size_t items = get_local_size(0) * get_local_size(1) * get_local_size(2);
    size_t item = (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0);
    tile[item] = (int)place * number;
    barrier(CLK_LOCAL_MEM_FENCE);
    int other = tile[items - 1 - item];
    barrier(CLK_LOCAL_MEM_FENCE);
    tile[items - 1 - item] = other;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[place] = tile[item];
}}
"""

# The same with local memory that the launch passes, in a loop of barriers.
_DYNAMIC = f"""
kernel void passed(global int *out, int number, local int *given)
{{{_PLACE}
    size_t items = get_local_size(0) * get_local_size(1) * get_local_size(2);
    size_t item = (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0);
    given[item] = (int)place;
    for (int i = 0; i < 2 * number; ++i) {{
        barrier(CLK_LOCAL_MEM_FENCE);
        int other = given[items - 1 - item];
        barrier(CLK_LOCAL_MEM_FENCE);
        given[item] = other + (i % 2 ? 1 : -1);
    }}
    out[place] = given[item];
}}
"""

KERNELS = {"plain": _PLAIN, "early": _EARLY, "parts": _PARTS, "fixed": _STATIC, "passed": _DYNAMIC}
