"""What is chosen for the divergent regions of small kernels, and why."""

from __future__ import annotations

import pytest

from coarsen.frontend.lower import lower
from coarsen.transform.coarsen import analyse
from coarsen.transform.regions.plan import PlannedRegion, Treatment
from coarsen.transform.regions.plan_regions import plan_regions
from coarsen.variant.coarsening import Level
from coarsen.variant.transforms import DEFAULT, DeviceKind, Transforms, Use

ARGUMENTS = "global const int *in, global int *out, int n, local int *tile"
# Long enough for a test of agreement to pay.
WORK = "for (int i = 0; i < n; ++i) out[x] += in[i] * i;"
ALWAYS = Transforms(Use.ALWAYS, Use.ALWAYS)


def planned(body: str, transforms: Transforms = DEFAULT, level: Level = Level.ITEM) -> tuple[PlannedRegion, ...]:
    kernel = lower(f"kernel void k({ARGUMENTS}) {{ const int x = get_global_id(0); {body} }}")
    analysed = analyse(kernel, 0, level)
    return plan_regions(analysed.divergence, analysed.regions, transforms).regions


def reason(region: PlannedRegion) -> str:
    assert region.reason is not None
    assert region.treatment is Treatment.COPIES
    return region.reason.code


@pytest.mark.parametrize(
    "condition",
    [
        "x < n",
        "x >= 1 && x < n - 1",
        "x * 2 + 3 > n",
        "x / n < 5",
        "x / 256 != n",
        "(x >> 8) < n",
        "x + get_local_id(0) < n",
        "in[0] > x",
    ],
)
def test_a_test_of_positions_gets_a_fast_path(condition: str) -> None:
    (region,) = planned(f"if ({condition}) {{ {WORK} }}")
    assert region.treatment is Treatment.FAST_PATH
    assert region.reason is None
    assert not region.entry.is_restart


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ("in[x] > 0", "agreement-unknown"),
        ("x % 2", "agreement-unknown"),
        ("x & 1", "agreement-unknown"),
        ("x < n && in[x] > 0", "mostly-copied"),
        ("x == n", "for-one-alone"),
        ("n == x + 3", "for-one-alone"),
    ],
)
def test_other_tests_get_copies(condition: str, code: str) -> None:
    (region,) = planned(f"if ({condition}) {{ {WORK} }}")
    assert reason(region) == code
    (forced,) = planned(f"if ({condition}) {{ {WORK} }}", ALWAYS)
    assert forced.treatment is Treatment.FAST_PATH


def test_what_one_work_item_does_not_do_gets_a_fast_path() -> None:
    (region,) = planned(f"if (x != n) {{ {WORK} }}")
    assert region.treatment is Treatment.FAST_PATH
    (region,) = planned(f"if (x == n) out[0] = 1; else {{ {WORK} }}")
    assert region.treatment is Treatment.FAST_PATH


def test_a_short_region_gets_copies() -> None:
    (region,) = planned("if (x < n) out[x] = 1;")
    assert reason(region) == "too-short"


def test_guards_without_effects_between_share_a_slow_path() -> None:
    inner = f"int w = in[x + v]; if (x * w >= 0 || w) {{ {WORK} }}"
    (region,) = planned(f"if (x < n) {{ int v = in[x]; if (x + v - v > 3) {{ {inner} }} }}", ALWAYS)
    assert len(region.branches) > 1
    assert not region.nested


def test_a_guard_behind_a_store_has_its_own_region() -> None:
    (region,) = planned(f"if (x < n) {{ out[x] = 1; if (x + 5 < n) {{ {WORK} }} }}")
    assert len(region.branches) == 1
    (inner,) = region.nested
    assert inner.treatment is Treatment.FAST_PATH


def test_a_guard_on_data_inside_of_one_on_positions_is_copied_inside_of_the_fast_path() -> None:
    (region,) = planned(f"if (x < n) {{ if (in[x] > 3) out[x] = 1; {WORK} }}")
    assert region.treatment is Treatment.FAST_PATH
    (inner,) = region.nested
    assert reason(inner) == "agreement-unknown"


@pytest.mark.parametrize(
    ("loop", "is_restart"),
    [
        ("for (int i = x; i < n; i += 7) out[i] = in[i];", True),
        ("for (int i = 0; i < in[x]; ++i) out[x] += i;", True),
        ("int i = x; while (in[i] > 0) { out[i] = 1; ++i; }", True),
        ("for (int i = 0; i < n; ++i) { if (in[x + i] == 3) break; out[x] += i; }", True),
        ("int i = 0; do { out[x] += i; ++i; } while (in[x + i] > 3);", False),
    ],
)
def test_loops_go_in_lock_step(loop: str, is_restart: bool) -> None:
    (region,) = planned(loop)
    assert region.treatment is Treatment.LOCK_STEP
    assert region.entry.is_restart is is_restart


def test_a_loop_that_stores_before_it_breaks_is_copied() -> None:
    (region,) = planned("for (int i = 0; i < n; ++i) { out[x] += i; if (in[x + i] == 3) break; }", ALWAYS)
    assert reason(region) == "effect-before-exit"


def test_on_a_cpu_a_loop_goes_in_lock_step_if_the_replicas_share_its_loads() -> None:
    cpu = Transforms(device_kind=DeviceKind.CPU)
    (sharing,) = planned("int s = 0; for (int i = 0; i < x; ++i) s += in[i]; out[x] = s;", cpu)
    assert sharing.treatment is Treatment.LOCK_STEP
    (streaming,) = planned("int s = 0; for (int i = x; i < n; i += 8) s += in[i]; out[x] = s;", cpu)
    assert reason(streaming) == "too-little-shared"


def test_both_are_turned_off() -> None:
    off = Transforms(Use.NEVER, Use.NEVER)
    guard, loop = planned(f"if (x < n) {{ {WORK} }} for (int i = x; i < n; i += 7) out[i] = in[i];", off)
    assert reason(guard) == reason(loop) == "turned-off"


def test_a_loop_in_a_fast_path_is_nested() -> None:
    (region,) = planned("if (x < n) { int s = 0; for (int i = 0; i < in[x]; ++i) s += in[i]; out[x] = s; }")
    assert [inner.treatment for inner in region.all()] == [Treatment.FAST_PATH, Treatment.LOCK_STEP]


def test_a_loop_with_barriers_goes_in_lock_step_if_groups_leave_it_by_position() -> None:
    by_position, by_data = (
        planned(
            f"for (int i = {start}; i < {end}; i += 3) "
            "{ tile[x % 8] = i; barrier(1); out[x] += tile[0]; barrier(1); }",
            DEFAULT,
            Level.GROUP,
        )
        for start, end in (("get_group_id(0)", "n"), ("0", "in[get_group_id(0)]"))
    )
    assert by_position[0].treatment is Treatment.LOCK_STEP
    assert reason(by_data[0]) == "agreement-unknown"
