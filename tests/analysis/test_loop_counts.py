"""How often loops go round, as expressions; compared with loops that Python runs for every work-item."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pytest

from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.analysis.control_flow import ControlFlow
from coarsen.analysis.expressions import evaluate, expression_text
from coarsen.analysis.loop_counts import LoopCount, LoopCounts
from coarsen.frontend.lower import lower

Rounds = Callable[[int, int, int], Iterable[int]]
GLOBAL, LOCAL = 64, 16


def loops(body: str) -> tuple[LoopCount, ...]:
    """The counts of a kernel's loops, outer ones first."""
    kernel = lower(f"kernel void k(global int *data, int n, int m)\n{{\n{body}\n}}\n")
    return LoopCounts(IndexForms(kernel, ControlFlow(kernel))).all()


def halved(start: int, least: int) -> Iterator[int]:
    """The values of a counter that is halved as long as it is at least so large."""
    while start >= least:
        yield start
        start //= 2


def multiplied(start: int, end: int, base: int) -> Iterator[int]:
    """The values of a counter that is multiplied as long as it is below an end."""
    while start < end:
        yield start
        start *= base


# The loop in C; its count; the same loop in Python for n, m, and a work-item's global id.
EXACT: list[tuple[str, str, Rounds]] = [
    ("for (int i = 0; i < n; ++i)", "n", lambda n, m, x: range(n)),
    (
        "for (int i = 3; i < n; i += 4)",
        "max(⌈(n - 3) / 4⌉, 0)",
        lambda n, m, x: range(3, n, 4),
    ),
    (
        "for (int i = 0; i <= n; i += 2)",
        "⌈(n + 1) / 2⌉",
        lambda n, m, x: range(0, n + 1, 2),
    ),
    ("for (int i = n; i > 0; i -= 3)", "⌈n / 3⌉", lambda n, m, x: range(n, 0, -3)),
    ("for (int i = n - 1; i >= 0; --i)", "n", lambda n, m, x: range(n)),
    ("for (int i = 0; i != n; ++i)", "n", lambda n, m, x: range(n)),
    ("for (int i = -m; i <= m; ++i)", "2·m + 1", lambda n, m, x: range(-m, m + 1)),
    ("for (int i = 0; i < n * m; ++i)", "m·n", lambda n, m, x: range(n * m)),
    ("for (int i = 0; i < n / 4; ++i)", "⌊n / 4⌋", lambda n, m, x: range(n // 4)),
    ("for (int i = 0; i < min(n, m); ++i)", "min(n, m)", lambda n, m, x: range(min(n, m))),
    (
        "for (int i = 0; i < n && i < m; ++i)",
        "min(n, m)",
        lambda n, m, x: range(min(n, m)),
    ),
    (
        "for (int i = 0; i < n; i += get_local_size(0))",
        "⌈n / local_size(0)⌉",
        lambda n, m, x: range(0, n, LOCAL),
    ),
    (
        "for (int i = get_local_id(0); i < n; i += get_local_size(0))",
        "n / local_size(0)",
        lambda n, m, x: range(x % LOCAL, n, LOCAL),
    ),
    (
        "for (int i = get_global_id(0); i < n; i += get_global_size(0))",
        "n / global_size(0)",
        lambda n, m, x: range(x, n, GLOBAL),
    ),
    (
        "for (int i = 4 * get_global_id(0); i < n; i += 4 * get_global_size(0))",
        "⌈n / 4⌉ / global_size(0)",
        lambda n, m, x: range(4 * x, n, 4 * GLOBAL),
    ),
    (
        "for (int i = get_group_id(0) * get_local_size(0) + get_local_id(0); i < n; i += get_global_size(0))",
        "n / (local_size(0)·groups(0))",
        lambda n, m, x: range(x, n, GLOBAL),
    ),
    (
        "for (int i = 0; i < (int)get_local_id(0); ++i)",
        "",
        lambda n, m, x: range(x % LOCAL),
    ),
    ("for (int i = get_local_id(0); i < n; ++i)", "", lambda n, m, x: range(x % LOCAL, n)),
    (
        "for (int s = get_local_size(0) / 2; s > 0; s >>= 1)",
        "⌊log2(⌊local_size(0) / 2⌋)⌋ + 1",
        lambda n, m, x: halved(LOCAL // 2, 1),
    ),
    ("for (int i = get_global_id(0) % 8; i < n; ++i)", "", lambda n, m, x: range(x % 8, n)),
    ("for (uint i = get_global_id(0) & 3; i < 40; i += 1)", "", lambda n, m, x: range(x % 4, 40)),
    ("for (uint s = n; s > 5; s /= 2)", "", lambda n, m, x: halved(n, 6)),
    ("for (uint s = n; s; s >>= 1)", "⌊log2(n)⌋ + 1", lambda n, m, x: halved(n, 1)),
    ("for (int s = 1; s < n; s *= 2)", "⌊log2(n - 1)⌋ + 1", lambda n, m, x: multiplied(1, n, 2)),
    ("for (int s = m; s < n; s *= 3)", "", lambda n, m, x: multiplied(m, n, 3)),
    ("for (int s = 1; s <= n; s <<= 2)", "", lambda n, m, x: multiplied(1, n + 1, 4)),
]


@pytest.mark.parametrize(("head", "text", "rounds"), EXACT, ids=[head for head, *_ in EXACT])
def test_a_count_is_what_runs(head: str, text: str, rounds: Rounds) -> None:
    [found] = loops(f"{head} data[get_global_id(0)] += n;")
    assert found.count is not None
    assert not found.is_bound
    assert not text or expression_text(found.count) == text
    for n, m in [(1, 1), (2, 3), (7, 2), (16, 4), (37, 5), (64, 1), (129, 8), (300, 2)]:
        sizes = {"n": n, "m": m, "global_size(0)": GLOBAL, "local_size(0)": LOCAL, "groups(0)": GLOBAL // LOCAL}
        ran = [len(list(rounds(n, m, item))) for item in range(GLOBAL)]
        assert evaluate(found.count, sizes) == pytest.approx(sum(ran) / GLOBAL, abs=1e-9), (n, m)


def test_a_triangle_is_its_mean() -> None:
    outer, inner = loops("for (int i = 0; i < n; ++i) for (int j = 0; j < i; ++j) data[j] += n;")
    assert outer.count is not None and inner.count is not None
    assert evaluate(outer.count, {"n": 9}) * evaluate(inner.count, {"n": 9}) == 36


def test_a_later_loop_starts_where_an_earlier_one_ended() -> None:
    body = "int i = 0; for (; i + 8 < n; i += 8) data[i] = 1; for (; i < n; ++i) data[i] = 2;"
    first, second = loops(body)
    assert first.count is not None and second.count is not None
    for n in (1, 8, 9, 16, 17, 30):
        rounds = len(range(0, n - 8, 8))
        assert (evaluate(first.count, {"n": n}), evaluate(second.count, {"n": n})) == (rounds, n - 8 * rounds)


def test_a_loop_that_tests_last_runs_once_more() -> None:
    [found] = loops("int i = 0; do { data[i] = 1; } while (++i < n);")
    assert found.count is not None and not found.tested_first
    assert evaluate(found.count, {"n": 5}) == 5


def test_a_break_that_data_decide_leaves_a_bound() -> None:
    [found] = loops("for (int i = 0; i < n; ++i) { data[i] = 1; if (data[i + 1]) break; }")
    assert found.is_bound
    assert found.count is not None and expression_text(found.count) == "n"


@pytest.mark.parametrize(
    "head",
    [
        "for (int i = 0; i < data[0]; ++i)",
        "for (int i = data[0]; i < n; ++i)",
        "for (int i = 0; i < n; i += data[1])",
        "for (int i = 0; i < n; i += n - m)",
        "for (int i = 1; i < n; i = i * i + 1)",
        "while (data[get_global_id(0)] > n)",
        "for (float f = 0; f < 3.0f; f += 1.0f)",
    ],
)
def test_what_data_decide_has_no_count(head: str) -> None:
    [found] = loops(f"{head} data[get_global_id(0)] += n;")
    assert found.count is None


@pytest.mark.parametrize(("first", "test", "rounds"), [(0, "last == 0", 2), (3, "last < 5", None)])
def test_a_counter_that_changes_once(first: int, test: str, rounds: int | None) -> None:
    [loop] = loops(f"int i = {first}, last; do {{ data[i] = n; last = i; i = 1; }} while ({test});")
    assert (None if loop.count is None else evaluate(loop.count, {})) == rounds
