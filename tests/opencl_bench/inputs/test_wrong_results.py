"""A default version that is wrong at an input ends the tuning, which says where, why and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import VerificationError
from coarsen.opencl_bench.inputs.drawing import list_inputs
from coarsen.opencl_bench.inputs.measuring import check_default, with_wrong_results
from coarsen.opencl_bench.inputs.over_inputs import OverInputs, tune_over_inputs
from coarsen.tuning.engine.plan import Space
from coarsen.tuning.records.measurement import CheckedAgainst, Invalidity, Measurement, Method
from coarsen.tuning.store.database import open_store
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant
from tests.opencl_bench.measurements import some_measurement

# At the larger one of two inputs, the last work-item writes behind the buffer.
KERNEL = """\
#pragma coarsen input length = count
kernel void scale(global float *values, int count)
{
    int item = get_global_id(0);
    if (item < count + (count > 200))
        values[item] *= 0.5f;
}
"""
DESCRIPTION = """\
file = "scale.cl"
kernel = "scale"
outputs = ["values"]
arguments = [
    { name = "values", buffer = "float", elements = "count", values = "uniform(1, 2)" },
    { name = "count", scalar = "int", value = "count" },
]
[ndrange]
global_size = ["(count // 16 + 1) * 16"]
local_size = [16]
[inputs]
ranges = { count = [50, 700] }
count = 2
[sizes.test]
count = 90
"""
DEFAULT = Variant((16,))


def wrong_at(preset: str, oracle: CheckedAgainst = CheckedAgainst.NOTHING) -> Measurement:
    return some_measurement(
        benchmark="scale",
        preset=preset,
        candidate=DEFAULT,
        baseline=DEFAULT,
        invalidity=Invalidity.CORRECTNESS,
        reason="values: 1 of 90 elements",
        oracle=oracle,
    )


def right_at(preset: str) -> Measurement:
    return some_measurement(preset=preset, candidate=DEFAULT, baseline=DEFAULT)


def message_of(*rows: Measurement) -> str:
    with pytest.raises(VerificationError) as raised:
        check_default(rows, DEFAULT)
    return str(raised.value)


def test_a_default_version_that_disagrees_with_a_reference_at_one_input_is_told() -> None:
    rows = right_at("input-000"), wrong_at("input-001", CheckedAgainst.REFERENCE), right_at("input-002")
    assert message_of(*rows) == (
        f"scale: the default version, {DEFAULT}, has wrong results at input-001: values: 1 of 90 elements; others "
        "are compared with it, so correct the kernel, the reference or the tolerances, or leave such inputs out"
    )


def test_many_inputs_are_counted() -> None:
    names = [f"input-{number:03}" for number in range(5)]
    told = message_of(*map(wrong_at, names), *map(wrong_at, names))
    assert "has wrong results at input-000, input-001, input-002 and 2 more: values: 1 of 90" in told
    assert "correct the kernel, its arguments or the tolerances" in told


def test_other_versions_with_wrong_results_are_named() -> None:
    coarsened = Variant((16,), (Coarsening(2),))
    row = some_measurement(
        preset="input-001",
        candidate=coarsened,
        baseline=DEFAULT,
        invalidity=Invalidity.CORRECTNESS,
        reason="values",
    )
    rows = right_at("input-000"), row
    check_default(rows, DEFAULT)
    assert with_wrong_results(rows) == {coarsened: "input-001: values"}


@pytest.mark.compiled_devices
def test_a_default_version_that_writes_behind_a_buffer_at_one_input(
    tmp_path: Path, device: DeviceDescription
) -> None:
    (tmp_path / "scale.cl").write_text(KERNEL)
    path = tmp_path / "scale.toml"
    path.write_text(DESCRIPTION)
    list_inputs(path)
    settings = OverInputs(
        space=Space(factors=(1,), strides=(1,)), method=Method(repetitions=1, minimum_repetitions=1)
    )
    where = "has wrong results at input-001: wrote outside of the buffer values; others are compared with it"
    with open_store(str(tmp_path / "store.sqlite")) as store, pytest.raises(VerificationError, match=where):
        tune_over_inputs(path, device, store, settings)
