"""The cost of coarsening grows linearly, by calls of Python's functions, which no other load disturbs."""

from __future__ import annotations

import sys
from types import FrameType

import pytest

from coarsen.frontend.lower import lower
from tests import compile_time
from tests.compile_time import coarsen_to_text


def synthetic_source(statements: int) -> str:
    """A kernel with straight-line code, divergent branches and uniform loops in turn."""
    lines = []
    for i in range(statements):
        if i % 4 == 0:
            lines.append(
                f"if (data[id + {i}] > {i}) sum += data[id * 3 + {i}]; else sum ^= (sum << {1 + i % 7}) + id;"
            )
            lines.append("for (int j = 0; j < count; ++j) sum += j * data[j];")
        else:
            lines.append(f"sum = sum * {i + 3} + (data[id + {i}] >> {i % 5});")
    body = "\n    ".join(lines)
    return (
        "kernel void synthetic(global int *data, int count) {\n"
        f"    int id = get_global_id(0);\n    int sum = id;\n    {body}\n    data[id] = sum;\n}}\n"
    )


def cost(statements: int, factor: int) -> tuple[int, int]:
    """Instructions × factor of a kernel, and the calls of Python's functions that coarsening it makes."""
    kernel = lower(synthetic_source(statements))
    coarsen_to_text(kernel, factor)
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        coarsen_to_text(kernel, factor)
    finally:
        sys.setprofile(None)
    return kernel.length * factor, calls


@pytest.mark.parametrize(("statements", "factor"), [(10, 2), (5, 4)])
def test_calls_grow_linearly(statements: int, factor: int) -> None:
    small, large = cost(5, 2), cost(statements, factor)
    assert large[1] < small[1] * 1.15 * large[0] / small[0]


@pytest.mark.parametrize(("taken", "status"), [([2.0, 1.0, 3.0], 0), ([1.0, 2.0, 3.0], 1)])
def test_the_limit_is_said(
    taken: list[float], status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of clang, of coarsening, and of both."""
    monkeypatch.setattr(compile_time, "seconds", _given(taken))
    assert compile_time.main() == status
    assert ("LIMIT PASSED" in capsys.readouterr().out) == bool(status)


def _given(taken: list[float]) -> object:
    left = iter(taken * (compile_time.REPETITIONS + 1))
    return lambda _action: next(left)
