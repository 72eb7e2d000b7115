"""`coarsen describe`: the file that it writes is read back as it is, and fits the kernel."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from coarsen.cli.describe import describe
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.described.check_signature import check_kernel_of
from coarsen.opencl_bench.workloads.described.read import read_benchmark
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.tuning.workload.benchmark import Benchmark, ScalarArgument

MIXED = """\
typedef struct { float weight; int next; } Node;
#ifndef OFFSET
#error OFFSET
#endif
kernel void mixed(global float *sums, global const int *indices, constant Node *nodes, local float4 *tile,
                  float factor, uint count, char small, global uchar *flags, float4 shift, global int *counters,
                  Node first)
{
    uint item = get_global_id(1);
    tile[get_local_id(0)] = shift;
    global float *place = sums + item;
    if (item < count)
        *place = factor * indices[item] + tile->x + nodes->weight + first.weight + small + flags[item] + OFFSET;
    atomic_inc(counters);
}
"""


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    path = tmp_path / "mixed.cl"
    path.write_text(MIXED)
    return path


def initialised(kernel_file: Path, **options: object) -> Benchmark:
    """What is read back from the file that `describe` writes beside a kernel."""
    describe(kernel_file=kernel_file, **options)
    path = kernel_file.with_suffix(".toml")
    check_kernel_of(path)
    return read_benchmark(path)


def test_a_matrix_has_as_many_elements_as_its_sizes_multiply_to(tmp_path: Path) -> None:
    path = tmp_path / "mv.cl"
    path.write_text("""\
kernel void mv(global const float *a, global const float *x, int width, int height, global float *y)
{
    int row = get_global_id(0);
    float sum = 0.0f;
    for (int column = 0; column < width; column++)
        sum += a[row * width + column] * x[column];
    if (row < height)
        y[row] = sum;
}
""")
    read = initialised(path)
    n = read.preset("test").size["n"]
    assert n < 1024 < read.preset("cpu").size["n"] ** 2 <= 1 << 20
    buffers = read.workload("test").buffers
    assert {name: buffer.size for name, buffer in buffers.items()} == {"a": n * n, "x": n, "y": n}


@pytest.mark.parametrize("name", SUITE)
def test_the_suites_kernels(name: str, tmp_path: Path) -> None:
    source = SUITE[name].kernel_file
    path = tmp_path / "folder" / f"{name}.toml"
    path.parent.mkdir()
    describe(kernel_file=source, output=path)
    check_kernel_of(path)
    read = read_benchmark(path)
    assert read.kernel == name
    assert read.kernel_file.samefile(source)
    assert read.dimensions == SUITE[name].dimensions
    assert list(read.presets) == ["test", "cpu", "gpu"]
    workload, own = read.workload("test"), SUITE[name].workload("test")
    assert [output.rstrip("_0123456789") for output in own.outputs] == list(workload.outputs)
    assert len(workload.launches[0].arguments) == len(own.launches[0].arguments)


def test_every_kind_of_parameter(mixed: Path) -> None:
    read = initialised(mixed, define=["OFFSET=4"])
    assert (read.build_options, read.tunables) == (("-cl-std=CL1.2",), {"OFFSET": ("4",)})
    assert read.dimensions == (0, 1)
    workload = read.workload("test")
    assert workload.outputs == ("sums", "counters")
    assert {name: array.dtype for name, array in workload.buffers.items()} == {
        "sums": np.float32,
        "indices": np.int32,
        "nodes": np.uint8,
        "flags": np.uint8,
        "counters": np.int32,
    }
    assert workload.buffers["nodes"].shape[1] == 8
    assert isinstance(first := workload.launches[0].arguments[-1], ScalarArgument)
    assert first.value.tobytes() == bytes(8)
    # What is only written is found out by its value before; what is read has a value to begin with.
    assert np.isnan(workload.buffers["sums"]).all()
    assert 0 <= workload.buffers["counters"].min() <= workload.buffers["counters"].max() < 64


def test_what_cannot_be_known_is_marked(mixed: Path) -> None:
    initialised(mixed, define=["OFFSET=4"])
    lines = mixed.with_suffix(".toml").read_text().splitlines()
    for start in ("outputs =", "global_size =", "n =", "OFFSET =", "elements =", "value ="):
        found = [line for line in lines if line.startswith(start)]
        assert found and all("# CHECK" in line for line in found)
    assert "[[arguments]]  # global const int* indices" in lines


def test_macros_and_include_folders_are_written_as_they_were_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    headers = tmp_path / "kernels" / "headers"
    headers.mkdir(parents=True)
    (headers / "scale.h").write_text("#define SCALED(x) (FACTOR * (x) + OFFSET)\n")
    kernel = Path("kernels/scale.cl")
    kernel.write_text(
        '#include "scale.h"\n#ifndef FAST\n#error FAST\n#endif\n'
        "kernel void scale(global int *o) { o[get_global_id(0)] = SCALED(3); }\n"
    )
    definitions = ["FACTOR=2", "OFFSET=(1 + 2)", "FAST"]
    read = initialised(kernel, define=definitions, include=["kernels/headers", str(headers)])
    assert read.tunables == {"FACTOR": ("2",)}
    # The folder of the first is looked for beside the file, wherever the command is run from.
    lines = kernel.with_suffix(".toml").read_text().splitlines()
    options = ["-DOFFSET='(1 + 2)'", "-DFAST", "-Iheaders", f"-I{headers}", "-cl-std=CL1.2"]
    assert f"build_options = {json.dumps(options)}" in lines


def test_a_demanded_work_group_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "fixed.cl"
    path.write_text(
        "kernel __attribute__((reqd_work_group_size(12, 1, 1))) void fixed(global int *o)"
        "{ o[get_global_id(0)] = 1; }\n"
    )
    read = initialised(path)
    assert read.local_sizes == ((12,),)
    assert all(preset.size["n"] % 12 == 0 for preset in read.presets.values())


def test_local_sizes_are_to_be_checked_where_the_kernel_fixes_its_local_memory(tmp_path: Path) -> None:
    kernel = tmp_path / "tile.cl"
    kernel.write_text(
        "kernel void tile(global int *o) { local int t[128]; int l = get_local_id(0); t[l] = l;"
        "barrier(CLK_LOCAL_MEM_FENCE); o[l] = t[127 - l]; }\n"
    )
    initialised(kernel)
    mark = re.compile(r"^local_sizes = .*# CHECK: is the kernel's local memory large enough", re.MULTILINE)
    assert mark.search(kernel.with_suffix(".toml").read_text())
    kernel.write_text("kernel void tile(global int *o) { o[get_global_id(0)] = 1; }\n")
    initialised(kernel, force=True)
    assert not mark.search(kernel.with_suffix(".toml").read_text())


def test_nothing_is_overwritten_unless_forced(tmp_path: Path) -> None:
    kernel = tmp_path / "one.cl"
    kernel.write_text("kernel void one(global int *o) { o[get_global_id(0)] = 1; }\n")
    path = tmp_path / "one.toml"
    path.write_text("mine")
    with pytest.raises(InvalidInputError, match=r"one\.toml: the file is there already; --force overwrites it"):
        describe(kernel_file=kernel)
    assert path.read_text() == "mine"
    assert initialised(kernel, force=True).kernel == "one"


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        (
            "global int *o, read_only image1d_buffer_t picture",
            "'picture' is of type image1d_buffer_t, which a benchmark can't have; time it in a program of your",
        ),
        ("global const int *o", "the kernel 'k' has no buffer and no image that it may write"),
        ("", "the kernel 'k' has no buffer and no image that it may write"),
    ],
)
def test_kernels_that_are_no_benchmark(tmp_path: Path, parameters: str, words: str) -> None:
    kernel = tmp_path / "k.cl"
    kernel.write_text(f"kernel void k({parameters}) {{ }}\n")
    with pytest.raises(InvalidInputError, match=words):
        describe(kernel_file=kernel)
    assert not kernel.with_suffix(".toml").exists()


@pytest.mark.parametrize(
    ("name", "output", "words"),
    [
        ("k.ll", None, "needs OpenCL C source"),
        ("k.cl", "k.txt", "must end with .toml"),
        ("gone.cl", None, "gone.cl"),
    ],
)
def test_files_that_do_not_do(tmp_path: Path, name: str, output: str | None, words: str) -> None:
    for file in ("k.ll", "k.cl"):
        (tmp_path / file).write_text("kernel void k(global int *o) { *o = 1; }\n")
    with pytest.raises(InvalidInputError, match=words):
        describe(kernel_file=tmp_path / name, output=tmp_path / output if output else None)


def test_as_a_command(mixed: Path) -> None:
    application = typer.Typer()
    application.command()(describe)
    words = [str(mixed), "-k", "mixed", "-D", "OFFSET=1", "-o", str(mixed.with_name("other.toml"))]
    result = CliRunner().invoke(application, words)
    assert result.exit_code == 0, result.output
    assert "coarsen tune" in result.output
    assert read_benchmark(mixed.with_name("other.toml")).name == "other"


def test_images_and_samplers_are_written_down_as_the_kernel_uses_them(tmp_path: Path) -> None:
    kernel = tmp_path / "k.cl"
    kernel.write_text("""\
kernel void k(read_only image2d_t in, sampler_t edge, write_only image2d_array_t out)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imageui(out, (int4)(at, 0, 0), (uint4)(read_imagef(in, edge, at).x * 255.0f));
}
""")
    benchmark = initialised(kernel)
    workload = benchmark.workload("test")
    assert workload.outputs == ("out",)
    assert {name: str(image) for name, image in workload.images.items()} == {
        "in": "image2d of RGBA float",
        "out": "image2d_array of RGBA unsigned_int32",
    }
    assert workload.buffers["in"].shape == (64, 64, 4)
