"""Conditions on positions, however long and however often they use their parts."""

from __future__ import annotations

import pytest

from coarsen.analysis.agreement_tests import side_of_one
from coarsen.frontend.lower import lower
from coarsen.transform.coarsen import analyse
from coarsen.transform.regions.plan_regions import is_agreement_likely


def guarded(*lines: str, condition: str) -> bool:
    """Whether work-items are likely to agree on a condition on `x`, which is an id at first."""
    source = (
        "kernel void guarded(global int *d, int n) { int x = get_global_id(0);"
        f"{' '.join(lines)} if ({condition}) d[x & 1023] = x; }}"
    )
    analysed = analyse(lower(source), 0)
    (branch,) = analysed.divergence.branches
    return is_agreement_likely(analysed.divergence, branch)


def test_parts_that_are_used_twice_are_looked_at_once() -> None:
    # One by one for each use that would be 2^60 steps.
    assert guarded(*["x = x * 3 + x;"] * 60, condition="x < n")
    assert not guarded("x = d[x];", *["x = x * 3 + x;"] * 60, condition="x < n")


def test_chains_of_any_length() -> None:
    assert guarded(*[f"x += n >> {k % 32};" for k in range(1500)], condition="x < n")


@pytest.mark.parametrize(
    ("condition", "likely"),
    [
        ("x / n < 3", True),
        ("d[x] > 0", False),
        ("(x % 8) > 3", False),
        ("(x % n) > 3", True),
    ],
)
def test_conditions(condition: str, likely: bool) -> None:
    assert guarded(condition=condition) is likely


def test_the_side_of_one_position_behind_many_shifts() -> None:
    source = (
        "kernel void one(global int *d, int n) { int x = get_global_id(0);"
        f"{' '.join(f'x -= n >> {k % 32};' for k in range(1500))} if (x == 3) d[0] = x; }}"
    )
    analysed = analyse(lower(source), 0)
    (branch,) = analysed.divergence.branches
    assert side_of_one(analysed.divergence, branch) in analysed.kernel.block[branch].terminator.targets
