"""Loops in which work-items wait for each other through memory, and loops that only look as if they did."""

from __future__ import annotations

import pytest

from coarsen.api import coarsen
from coarsen.errors import RefusalError
from coarsen.variant.coarsening import Level

ITEM, GROUP = (Level.ITEM,), (Level.GROUP,)
BOTH = (Level.ITEM, Level.GROUP)
ARGUMENTS = (
    "volatile global int *lock, volatile global int *flags, global int *out, global const int *in, int n, "
    "volatile local int *shared, volatile global atomic_int *a, volatile global uint *sums, "
    "volatile global float *total, volatile global atomic_flag *held"
)
IDS = "int i = get_global_id(0), l = get_local_id(0), g = get_group_id(0);"


def refused_at(body: str, level: Level, dimension: int = 0, helpers: str = "") -> int | None:
    """Return the line of the body at which a kernel is refused for waiting, from 1; None where it isn't."""
    source = f"{helpers}kernel void waits({ARGUMENTS}) {{ {IDS}\n{body}\n}}"
    try:
        coarsen(source, factor=2, dim=dimension, level=level, options="-cl-std=CL2.0")
    except RefusalError as refusal:
        assert refusal.code == "waits-for-another", refusal
        assert refusal.position is not None
        return refusal.position.line - helpers.count("\n") - 1
    return None


WAITING = {
    "lock": (BOTH, "while (atomic_cmpxchg(lock, 0, 1) != 0) { }\nout[0] += i; atomic_xchg(lock, 0);"),
    "lock by exchange": (BOTH, "while (atomic_xchg(&lock[n], 1) == 1);\nout[0] += i; lock[n] = 0;"),
    "lock of a CL2.0 flag": (
        BOTH,
        "while (atomic_flag_test_and_set(held));\nout[0] += i; atomic_flag_clear(held);",
    ),
    "lock by strong exchange": (
        BOTH,
        "int free;\ndo free = 0; while (!atomic_compare_exchange_strong(a, &free, 1));\n"
        "out[0] += i; atomic_store(a, 0);",
    ),
    "tested, then taken": (
        BOTH,
        "do while (*lock != 0); while (atomic_cmpxchg(lock, 0, 1) != 0);\nout[0] += i; *lock = 0;",
    ),
    "with a pause that grows": (
        BOTH,
        "for (int pause = 1; atomic_cmpxchg(lock, 0, 1) != 0; pause *= 2)\n"
        "for (int k = 0; k < pause; ++k) flags[9] = k;\nout[0] += i; *lock = 0;",
    ),
    "lock of each group": (
        GROUP,
        "if (l == 0) { while (atomic_cmpxchg(lock, 0, 1) != 0); out[0] += i; *lock = 0; }",
    ),
    "lock for two of a group": (BOTH, "if (l < 2) { while (atomic_cmpxchg(lock, 0, 1) != 0); *lock = 0; }"),
    "ticket": (
        BOTH,
        "int mine = atomic_inc(&lock[0]);\nwhile (atomic_add(&lock[1], 0) != mine);\n"
        "out[0] += i; atomic_inc(&lock[1]);",
    ),
    "flag of the one before": (
        BOTH,
        "if (i > 0)\n  while (flags[i - 1] == 0);\nout[i] = i; mem_fence(CLK_GLOBAL_MEM_FENCE); flags[i] = 1;",
    ),
    "flag, with goto": (BOTH, "again: if (atomic_load(a) == 0) goto again;\nout[i] = i; atomic_store(a, 1);"),
    "flag, with break": (
        BOTH,
        "for (;;) { int seen = atomic_or(lock, 0); if (seen > 3) break; }\natomic_inc(lock);",
    ),
    "flag, in a variable": (BOTH, "int seen = 0; while (!seen) seen = *lock;\n*lock = i;"),
    "flag, switched on": (
        BOTH,
        "bool on = true; while (on) switch (*lock) { case 2: on = false; break;\n"
        "case 1: *shared = 1; default: break; }\n*lock = 2;",
    ),
    "flag past a fence": (BOTH, "while (out[0] == 0)\n  read_mem_fence(CLK_GLOBAL_MEM_FENCE);\nout[i] = 1;"),
    "one of two must give up": (BOTH, "int k = 0; while (*lock == 0 || k < n) ++k;\n*lock = 1;"),
    "look-back": (
        BOTH,
        "int sum = 0, at = i - 1; while (at >= 0) { int seen = flags[2 * at]; if (seen == 2) break;\n"
        "if (seen == 1) { sum += flags[2 * at + 1]; --at; } }\nflags[2 * i + 1] = sum; flags[2 * i] = 2;",
    ),
    "look-back of groups": (
        GROUP,
        "if (l == 0 && g > 0) while (flags[g - 1] == 0);\nbarrier(CLK_GLOBAL_MEM_FENCE); out[i] = i;\n"
        "barrier(CLK_GLOBAL_MEM_FENCE); if (l == 0) flags[g] = 1;",
    ),
    "barrier of all groups": (
        GROUP,
        "if (l == 0) { atomic_inc(lock);\nwhile (atomic_add(lock, 0) < (int)get_num_groups(0)); }\n"
        "barrier(CLK_GLOBAL_MEM_FENCE); out[i] = in[i];",
    ),
    "told to the group at a barrier": (
        GROUP,
        "local int seen; do { if (l == 0) seen = atomic_or(lock, 0);\n"
        "barrier(CLK_LOCAL_MEM_FENCE); } while (seen == 0);\nif (l == 0) *lock = 1;",
    ),
    "producer and consumer": (BOTH, "if (i & 1) while (flags[i] == 0);\nelse flags[i + 1] = 1;"),
    "one asks, another answers": (BOTH, "if (l == 0) while (*shared == 0);\nif (l == 1) *shared = 1;"),
    "one after the other in turn": (BOTH, "while (atomic_cmpxchg(lock, n - i, n - i - 1) != n - i);"),
    "semaphore": (BOTH, "while (atomic_dec(lock) <= 0) atomic_inc(lock);\nout[0] += i; atomic_inc(lock);"),
    "semaphore by exchange": (
        BOTH,
        "int free; do free = *lock; while (free <= 0 || atomic_cmpxchg(lock, free, free - 1) != free);\n"
        "out[0] += i; atomic_inc(lock);",
    ),
    "locks taken one by one": (
        BOTH,
        "for (int k = 0; k < n;) if (atomic_cmpxchg(&lock[k], 0, 1) == 0) ++k;\nout[0] += i;\n"
        "for (int k = 0; k < n; ++k) lock[k] = 0;",
    ),
    "kept till the next iteration": (
        BOTH,
        "bool done = false; while (!done)\nif (atomic_cmpxchg(lock, 0, 1) == 0) { out[0] += i; "
        "done = true; }\n*lock = 0;",
    ),
    "flags, one after the other": (BOTH, "int k = 0; while (flags[k] == 0) k = (k + 1) % n;\nflags[i] = 1;"),
    "two flags by turns": (BOTH, "int k = 0; for (;;) { if (flags[k]) break; k ^= 1; }\nflags[i] = 1;"),
    "flags, begun anew": (
        BOTH,
        "int k = 0; while (atomic_or(&flags[k], 0) == 0) if (++k == n) k = 0;\nflags[i] = 1;",
    ),
    "seldom looked at": (
        BOTH,
        "int k = 0, seen = 0; do if ((k++ & 63) == 0)\nseen = *lock; while (!seen);\n*lock = 1;",
    ),
    "looked at or not": (
        BOTH,
        "int k = 0; bool seen = false; while (!seen) seen = k++ & 63 ? false : *lock == 1;\n*lock = 1;",
    ),
    "rows solved once others are": (
        BOTH,
        "int sum = 0, k = 0; while (k < n) if (flags[in[k]] == 1) sum += out[in[k++]];\n"
        "out[i] = sum; mem_fence(CLK_GLOBAL_MEM_FENCE); flags[i] = 1;",
    ),
    "gathered": (
        BOTH,
        "int got = 0; while (got < n)\ngot += atomic_xchg(&flags[i], 0);\natomic_inc(&flags[i + 1]);",
    ),
    "queue of locks": (
        BOTH,
        "int before = atomic_xchg(lock, i + 1); if (before) { flags[2 * before] = i + 1;\n"
        "while (flags[2 * i + 1] == 0); }\nout[0] += i; flags[2 * flags[2 * i] + 1] = 1;",
    ),
}


@pytest.mark.parametrize("level", Level)
@pytest.mark.parametrize(("levels", "body"), WAITING.values(), ids=WAITING)
def test_waiting(body: str, levels: tuple[Level, ...], level: Level) -> None:
    assert (refused_at(body, level) is not None) is (level in levels)


GOING_ON = {
    "sum by exchange": "uint old, next; do { old = *sums; next = as_uint(as_float(old) + in[i]); }\n"
    "while (atomic_cmpxchg(sums, old, next) != old);",
    "sum by exchange, of what came back": "uint seen = *sums, old; do { old = seen;\n"
    "seen = atomic_cmpxchg(sums, old, as_uint(as_float(old) + in[i])); } while (seen != old);",
    "sum in a union": "union { uint u; float f; } old, next; do { old.u = *sums; next.f = old.f + in[i]; }\n"
    "while (atomic_cmpxchg(sums, old.u, next.u) != old.u);",
    "sum by two exchanges": "float x = in[i]; "
    "while ((x = atomic_xchg(total, atomic_xchg(total, 0.0f) + x)) != 0.0f);",
    "sum, done in a variable": "bool done = false; while (!done) { int old = *lock;\n"
    "done = atomic_cmpxchg(lock, old, old + in[i]) == old; }",
    "sum, done under a condition": "int done = 0; do { int old = *lock;\n"
    "if (atomic_cmpxchg(lock, old, old + in[i]) == old) { out[i] = old; done = 1; } } while (!done);",
    "largest, with break": "int old = *lock; for (;;) { if (old >= in[i]) break;\n"
    "int seen = atomic_cmpxchg(lock, old, in[i]); if (seen == old) break; old = seen; }",
    "strong": "int old = atomic_load(a); while (!atomic_compare_exchange_strong(a, &old, old + in[i]));",
    "weak": "int old = atomic_load(a); while (!atomic_compare_exchange_weak_explicit(a, &old, old * in[i],\n"
    "memory_order_relaxed, memory_order_relaxed));",
    "strong, read again": "int old; do old = atomic_load(a); "
    "while (!atomic_compare_exchange_strong(a, &old, old + i));",
    "queue": "int k; while ((k = atomic_inc(lock)) < n) out[k] = in[k];",
    "queue with break": "for (;;) { int k = atomic_fetch_add(a, n); if (k >= 100) break; out[k] = in[k]; }",
    "queue of a group": "local int k; for (;;) { if (l == 0) k = atomic_inc(lock); barrier(CLK_LOCAL_MEM_FENCE);\n"
    "if (k >= n) break; out[k] = in[l]; barrier(CLK_LOCAL_MEM_FENCE); }",
    "gives up": "for (int k = 0; k < 100; ++k)\nif (atomic_cmpxchg(lock, 0, 1) == 0) { out[0] += i; "
    "*lock = 0; break; }",
    "gives up, with and": "int k = 0; while (*lock == 0 && k < n) ++k;\n*lock = k;",
    "hash table": "int at = in[i] % n; while (true) { int seen = atomic_cmpxchg(&lock[at], -1, in[i]);\n"
    "if (seen == -1 || seen == in[i]) break; at = (at + 1) % n; }\n*out = at;",
    "list": "int at = i; while (at >= 0) { atomic_inc(&lock[at]); at = in[at]; }",
    "volatile list": "int at = i; while (at >= 0) { out[at] = 1; at = flags[at]; }\nflags[i] = 0;",
    "volatile bound": "for (int k = 0; k < *lock; ++k) out[k] = i;\n*lock = 1;",
    "plain memory": "while (out[0] == 0) { }\nout[i] = 1;",
    "plain memory of its own": "while (out[i] > 1) { out[i] /= 2; atomic_inc(lock); }",
    "read only": "while (in[0] == 0) mem_fence(CLK_GLOBAL_MEM_FENCE);",
    "private": "volatile int x = n; while (x != 1) x = x & 1 ? 3 * x + 1 : x / 2;\n*lock = x;",
    "until nothing changes": "local int changed; do { barrier(CLK_LOCAL_MEM_FENCE); if (l == 0) changed = 0;\n"
    "barrier(CLK_LOCAL_MEM_FENCE); if (atomic_min(&lock[l], lock[l + 1] + 1) > lock[l + 1] + 1) changed = 1;\n"
    "barrier(CLK_LOCAL_MEM_FENCE); } while (changed);",
    "until no atomic changes": "do { barrier(CLK_LOCAL_MEM_FENCE); if (l == 0) *shared = 0;\n"
    "barrier(CLK_LOCAL_MEM_FENCE); if (out[i] > 3) { out[i] /= 2; atomic_or(shared, 1); }\n"
    "barrier(CLK_LOCAL_MEM_FENCE); } while (*shared);",
    "lock for an iteration": "bool done = false; "
    "while (!done)\nif (atomic_cmpxchg(lock, 0, 1) == 0) { out[0] += i;\n"
    "mem_fence(CLK_GLOBAL_MEM_FENCE); atomic_xchg(lock, 0); done = true; }",
    "locks for an iteration": "for (int k = 0; k < n;) if (!atomic_xchg(&lock[k], 1)) { out[k] += i;\n"
    "write_mem_fence(CLK_GLOBAL_MEM_FENCE); lock[k] = 0; ++k; }",
    "last group": "local int last; if (l == 0) last = atomic_inc(lock) == get_num_groups(0) - 1;\n"
    "barrier(CLK_LOCAL_MEM_FENCE); if (last) for (int k = l; k < n; k += get_local_size(0)) out[0] += flags[k];",
    "first element": "int old; do old = lock[0]; while (atomic_cmpxchg(lock, old, old + i) != old);",
    "list, pushed to": "int head; do { head = lock[0]; out[i] = head; }\n"
    "while (atomic_cmpxchg(lock, head, i) != head);",
    "list, popped from": "int head; do { head = lock[0]; if (head == -1) break; }\n"
    "while (atomic_cmpxchg(lock, head, in[head]) != head); out[i] = head;",
    "gives up, counting down": "int k = 1000; while (!flags[0] && --k);\nflags[0] = 1;",
    "gives up, by a choice": "int k = 0; bool on = true; while (on) on = *lock ? false : ++k < n;\n*lock = 1;",
    "hash table, begun anew": "int at = in[i]; while (atomic_cmpxchg(&lock[at], -1, i) != -1)\n"
    "if (++at == n) at = 0; out[i] = at;",
    "hash table, looked at first": "int at = in[i]; for (;;) { int seen = flags[at]; if (seen == i) break;\n"
    "if (seen == -1 && atomic_cmpxchg(&flags[at], -1, i) == -1) break; at = at == n - 1 ? 0 : at + 1; }",
    "search tree": "int at = 0; for (;;) { int way = 2 * at + (in[i] > in[at]), next = flags[way];\n"
    "if (next == -1) { next = atomic_cmpxchg(&flags[way], -1, i); if (next == -1) break; } at = next; }",
    "stored and looked whether it is there": "local volatile uint bins[64]; uint k = in[i], tag = l << 27;\n"
    "uint count; do { count = tag | ((bins[k] & 0x07ffffff) + 1); bins[k] = count; } while (bins[k] != count);",
    "two sets united": "int u = i, v = in[i], again; do { again = 0; int seen; if (u < v) {\n"
    "if ((seen = atomic_cmpxchg(&lock[v], v, u)) != v) { v = seen; again = 1; } } else if (v < u) {\n"
    "if ((seen = atomic_cmpxchg(&lock[u], u, v)) != u) { u = seen; again = 1; } } } while (again);",
    "two sets united by the smaller": "int u = i, v = in[i]; while (u != v) {\n"
    "if (u < v) { int t = u; u = v; v = t; } int seen = atomic_min(&lock[u], v); u = u == seen ? v : seen; }",
    "root of a set": "int at = i; for (;;) { int above = flags[at]; if (above == at) break;\n"
    "int top = flags[above]; if (top != above) atomic_cmpxchg(&flags[at], above, top); at = above; } out[i] = at;",
}


@pytest.mark.parametrize("level", Level)
@pytest.mark.parametrize("body", GOING_ON.values(), ids=GOING_ON)
def test_going_on(body: str, level: Level) -> None:
    assert refused_at(body, level) is None


@pytest.mark.parametrize("level", Level)
def test_a_flag_that_nobody_changes(level: Level) -> None:
    source = (
        "kernel void waits(volatile global const int *restrict go, global int *out) { while (!*go); *out = 1; }"
    )
    assert coarsen(source, factor=2, level=level)


@pytest.mark.parametrize(("dimension", "is_refused"), [(0, False), (1, True)])
def test_one_along_another_dimension_is_not_alone(dimension: int, is_refused: bool) -> None:
    body = "if (l == 0) { while (atomic_cmpxchg(lock, 0, 1) != 0); *lock = 0; }"
    assert (refused_at(body, Level.ITEM, dimension) is not None) is is_refused


@pytest.mark.parametrize(
    "condition",
    ["l == 0 && get_local_id(1) == 0", "i == n", "!l", "get_local_linear_id() == 0", "l - n == 3"],
)
def test_one_alone(condition: str) -> None:
    taken = "while (atomic_cmpxchg(lock, 0, 1) != 0); *lock = 0;"
    assert refused_at(f"if ({condition}) {{ {taken} }}", Level.ITEM) is None
    assert refused_at(f"if (!({condition})) return; {taken}", Level.ITEM) is None


@pytest.mark.parametrize(
    "condition", ["l != 0", "(uchar)l == 0", "l == in[0]", "l % 8 == 0", "g == 0", "l == 0 || n"]
)
def test_not_alone(condition: str) -> None:
    body = f"if ({condition}) {{ while (atomic_cmpxchg(lock, 0, 1) != 0); *lock = 0; }}"
    assert refused_at(body, Level.ITEM) == 1


@pytest.mark.parametrize(("count", "line"), [(2, None), (60, 1)])
def test_a_loop_that_is_too_long_to_judge_is_taken_to_wait(count: int, line: int | None) -> None:
    steps = " ".join(
        f"if (x{k % 7} > {k}) {{ x{(k + 1) % 7} += x{k % 5}; if (x{k % 3} & 1) atomic_inc(&flags[x{k % 7}]); }} "
        f"else x{(k + 3) % 7} ^= atomic_or(&flags[{k}], 0);"
        for k in range(count)
    )
    variables = ", ".join(f"x{k} = i + {k}" for k in range(7))
    assert (
        refused_at(f"int {variables}; while (x0 < n && *lock != x3) {{ x3++; {steps} }} *lock = 3;", Level.ITEM)
        == line
    )


def test_one_at_a_time_is_not_alone() -> None:
    body = "for (int k = 0; k < n; ++k) if (l == k) { while (flags[k] == 0); flags[k + 1] = 1; }"
    assert refused_at(body, Level.ITEM) == 1


def test_the_line_is_that_of_the_loop_in_a_helper() -> None:
    helpers = "void take(volatile global int *lock)\n{\n    while (atomic_cmpxchg(lock, 0, 1) != 0);\n}\n"
    assert refused_at("take(lock);\n*lock = 0;", Level.ITEM, helpers=helpers) == 3 - 4 - 1
