"""From curves to examples: features of the suite's kernels and of users' own."""

from __future__ import annotations

from pathlib import Path

import pytest

from coarsen.base import processes
from coarsen.errors import InvalidInputError
from coarsen.models.examples import Curve
from coarsen.opencl_bench.results.measured_curves import examples_of
from coarsen.tuning.workload.benchmark import LocalSize

# The sum over a work-group can't be coarsened.
SUMS = """\
kernel void sums(global int *values)
{
    values[get_global_id(0)] = work_group_reduce_add(values[get_global_id(0)]);
}
"""
SCALES = """\
kernel void scales(global int *values)
{
    values[get_global_id(0)] *= 2;
}
"""
DESCRIPTION = """\
file = "{name}.cl"
kernel = "{name}"
build_options = ["-cl-std=CL2.0"]
outputs = ["values"]
ndrange = {{ global_size = ["n"], local_size = [64] }}
sizes = {{ test = {{ n = 1024 }} }}

[[arguments]]
name = "values"
buffer = "int"
elements = "n"
values = "zeros"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the descriptions of two kernels."""
    for name, text in (("sums", SUMS), ("scales", SCALES)):
        (tmp_path / f"{name}.cl").write_text(text)
        (tmp_path / f"{name}.toml").write_text(DESCRIPTION.format(name=name))
    return tmp_path


def curve(kernel: str, device: str = "fermi", dimension: int = 0, local_size: LocalSize | None = None) -> Curve:
    return Curve(kernel, device, dimension, local_size, {2: 1.5}, 2)


def test_a_kernel_has_its_features_on_every_device() -> None:
    found = examples_of([curve("sgemm"), curve("sgemm", "cypress"), curve("mtLocal")])
    one, other, transposed = found.examples
    assert found.notes == ()
    assert (one.kernel, one.device, other.device, one.speedup, one.best_factor) == (
        *("sgemm", "fermi", "cypress"),
        {2: 1.5},
        2,
    )
    assert one.table is other.table
    assert transposed.family == "mt"
    assert one.table.kernel == "sgemm"


def test_features_are_along_the_dimension() -> None:
    across, along = examples_of([curve("sgemm"), curve("sgemm", "pocl", 1)]).examples
    assert (across.table.dimension, along.table.dimension) == (0, 1)


def test_in_several_processes_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "FEW", 1)
    wanted = [curve(kernel, device) for kernel in ("sgemm", "nbody", "reduce") for device in ("intel", "pocl")]
    assert examples_of(wanted, processes=2) == examples_of(wanted, processes=1)


def test_an_unknown_kernel_is_named() -> None:
    with pytest.raises(InvalidInputError, match="the kernel 'mine' is not in the suite, so it has no features"):
        examples_of([curve("mine")])
    with pytest.raises(InvalidInputError, match="the kernel 'mine' is neither in somewhere nor in the suite"):
        examples_of([curve("mine")], Path("somewhere"))


def test_users_own_kernels(folder: Path) -> None:
    found = examples_of([curve("scales"), curve("sums"), curve("mt")], folder)
    assert [example.kernel for example in found.examples] == ["scales", "mt"]
    assert [example.family for example in found.examples] == ["scales", "mt"]
    (note,) = found.notes
    assert note.startswith("sums can't be coarsened along dimension 0") and "whole work-group" in note


def test_synthetic_kernels_are_known_by_their_names() -> None:
    first, second = examples_of([curve("synthetic-0-0"), curve("synthetic-0-1")]).examples
    assert (first.kernel, second.kernel) == ("synthetic-0-0", "synthetic-0-1")
    assert (first.family, second.family) == (
        "synthetic-broadcast-uniform-reduction",
        "synthetic-stencil-local_stride-none",
    )
