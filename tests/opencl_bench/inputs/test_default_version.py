"""A version that is wrong for one macro value only is found: it is compared with the default version."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.opencl_bench.inputs.measuring import VersionsPlan, measure_versions, with_wrong_results
from coarsen.tuning.processes.compiler import CompilePool
from coarsen.tuning.records.measurement import CheckedAgainst, Invalidity, Measurement, Method
from coarsen.tuning.store.database import Store, open_store
from coarsen.variant.variant import Variant
from tests.opencl_bench.planted import DEFAULT, VERSIONS, version, written

METHOD = Method(repetitions=3, minimum_repetitions=3, interval_width=10.0)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "results.sqlite")) as opened:
        yield opened


def endings(rows: tuple[Measurement, ...]) -> dict[Variant, tuple[Invalidity, CheckedAgainst]]:
    return {row.candidate: (row.invalidity, row.oracle) for row in rows}


@pytest.mark.compiled_devices
def test_a_macro_value_with_wrong_results(
    file: Path, store: Store, pool: CompilePool, device: DeviceDescription
) -> None:
    plan = VersionsPlan(file, device.index, ("small", "large"), VERSIONS, DEFAULT, method=METHOD)
    measured = measure_versions(plan, store, pool=pool)
    for preset in plan.presets:
        right, wrong = (
            (Invalidity.CORRECT, CheckedAgainst.DEFAULT),
            (Invalidity.CORRECTNESS, CheckedAgainst.NOTHING),
        )
        assert endings(tuple(row for row in measured.rows if row.subject.preset == preset)) == {
            DEFAULT: (Invalidity.CORRECT, CheckedAgainst.NOTHING),
            version(2): right,
            version(2, 32): right,
            version(4): wrong,
            version(1, 16, 2): right,
            version(4, 16, 2): wrong,
        }


@pytest.mark.compiled_devices
def test_a_row_that_was_not_compared_with_the_default_is_measured_again(
    file: Path, store: Store, pool: CompilePool, device: DeviceDescription
) -> None:
    plan = VersionsPlan(file, device.index, ("small",), (DEFAULT, version(2)), DEFAULT, method=METHOD)
    for row in measure_versions(plan, store, pool=pool).rows:
        store.replace(replace(row, oracle=CheckedAgainst.NOTHING))
    again = measure_versions(plan, store, pool=pool)
    assert again.measured == 1
    assert endings(tuple(again.rows))[version(2)] == (Invalidity.CORRECT, CheckedAgainst.DEFAULT)
    assert measure_versions(plan, store, pool=pool).measured == 0


@pytest.mark.compiled_devices
def test_a_version_that_is_wrong_at_one_input_is_left_out(
    file: Path, store: Store, pool: CompilePool, device: DeviceDescription
) -> None:
    plan = VersionsPlan(file, device.index, ("small",), (DEFAULT, version(4)), DEFAULT, method=METHOD)
    wrong = with_wrong_results(measure_versions(plan, store, pool=pool).rows)
    assert [*wrong] == [version(4)]
    assert wrong[version(4)].startswith("small: ")
