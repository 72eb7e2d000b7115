"""Tuning over inputs from Python: a description, and a sample of a kernel that adapts."""

from __future__ import annotations

from pathlib import Path

import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench import Method, Space, TunedFile, tune_inputs
from coarsen.opencl_bench.inputs.adaptive_tuning import sampled_versions
from coarsen.opencl_bench.inputs.evidence import evidence_of
from coarsen.opencl_bench.workloads.lookup import adaptive_kernel

SHORT = Method(repetitions=1, minimum_repetitions=1)


@pytest.fixture
def place(working_devices: tuple[DeviceDescription, ...]) -> str:
    """A device that compiles: a simulator takes minutes for inputs of real sizes."""
    return next(each.index for each in working_devices if not each.is_called("oclgrind"))


def test_a_sample_of_a_kernel_that_adapts(tmp_path: Path, place: str) -> None:
    path, store = tmp_path / "found.tuned.json", tmp_path / "store.sqlite"

    def tune() -> TunedFile:
        return tune_inputs("adaptive-transpose", place, inputs=2, versions=2, method=SHORT, store=store)

    found = tune()
    times = evidence_of(found).times
    assert found.kernel == "transpose" and times.seconds.shape == (2, 2)
    assert set(times.feature_names) == {feature.name for feature in found.features}
    found.write(path)
    assert TunedFile.read(path) == found
    # All rows are stored, so that nothing is measured again.
    assert tune().to_bytes() == found.to_bytes()


def test_samples_are_drawn_and_begin_with_the_default() -> None:
    kernel = adaptive_kernel("adaptive-mvMul")
    few = sampled_versions(kernel, 8)
    assert len(set(few)) == 8 and few == sampled_versions(kernel, 8) and few[0] == kernel.default
    assert {dict(version.definitions)["IMPL"] for version in few} == {"0", "1", "2"}
    assert sampled_versions(kernel, None) == sampled_versions(kernel, 10**6) == kernel.versions


def test_what_makes_no_sense_is_refused(place: str) -> None:
    with pytest.raises(InvalidInputError, match="0 versions can't be measured: ask for 1 to "):
        sampled_versions(adaptive_kernel("adaptive-mvMul"), 0)
    with pytest.raises(InvalidInputError, match="no benchmark 'adaptive-mvmul'"):
        tune_inputs("adaptive-mvmul", place)
    with pytest.raises(InvalidInputError, match="versions is for adaptive-NAME"):
        tune_inputs("own.toml", place, versions=3)
    with pytest.raises(InvalidInputError, match="space is for a TOML file; adaptive-mvMul has its own"):
        tune_inputs("adaptive-mvMul", place, space=Space())
