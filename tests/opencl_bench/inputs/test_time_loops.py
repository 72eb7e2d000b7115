"""A description with a time loop becomes a tuned file whose version is the loop, and runs as C would."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyopencl as cl
import pytest

import coarsen
from coarsen.devices.discovery import DeviceDescription
from coarsen.dispatch.header import c_header
from coarsen.dispatch.tree import Leaf
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedLaunch
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.inputs.described import check_described, described_versions
from coarsen.opencl_bench.inputs.drawing import list_inputs
from coarsen.opencl_bench.inputs.exported import exported_files
from coarsen.opencl_bench.inputs.over_inputs import OverInputs, tune_over_inputs
from coarsen.opencl_bench.workloads.described.read import read_benchmark, read_description
from coarsen.runtime.kernel import Kernel
from coarsen.tuning.engine.plan import Space
from coarsen.tuning.records.measurement import Method
from coarsen.tuning.store.database import open_store
from coarsen.tuning.workload.benchmark import Array
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant

# Of FDTD: two fields on staggered points, each by a kernel of its own, over so many steps.
SOURCE = """
kernel void electric(global float *e, global const float *h, int n, int steps, int t)
{
    int i = get_global_id(0);
    if (i == 0)
        e[i] = t;
    else if (i < n)
        e[i] -= 0.5f * (h[i] - h[i - 1]);
}
kernel void magnetic(global float *h, global const float *e, int n)
{
    int i = get_global_id(0);
    if (i < n - 1)
        h[i] -= 0.25f * (e[i + 1] - e[i]);
}
"""
DESCRIPTION = """
file = "field.cl"
kernel = "electric"
outputs = ["e", "h"]

[ndrange]
global_size = ["n"]
local_size = [16]

[sizes.test]
n = 64
steps = 5

[inputs]
ranges = { n = [64, 256], steps = [2, 9] }
multiples = { n = 32 }
count = 2

[features]
n = "n"

[[launches]]
repeat = "t in range(1, steps)"
arguments = ["e", "h", "n", "steps", "t"]

[[launches]]
kernel = "magnetic"
coarsen = true
repeat = "t in range(1, steps)"
arguments = ["h", "e", "n"]
local_size = [32]

[[arguments]]
name = "e"
buffer = "float"
elements = "n"
values = "uniform(-1, 1)"

[[arguments]]
name = "h"
buffer = "float"
elements = "n"
values = "uniform(-1, 1)"

[[arguments]]
name = "n"
scalar = "int"
value = "n"

[[arguments]]
name = "steps"
scalar = "int"
value = "steps"

[[arguments]]
name = "t"
scalar = "int"
value = "t"
"""
LOOP = '"t in range(1, steps)"'
METHOD = Method(repetitions=3, minimum_repetitions=3, interval_width=10.0)
SETTINGS = OverInputs(space=Space(factors=(1, 2, 4), strides=(1,), dimensions=(0,)), method=METHOD)


def described(folder: Path, *replacements: tuple[str, str]) -> Path:
    """Write the kernels and their description with parts replaced; return its path."""
    text = DESCRIPTION
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    (folder / "field.cl").write_text(SOURCE)
    path = folder / "field.toml"
    path.write_text(text)
    return path


def in_numpy(e: Array, h: Array, steps: int) -> tuple[Array, Array]:
    """The fields after the loop, as the kernels compute them."""
    e, h = e.copy(), h.copy()
    for t in range(1, steps):
        e[1:] -= np.float32(0.5) * (h[1:] - h[:-1])
        e[0] = t
        h[:-1] -= np.float32(0.25) * (e[1:] - e[:-1])
    return e, h


def test_the_loop_is_one_version(tmp_path: Path) -> None:
    path = described(tmp_path)
    list_inputs(path)
    check_described(path)
    (version,) = described_versions(read_description(path), (Variant((16,)),))
    # The argument t is the number of the turn, which has a name that no argument has.
    assert version.launches == (
        TunedLaunch("electric", ("n",), (), (), ("e", "h", "n", "steps", "int: t_0"), "t_0 in range(1, steps)"),
        TunedLaunch("magnetic", ("n",), ("32",), (), ("h", "e", "n"), "t_0 in range(1, steps)"),
    )


def test_both_are_coarsened_where_the_description_says_so(tmp_path: Path) -> None:
    coarsened = Variant((16,), (Coarsening(2),))
    path = described(tmp_path)
    list_inputs(path)
    (version,) = described_versions(read_description(path), (coarsened,))
    assert [each.coarsened for each in version.launches] == [True, True]
    assert all(each.is_coarsened == (each.kernel == "magnetic") for each in read_benchmark(path).launches("test"))
    path = described(tmp_path, ("coarsen = true\n", ""))
    (version,) = described_versions(read_description(path), (coarsened,))
    assert [each.coarsened for each in version.launches] == [True, False]
    assert not any(each.is_coarsened for each in read_benchmark(path).launches("test"))


def test_a_kernel_that_is_passed_its_buffers_the_other_way_round(tmp_path: Path) -> None:
    """As in Jacobi's method: the caller's order is that of the first."""
    second = (
        ('kernel = "magnetic"\ncoarsen = true', 'kernel = "electric"'),
        ('["h", "e", "n"]\nlocal_size = [32]', '["h", "e", "n", "steps", "t"]'),
    )
    path = described(tmp_path, *second, ('value = "t"', 'value = "t + n"'))
    list_inputs(path)
    (version,) = described_versions(read_description(path), (Variant((16,)),))
    assert [each.arguments for each in version.launches] == [
        ("e", "h", "n", "steps", "int: t_0 + n"),
        ("h", "e", "n", "steps", "int: t_0 + n"),
    ]


@pytest.mark.compiled_devices
@pytest.mark.parametrize("chosen", [0, 1])
def test_it_is_tuned_and_launched(
    chosen: int, device: DeviceDescription, context: cl.Context, tmp_path: Path
) -> None:
    path = described(tmp_path)
    list_inputs(path)
    with open_store(str(tmp_path / "store.sqlite")) as store:
        tuned = tune_over_inputs(path, device, store, SETTINGS)
    assert not tuned.wrong
    assert any(version.is_coarsened for version in tuned.times.versions)
    # Whichever of them is faster here.
    variants = Variant((16,)), Variant((16,), (Coarsening(4),))
    versions = described_versions(read_description(path), variants)
    file = replace(tuned.file, versions=versions, default=0, tree=Leaf(chosen), evidence={})
    file = TunedFile.from_bytes(file.to_bytes())
    assert "electric_step_at" in c_header(file)
    assert "version_1_magnetic.cl" in dict(exported_files(file, tmp_path / "field.cl"))
    kernel = coarsen.Program(context, SOURCE, tuned=file).build(["-cl-std=CL1.2"]).electric
    assert isinstance(kernel, Kernel)
    queue, flags = cl.CommandQueue(context), cl.mem_flags
    for n, steps in ((64, 6), (256, 9), (128, 4), (64, 1)):
        fields = np.random.default_rng(n).uniform(-1, 1, (2, n)).astype(np.float32)
        e, h = (cl.Buffer(context, flags.COPY_HOST_PTR, hostbuf=each) for each in fields)
        kernel.launch(queue, e, h, np.int32(n), np.int32(steps), np.int32(0))
        found = np.empty_like(fields)
        for row, buffer in zip(found, (e, h), strict=True):
            cl.enqueue_copy(queue, row, buffer)
        assert np.allclose(found, in_numpy(fields[0], fields[1], steps), rtol=1e-5, atol=1e-5), (n, steps)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'n = "n"\n',
            'n = "global_size_0"\n',
            "a feature needs global_size_0, and the default version takes several",
        ),
        ('value = "steps"', 'value = "steps + 0"', "no argument of electric has the value of 'steps'"),
    ],
)
def test_what_makes_no_tuned_file_is_refused_before_anything_is_measured(
    old: str, new: str, message: str, device: DeviceDescription, tmp_path: Path
) -> None:
    path = described(tmp_path, (old, new))
    list_inputs(path)
    with open_store(str(tmp_path / "store.sqlite")) as store:
        with pytest.raises(InvalidInputError, match=message):
            tune_over_inputs(path, device, store, SETTINGS)
        assert not [*store.measurements()]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (LOOP, '["t in range(1, steps)", "u in range(0, t)"]', "launches[0].repeat: over inputs one range(…)"),
        (LOOP, '"t in doubling(1, steps)"', "launches[0].repeat: over inputs one range(…)"),
        (LOOP, '"t in range(1, stops)"', "there is no 'stops'"),
        (LOOP, '"t in range(1, steps)"\nwhen = "t > 0"', "which is no parameter"),
        (LOOP, '"t in range(steps, steps)"', "launches: there is none for n = 64, steps = 5"),
        ("coarsen = true", 'coarsen = "n > 64"', "launches[1].coarsen: 'n > 64' names 'n', which is no parameter"),
        ("coarsen = true", "coarsen = 4", "launches[1].coarsen: it must be an array"),
        ('kernel = "magnetic"\n', "", "launches[1].coarsen: electric is the file's kernel, which is coarsened"),
        ('value = "steps"', 'value = "steps + 0"', "no argument of electric has the value of 'steps'"),
    ],
)
def test_what_no_tuned_file_can_have_is_said(old: str, new: str, message: str, tmp_path: Path) -> None:
    path = described(tmp_path, (old, new))
    with pytest.raises(InvalidInputError) as raised:
        list_inputs(path)
        read_benchmark(path)
        check_described(path)
        described_versions(read_description(path), (Variant((16,)),))
    assert message in str(raised.value) and "\n" not in str(raised.value)


def test_loops_inside_of_others_make_no_tuned_file(tmp_path: Path) -> None:
    """At presets they are right, and inputs may be presets of a person's own."""
    nested = (LOOP + "\nargu", '["u in range(0, 2)", "t in range(1, steps)"]\nargu')
    text = described(tmp_path, nested).read_text()
    inputs = text[text.index("[inputs]") : text.index("[features]")]
    path = described(tmp_path, nested, (inputs, ""))
    assert len(read_benchmark(path).launches("test")) == 2 * 4 * 2
    with pytest.raises(
        InvalidInputError, match=r"launches: 't in range\(1, steps\)' inside of 'u in range\(0, 2\)'"
    ):
        described_versions(read_description(path), (Variant((16,)),))


def test_at_presets_there_is_one_launch_each_turn(tmp_path: Path) -> None:
    path = described(tmp_path)
    list_inputs(path)
    launches = read_benchmark(path).launches("test")
    assert [each.kernel for each in launches] == ["electric", "magnetic"] * 4
