"""Kernels whose loops write to memory at addresses that do not change, and what must become of these writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.transform.cases import Argument, Case, LocalMemory, integers, zeros

ITEMS, GROUP = 96, 24


@dataclass(frozen=True)
class Small:
    """A case, how many locations are kept in registers, and the codes of those that are not.

    `once`: whether it is coarsened along one dimension at one level alone, since Intel's compiler crashes else.
    """

    case: Case
    kept: int
    left: tuple[str, ...] = ()
    once: bool = False


def _small(name: str, text: str, kept: int, *left: str, rounds: int = 5, **more: Any) -> Small:  # noqa: ANN401
    once = more.pop("once", False)

    def arguments(rng: np.random.Generator, items: int) -> list[Argument]:
        return [integers(rng, 16 * items), integers(rng, 2 * items), zeros(8 * items), np.int32(rounds)]

    case = Case(
        "k",
        more.pop("global_size", (ITEMS,)),
        more.pop("local_size", (GROUP,)),
        more.pop("arguments", arguments),
        text=text,
        **more,
    )
    return Small(case, kept, left, once)


_HEAD = "kernel void k(global int *a, global int *b, global int *c, int n)\n{\n    int i = get_global_id(0);\n"
_PRODUCT = """
kernel void k(global int *a, global int *b, global int *c, int n)
{
    int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0);
    for (int j = 0; j < n; j++)
        c[y * w + x] += a[y * n + j] * b[j * w + x];
}
"""


def _named(**kernels: Small) -> dict[str, Small]:
    return kernels


def _owned_by_others(rng: np.random.Generator, items: int) -> list[Argument]:
    # Work-items that skip their loop name the place of the one before, which is its own, or one far away.
    owners = np.arange(items, dtype=np.int32)
    counts = (owners % 3).astype(np.int32)
    places = np.where(counts == 0, np.where(owners % 2 == 1, owners - 1, 1 << 28), owners)
    return [integers(rng, 16), counts, places.astype(np.int32), zeros(items)]


_OWNED = """
kernel void k(global int *a, global int *counts, global int *places, global int *c)
{
    int i = get_global_id(0);
    long place = places[i];
    for (int j = 0; j < counts[i]; j++)
        c[place] = c[place] * 3 + a[j];
}
"""
_OWNED_TESTED = """
kernel void k(global int *a, global int *counts, global int *places, global int *c)
{
    int i = get_global_id(0), count = counts[i];
    long place = places[i];
    for (int t = 0; t < 3; t++) {
        a[16 * i + t] += 1;
        if (count > 0)
            for (int j = 0; j < count; j++)
                c[place] = c[place] * 3 + j + t;
    }
}
"""


def _owned_tested(rng: np.random.Generator, items: int) -> list[Argument]:
    return [integers(rng, 16 * items), *_owned_by_others(rng, items)[1:]]


def _with_tile(rng: np.random.Generator, items: int) -> list[Argument]:
    return [integers(rng, 16 * items), integers(rng, items), zeros(items), np.int32(5), LocalMemory(4)]


_TWO: dict[str, Any] = {"global_size": (16, 12), "local_size": (8, 4), "dimensions": (0, 1)}
SMALL = _named(
    product=_small("product", _PRODUCT, 1, **_TWO),
    product_of_nothing=_small("product", _PRODUCT, 1, rounds=0, **_TWO),
    set_before=_small("set", _HEAD + "c[i] = 0; for (int j = 0; j < n; j++) c[i] += a[j * i] * b[j];\n}\n", 1),
    far_away=_small("far", _HEAD + "for (int j = 0; j < n; j++) c[i + (1L << 36)] += a[j];\n}\n", 1, rounds=0),
    counts_of_items=_small("owned", _OWNED, 1, arguments=_owned_by_others),
    tests_of_items=_small("owned", _OWNED_TESTED, 2, arguments=_owned_tested),
    stored_only=_small(
        "stored", _HEAD + "for (int j = 0; j < n + i % 2; j++) c[i] = a[i] * j + b[j];\n}\n", 1, once=True
    ),
    at_least_once=_small("do", _HEAD + "int j = 0; do c[i] ^= a[i * 16 + j]; while (++j < i % 7);\n}\n", 1),
    left_after_store=_small(
        "breaks",
        _HEAD
        + "for (int j = 0; j < n; j++) { c[i] += a[i + j]; if (b[j] % 5 == i % 5) break; b[i + 96] += 1; }\n}",
        1,
        "may-overlap",
    ),
    left_before_store=_small(
        "breaks",
        _HEAD + "for (int j = 0; j < n; j++) { if (a[i + j] % 3 == 0) return; c[i] += a[i + j]; }\n}",
        0,
        "not-each-time",
    ),
    tested_itself=_small(
        "tested", _HEAD + "c[i] = a[i] % 40; while (c[i] < n * i) c[i] += 3;\n}", 0, "not-each-time", rounds=1
    ),
    tested_in_vain=_small("tested", _HEAD + "while (c[i] > n) c[i] += 3;\n}", 0, "not-each-time"),
    under_condition=_small(
        "condition",
        _HEAD + "for (int j = 0; j < n; j++) { if (a[i + j] % 3 == 0) continue; c[i] += a[i + j]; }\n}",
        0,
        "not-each-time",
    ),
    always_and_under_condition=_small(
        "both", _HEAD + "for (int j = 0; j < n; j++) { c[i] += j; if (a[i + j] & 1) c[i] *= 3; }\n}", 1
    ),
    some_items=_small(
        "some", _HEAD + "if (a[i] % 3) for (int j = 0; j < n; j++) c[i] += a[i + j]; else c[i] = 7;\n}", 1
    ),
    nested=_small(
        "nested",
        _HEAD + "for (int t = 0; t < i % 4; t++) for (int j = 0; j < n; j++) c[i] += a[t * n + j] * b[j];\n}",
        2,
    ),
    nested_in_vain=_small(
        "nested",
        _HEAD + "for (int t = 0; t < n; t++) for (int j = n; j < i % 4 + 3; j++) c[i] += a[t * 3 + j] * b[j];\n}",
        2,
    ),
    inner_changes=_small(
        "nested",
        _HEAD + "for (int t = 0; t < n; t++) for (int j = 0; j < t; j++) c[i] += a[t] * b[j];\n}",
        1,
        "not-each-time",
    ),
    fields=_small(
        "fields",
        "typedef struct { int x, y; } P;\n"
        "kernel void k(global int *a, global int *b, global P *c, int n)\n{\n    int i = get_global_id(0);\n"
        "for (int j = 0; j < n; j++) { c[i].x += a[i + j]; c[i].y = c[i].x ^ c[i].y; }\n}",
        2,
    ),
    neighbours=_small(
        "neighbours",
        _HEAD + "long p = 2 * i; for (int j = 0; j < n; j++) { c[p] += a[i + j]; c[p + 1] += c[p] * j; }\n}",
        2,
    ),
    one_array=_small(
        "alias",
        _HEAD + "for (int j = 0; j < n; j++) c[i] += c[(i + j) / 96 * 96 + i];\n}",
        0,
        "may-overlap",
    ),
    places_that_meet=_small(
        "alias",
        _HEAD + "for (int j = 0; j < n; j++) { c[i] += j; c[i + b[0] / 2000] *= 3; }\n}",
        0,
        "may-overlap",
    ),
    two_types=_small(
        "types",
        _HEAD + "for (int j = 0; j < n; j++) { c[i] += a[j]; ((global uchar *)c)[4 * i] = j; }\n}",
        0,
        "may-overlap",
        "may-overlap",
    ),
    behind_barriers=_small(
        "tile",
        "kernel void k(global int *a, global int *b, global int *c, int n, local int *tile)\n{\n"
        "    int i = get_global_id(0), l = get_local_id(0);\n    tile[l] = i;\n"
        "    for (int j = 0; j < n; j++) tile[l] += a[i + j];\n    barrier(CLK_LOCAL_MEM_FENCE);\n"
        "    c[i] = tile[l ^ 1];\n}",
        1,
        arguments=_with_tile,
    ),
    around_barriers=_small(
        "tile",
        "kernel void k(global int *a, global int *b, global int *c, int n, local int *tile)\n{\n"
        "    int i = get_global_id(0), l = get_local_id(0);\n    tile[l] = i; c[i] = 0;\n"
        "    for (int j = 0; j < n; j++) {\n        barrier(CLK_LOCAL_MEM_FENCE);\n"
        "        c[i] += tile[l ^ 1];\n        barrier(CLK_LOCAL_MEM_FENCE);\n"
        "        tile[l] += a[i + j];\n    }\n}",
        0,
        "memory-ordered",
        "memory-ordered",
        arguments=_with_tile,
    ),
    seen_by_others=_small(
        "seen",
        _HEAD + "for (int j = 0; j < n; j++) {\n        c[i] += a[i + j];\n"
        "        barrier(CLK_GLOBAL_MEM_FENCE);\n        int other = c[i ^ 1];\n"
        "        barrier(CLK_GLOBAL_MEM_FENCE);\n        c[i] += other;\n    }\n}",
        0,
        "memory-ordered",
    ),
    vectors=_small(
        "vectors",
        "kernel void k(global int *a, global int4 *b, global int4 *c, int n)\n{\n    int i = get_global_id(0);\n"
        "for (int j = 0; j < n; j++) c[i] += a[i + j] * b[j];\n}",
        1,
    ),
    moving_pointers=_small(
        "moving", _HEAD + "global int *p = a; for (int j = 0; j < n; j++) c[i] += *p++ * b[j];\n}", 1
    ),
    between_stores=_small(
        "reloads", _HEAD + "c[i] = a[i] + b[n]; c[i + 96] = a[i] * b[n]; c[i + 192] = a[i] - c[i];\n}", 0
    ),
)
