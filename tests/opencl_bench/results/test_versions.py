"""An edited kernel's earlier rows are left out, and nothing else is."""

from __future__ import annotations

from coarsen.opencl_bench.results.best import newest_versions
from coarsen.tuning.records.measurement import TRANSFORM
from coarsen.variant.variant import Variant
from tests.opencl_bench.measurements import some_measurement

EARLY, LATE = "2026-11-20T12:00:00+00:00", "2026-11-20T12:00:01Z"
OLD = some_measurement(ir_hash="aa", started_at=EARLY)
NEW = some_measurement(ir_hash="bb", started_at=LATE)


def test_the_version_measured_last_is_kept() -> None:
    also_new = some_measurement(ir_hash="bb", started_at=EARLY, candidate=Variant((8, 8)))
    assert newest_versions([NEW, OLD, also_new]) == ([NEW, also_new], 1)
    assert newest_versions([]) == ([], 0)


def test_other_build_options_and_sizes_are_other_versions() -> None:
    for changes in ({"build_options": ("-cl-fast-relaxed-math",)}, {"size": (("m", 1),)}):
        changed = some_measurement(ir_hash="aa", started_at=LATE, **changes)
        assert newest_versions([OLD, changed]) == ([changed], 1)


def test_other_transforms_are_other_configurations_and_no_other_version() -> None:
    old = some_measurement(started_at=EARLY)
    later = some_measurement(started_at=LATE, versions=(*old.environment.versions, (TRANSFORM, "2")))
    assert old.key != later.key
    assert newest_versions([old, later]) == ([old, later], 0)


def test_what_stands_beside_each_other_is_kept() -> None:
    changes = (
        {"device": "another"},
        {"form": "spirv"},
        {"benchmark": "another"},
        {"preset": "test"},
        {"candidate": Variant((16, 16), (), (("TILE", "8"),))},
    )
    beside = [some_measurement(ir_hash="bb", started_at=LATE, **change) for change in changes]
    assert newest_versions([OLD, *beside]) == ([OLD, *beside], 0)
