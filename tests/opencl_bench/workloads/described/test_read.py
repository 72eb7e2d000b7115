"""A user's file becomes a benchmark; every mistake in it is one line that names file and key."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coarsen.dispatch.expressions import parse_condition
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.described.read import read_benchmark
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.tuning.engine.plan import DeviceLimits, Space, points
from coarsen.tuning.workload.benchmark import LocalArgument, ScalarArgument
from tests.opencl_bench.workloads.described.conftest import BLEND_FILE, Write

LIMITS = DeviceLimits(1024, (1024, 1024, 1024), 400)


def test_what_the_file_says_is_in_the_benchmark(write: Write) -> None:
    path = write()
    read = read_benchmark(path)
    assert (read.name, read.kernel, read.kernel_file) == ("blend", "blend", path.parent / "blend.cl")
    assert read.source.startswith("#ifndef WEIGHT")
    assert read.dimensions == (0,)
    assert read.build_options == ("-cl-std=CL1.2",)
    assert read.tunables == {"WEIGHT": ("2", "3")}
    assert read.local_sizes_of("test") == ((64,), (32,), (128,))
    assert {name: preset.size for name, preset in read.presets.items()} == {
        "test": {"n": 1000},
        "cpu": {"n": 100000},
    }


def test_found_by_path(write: Write) -> None:
    path = write()
    assert find_benchmark(str(path)).kernel_file == find_benchmark(path).kernel_file


def test_workload(write: Write) -> None:
    workload = read_benchmark(write()).workload("test", seed=5)
    assert workload.reference is None
    assert workload.outputs == ("output",)
    assert workload.relative_tolerance == 1e-6
    shapes = {name: (array.shape, array.dtype.name) for name, array in workload.buffers.items()}
    assert shapes == {
        "output": ((1000,), "float32"),
        "input": ((1000, 4), "float32"),
        "shift": ((8,), "int32"),
    }
    assert np.isnan(workload.buffers["output"]).all()
    (launch,) = workload.launches
    assert (launch.kernel, launch.global_size, launch.local_size) == ("blend", (1024,), (64,))
    scratch, factor, count, offset = launch.arguments[3:]
    assert scratch == LocalArgument(256)
    assert (factor, count) == (ScalarArgument(np.float32(0.5)), ScalarArgument(np.uint32(1000)))
    assert isinstance(offset, ScalarArgument) and offset.value.tobytes() == np.array([7, 1], np.int32).tobytes()


def test_seed_local_size_and_definitions_count(write: Write) -> None:
    read = read_benchmark(write(("elements = 8\n", 'elements = "WEIGHT * local_size_0"\n')))
    first, again, other = (read.workload("test", seed).buffers["input"] for seed in (1, 1, 2))
    assert np.array_equal(first, again) and not np.array_equal(first, other)
    assert read.workload("test").buffers["shift"].shape == (128,)
    assert read.workload("test", 0, (32,), (("WEIGHT", "3"),)).buffers["shift"].shape == (96,)


def test_the_space_has_every_macro_and_the_device_limits_are_the_presets(write: Write) -> None:
    found = points(read_benchmark(write()), "cpu", Space(factors=(1, 2), strides=(1,)), LIMITS)
    assert [str(point.candidate) for point in found[:2]] == [
        "uncoarsened, local size 64, -D WEIGHT=2",
        "uncoarsened, local size 64, -D WEIGHT=3",
    ]
    assert {point.candidate.local_size for point in found if point.violation is None} == {(64,), (32,)}
    assert {point.violation for point in found if point.violation is not None} == {
        "it needs 512 bytes of local memory, the device has 400"
    }


def test_a_local_size_that_does_not_divide_is_a_violation(write: Write) -> None:
    rounding = 'global_size = ["(n + local_size_0 - 1) // local_size_0 * local_size_0"]'
    read = read_benchmark(
        write((rounding, 'global_size = ["n"]'), ("n = 1000\n", "n = 1024\n"), ("100000", "1088"))
    )
    found = {p.candidate.local_size: p.violation for p in points(read, "cpu", Space((1,)), LIMITS)}
    assert found[(64,)] is None
    assert "ndrange.global_size: the local size 128 does not divide the global size 1088" in str(found[(128,)])


def test_a_condition_that_does_not_hold_is_a_violation(write: Write) -> None:
    conditions = 'local_size = [64]\nconditions = ["local_size_0 <= 32 * WEIGHT", "n > 10"]'
    read = read_benchmark(write(("local_size = [64]", conditions)))
    found = points(read, "test", Space((1,)), replace(LIMITS, local_memory=4096))
    # Rows keep it, and so it names no folder.
    assert {str(p.violation).partition(":")[0] for p in found} == {"None", "blend.toml"}
    assert {
        (p.candidate.local_size, p.candidate.definitions): p.violation and p.violation.partition(": ")[2]
        for p in found
    } == {
        ((64,), (("WEIGHT", "2"),)): None,
        ((64,), (("WEIGHT", "3"),)): None,
        ((32,), (("WEIGHT", "2"),)): None,
        ((32,), (("WEIGHT", "3"),)): None,
        ((128,), (("WEIGHT", "2"),)): "ndrange.conditions: 'local_size_0 <= 32 * WEIGHT' does not hold "
        "for WEIGHT = 2, local_size_0 = 128",
        ((128,), (("WEIGHT", "3"),)): "ndrange.conditions: 'local_size_0 <= 32 * WEIGHT' does not hold "
        "for WEIGHT = 3, local_size_0 = 128",
    }


@pytest.mark.parametrize("sign", ["==", "!=", "<=", ">=", "<", ">"])
@pytest.mark.parametrize("other", [63, 64, 65])
def test_signs_of_conditions(sign: str, other: int) -> None:
    condition = parse_condition(f"size {sign} {other}")
    holds = {
        "==": other == 64,
        "!=": other != 64,
        "<=": other >= 64,
        ">=": other <= 64,
        "<": other > 64,
        ">": other < 64,
    }
    if holds[sign]:
        condition.check({"size": 64})
    else:
        with pytest.raises(InvalidInputError, match=f"'size {sign} {other}' does not hold for size = 64"):
            condition.check({"size": 64})


def test_include_folders_start_at_the_file(write: Write) -> None:
    path = write(
        ('kernel = "blend"\n', 'kernel = "blend"\nbuild_options = ["-Iheaders", "-I/usr/include", "-Werror"]\n')
    )
    assert read_benchmark(path).build_options == (f"-I{path.parent / 'headers'}", "-I/usr/include", "-Werror")


MISTAKES = [
    ("file = ", "fil = ", r"fil: no such key \(did you mean file\?\); there are file"),
    ('"blend.cl"', '"gone.cl"', "file: there is no file"),
    ('kernel = "blend"', "", "kernel: it is missing"),
    ('kernel = "blend"', "kernel = 3", "kernel: it must be a text, not 3"),
    ('kernel = "blend"', 'kernel = "a b"', "kernel: 'a b' is no name"),
    ('kernel = "blend"', "kernel = ", "Invalid value"),
    ('outputs = ["output"]', "outputs = []", "outputs: name at least one buffer"),
    (
        'outputs = ["output"]',
        'outputs = ["output", "factor"]',
        "outputs: there is no buffer and no image 'factor'",
    ),
    ('outputs = ["output"]', 'outputs = "output"', "outputs: it must be an array"),
    ("= 1e-6", "= -1", "relative_tolerance: it must be a number of at least 0"),
    ("= 1e-6", "= nan", "relative_tolerance: it must be a number"),
    ("= 1e-6", "= true", "relative_tolerance: it must be a number"),
    ("[ndrange]", "[nd]", "nd: no such key"),
    ("local_size = [64]", "", "ndrange.local_size: it is missing"),
    ("local_size = [64]", "local_size = [64, 1]", "ndrange.local_size: a local size is 1 positive"),
    ("local_size = [64]", "local_size = [0]", "ndrange.local_size: a local size is 1 positive"),
    ("local_size = [64]", "local_size = []", "ndrange.local_size: a local size is 1 positive"),
    ("local_size = [64]", "local_size = [64]\nconditions = 3", "ndrange.conditions: it must be an array"),
    ("local_size = [64]", 'local_size = [64]\nconditions = ["n"]', "ndrange.conditions: 'n' must compare two"),
    ("local_size = [64]", 'local_size = [64]\nconditions = ["1 < n < 9"]', "ndrange.conditions: .* compare two"),
    ("local_size = [64]", 'local_size = [64]\nconditions = ["n = 9"]', "ndrange.conditions: .* compare two"),
    (
        "local_size = [64]",
        'local_size = [64]\nconditions = ["n == "]',
        "ndrange.conditions: '.*' is no expression",
    ),
    ("local_size = [64]", 'local_size = [64]\nconditions = ["m > 1"]', "ndrange.conditions: there is no 'm'"),
    (
        "local_size = [64]",
        'local_size = [64]\nconditions = ["local_size_0 == 32"]',
        "ndrange.conditions: 'local_size_0 == 32' does not hold for local_size_0 = 64",
    ),
    ("[32], [64]", "[32], 64", r"ndrange.local_sizes\[1\]: a local size is"),
    (
        '["(n + local_size_0 - 1) // local_size_0 * local_size_0"]',
        "[]",
        "ndrange.global_size: it must have an entry",
    ),
    ('["(n + local_size_0 - 1) // local_size_0 * local_size_0"]', "[1.5]", "ndrange.global_size: it must hold"),
    (
        '["(n + local_size_0 - 1) // local_size_0 * local_size_0"]',
        '["n"]',
        "ndrange.global_size: the local size 64",
    ),
    ("(n + local", "(m + local", "ndrange.global_size: there is no 'm'; there are WEIGHT, local_size_0, n"),
    ("WEIGHT = [2, 3]", "WEIGHT = []", "tunables.WEIGHT: it must be an array of numbers"),
    ("WEIGHT = [2, 3]", "WEIGHT = 2", "tunables.WEIGHT: it must be an array"),
    ("WEIGHT = [2, 3]", 'WEIGHT = ["a b"]', "tunables.WEIGHT: a macro's value may not"),
    ("WEIGHT = [2, 3]", 'WEIGHT = ["x"]', r"arguments\[2\].values: there is no 'WEIGHT'"),
    ("WEIGHT = [2, 3]", "n = [2, 3]", "tunables.n: there is a size of this name too"),
    ("[sizes.test]\nn = 1000\n\n[sizes.cpu]\nn = 100000", "", "sizes: there must be at least one preset"),
    ("n = 100000", "n = 100000\nm = 3", "sizes.test.m: it is missing"),
    ("n = 100000", "n = 0", "sizes.cpu.n: a size is a whole number of at least 1"),
    ("n = 100000", "n = 1.5", "sizes.cpu.n: a size is a whole number"),
    ("n = 100000", "n = 100000\nlocal_size_0 = 4", "sizes.cpu.local_size_0: a size can't be called so"),
    ('name = "input"', 'name = "output"', r"arguments\[1\].name: there are two arguments 'output'"),
    ('name = "input"', "", r"arguments\[1\].name: it is missing"),
    ('buffer = "float4"', 'buffer = "float5"', r"arguments\[1\].buffer: 'float5' is no type"),
    ('buffer = "float4"', 'buffer = "float4"\nscalar = "int"', r"arguments\[1\]: it must have one of buffer"),
    ('buffer = "float4"', 'buffer = "float4"\nsize = 3', r"arguments\[1\].size: no such key"),
    ("elements = 8", "", r"arguments\[2\].elements: it is missing"),
    ("elements = 8", "elements = 1.5", r"arguments\[2\].elements: it must be a text or a whole number"),
    (
        "elements = 8",
        'elements = "n - 1000"',
        r"arguments\[2\].elements: 'n - 1000' must be at least 1; it is 0 for n",
    ),
    ('values = "uniform(-1, 1)"', "", r"arguments\[1\].values: it is missing"),
    ('values = "uniform(-1, 1)"', 'values = "normal"', r"arguments\[1\].values: 'normal' must have the form"),
    ("integers(-5, WEIGHT)", "integers(5, WEIGHT)", r"arguments\[2\].values: .* no number between 5 and 2"),
    ('elements = "local_size_0"', "", r"arguments\[3\]: it must have either elements or bytes"),
    ('elements = "local_size_0"', "bytes = 0", r"arguments\[3\].bytes: '0' must be at least 1"),
    ("value = 0.5", "", r"arguments\[4\].value: it is missing"),
    ("value = 0.5", "value = true", r"arguments\[4\].value: it must be a number or an expression"),
    ("value = 0.5", "value = [1, 2]", r"arguments\[4\].value: float has 1 components, not 2"),
    ('value = "n"', "value = -1", r"arguments\[5\].value: -1 is nothing that uint holds"),
    ('value = "n"', "value = inf", r"arguments\[5\].value: inf is nothing that uint holds"),
    ('value = [7, "n % 3"]', 'value = [7, "n % 0"]', r"arguments\[6\].value: 'n % 0' divides by zero"),
]


@pytest.mark.parametrize(("old", "new", "words"), MISTAKES)
def test_mistakes(write: Write, old: str, new: str, words: str) -> None:
    path = write((old, new))
    with pytest.raises(InvalidInputError, match=words) as caught:
        read_benchmark(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message


def test_missing_folder_and_binary_files(tmp_path: Path) -> None:
    for path in (tmp_path / "gone.toml", tmp_path):
        with pytest.raises(InvalidInputError, match=str(path)):
            read_benchmark(path)
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInputError, match="no text in UTF-8"):
        read_benchmark(binary)


def test_a_buffer_beyond_the_memory_is_refused(write: Write) -> None:
    read = read_benchmark(write(("elements = 8\n", f"elements = {2**62}\n")))
    with pytest.raises(InvalidInputError, match=r"arguments\[2\].values: .* do not fit the memory"):
        read.workload("test")


LINES = BLEND_FILE.splitlines()


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(index=st.integers(0, len(LINES) - 1), line=st.sampled_from(LINES) | st.text(max_size=20))
def test_a_changed_line_is_read_or_refused_in_one_line(write: Write, index: int, line: str) -> None:
    path = write()
    path.write_text("\n".join([*LINES[:index], line.replace("\r", ""), *LINES[index + 1 :]]), encoding="utf-8")
    try:
        read_benchmark(path).launches("test")
    except InvalidInputError as error:
        assert str(error).startswith(f"{path}: ")


def test_a_space_that_never_ends_is_refused_before_it_is_written_down(write: Write) -> None:
    values = list(range(10_000))
    path = write(("WEIGHT = [2, 3]", f"WEIGHT = {values}\nOTHER = {values}"))
    with pytest.raises(InvalidInputError, match=r"blend: the space has up to 300000000 .* at most 200000 are"):
        points(read_benchmark(path), "test", Space(factors=(1, 2, 4), strides=(1,)), LIMITS)


def test_a_name_or_a_file_without_an_end(write: Write, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"kernel: '(xxxx)+' is no name of a kernel") as caught:
        read_benchmark(write(('kernel = "blend"', f'kernel = "{"x" * 10**5}"')))
    assert len(str(caught.value)) < 300
    (tmp_path / "zero.toml").symlink_to("/dev/zero")
    with pytest.raises(InvalidInputError, match="not a regular file"):
        read_benchmark(tmp_path / "zero.toml")
    (tmp_path / "long.toml").write_text("#" * (2 << 20))
    with pytest.raises(InvalidInputError, match="it has more than 1 MiB"):
        read_benchmark(tmp_path / "long.toml")


@pytest.mark.parametrize("line", ['#include "/etc/passwd"', '#embed "/etc/passwd"', '#include "../secret.h"'])
def test_a_kernel_that_reads_any_file_is_refused(write: Write, line: str) -> None:
    path = write()
    kernel = path.parent / "blend.cl"
    kernel.write_text(f"{line}\n{kernel.read_text()}")
    with pytest.raises(InvalidInputError, match=r"blend\.cl: #\w+ .*; set COARSEN_TRUST_INCLUDES=1"):
        read_benchmark(path)
