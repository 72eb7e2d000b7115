"""Sums that lanes share: right at sizes around the lanes' number, and coarsened; mistakes are seen."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyopencl as cl
import pytest
from numpy.typing import NDArray

from coarsen.devices.discovery import DeviceDescription
from coarsen.frontend.lower import lower
from coarsen.loops.kernel_text import KernelText, opencl_text
from coarsen.pipeline import run_pipeline
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.variant import Variant
from tests.loops.ran import Made, element_type, make, run_natively, run_on
from tests.oclgrind.watch import Findings, watching

LANES = 8
SIZES = (1, LANES - 1, LANES, LANES + 1, 13)
ROWS = "void f(int n, int m, {} a[n][m], {} y[m], {} x[n]) {{ for (int i = 0; i < n; i++) {{ {} }} }}"
OMP = "\n#pragma omp simd reduction({})\n"
INNER = "for (int j = 0; j < m; j++)"


def rows(type_: str, body: str) -> str:
    return ROWS.format(type_, type_, type_, body)


def summed(operator: str, value: str, type_: str = "float", first: str = "0") -> str:
    return rows(type_, f"{type_} s = {first}; {OMP.format(operator + ':s')} {INNER} {value} x[i] = s;")


# By name: the text, and the dimension of the lanes.
CASES = {
    "a row": (summed("+", "s += a[i][j] * y[j];"), 0),
    "a column": (summed("+", "s += a[j][i] * y[j];").replace("a[n][m]", "a[m][n]"), 1),
    "a product": (summed("*", "s *= 1 + 0.01f * a[i][j];", first="2"), 0),
    "the largest": ("#include <math.h>\n" + summed("max", "s = fmaxf(a[i][j], s);", first="-3"), 0),
    "a difference": (summed("-", "s -= a[i][j];", "double", "1"), 0),
    "whole numbers": (rows("int", "for (int j = m - 1; j >= 0; j -= 2) x[i] += a[i][j] * y[j];"), 0),
    "bits": (rows("unsigned char", f"{INNER} x[i] ^= a[i][j]; y[0] = 1;").replace("y[0] = 1;", ""), 0),
    "an element of a row": (
        f"void f(int n, int m, int a[n][m], int y[m]) {{ for (int i = 0; i < n; i++) {INNER} a[i][0] += y[j]; }}",
        0,
    ),
    "what else a row needs": (
        rows("float", f"float s = x[i], c = y[0], t = 1; {OMP.format('+:s,t')} {INNER} {{ float q = c * a[i][j]; "
             "s += q; if (j % 3 == 1) t += q * q; } x[i] = s / t;"), 0,
    ),
    "two statements": (
        rows("int", f"int s = 0; {INNER} {{ if (j < i) s += a[i][j]; else s += y[j]; if (j > 9) s += 5; }} "
             "x[i] = s;"), 0,
    ),
    "names": (
        summed("+", "s += a[i][j] * s_part;").replace("int m,", "int m, float s_parts[m],")
        .replace("float s =", "float s_part = s_parts[0], s ="), 0,
    ),
    "two sums in a row": (
        rows("int", f"{INNER} x[2 * i] += a[i][j]; {INNER} x[2 * i + 1] += y[j];")
        .replace("i < n", "i < n / 2"), 0,
    ),
    "a macro of sums": (
        "#define ADD(v) { x[0] += v; x[1] ^= v; }\n"
        f"void f(int n, int m, int a[m], int x[n]) {{ {INNER} ADD(a[j]) }}", 0,
    ),
    "a macro of loops": (
        f"#define LOOPS {INNER} x[0] += a[j]; {INNER} x[1] = a[j];\n"
        "void f(int n, int m, int a[m], int x[n]) { LOOPS }", 0,
    ),
    "loops inside": (summed("+", "for (int k = 0; k <= j; k++) s += a[i][k] * y[j];"), 0),
    "everything": (
        "void f(int n, int m, float a[n][m], float y[m], float x[n]) { float s = x[0];"
        f"{OMP.format('+:s')} {INNER} s += a[0][j] * y[j]; x[0] = s; }}", 0,
    ),
    "everything downwards": (
        "#include <math.h>\nvoid f(int n, int m, float a[m], float y[m], float x[n]) { float s = 1, t = 0;"
        f"{OMP.format('*:s) reduction(max:t')} for (int j = m - 1; j > 1; j -= 3) {{ const float q = a[j] * y[j]; "
        "s *= 1 + q; t = fmaxf(t, a[j]); } x[0] = s; x[1] = t; }", 0,
    ),
    "all rows": (
        "void f(int n, int m, float a[n][m], float y[m], float x[n]) {"
        "\n#pragma omp parallel for collapse(2) reduction(+:x[:1])\n"
        f"for (int i = 2; i <= n - 1; i++) {INNER} if (j < i + 4) x[0] += a[i][j] * y[j]; }}", 0,
    ),
    "whole numbers of everything": (
        "void f(int n, int m, int a[n][m], int y[m], int x[n]) { int s = x[1];"
        f"for (int i = 0; i < n; i++) {{ {INNER} s += a[i][j]; s -= y[0]; }} x[0] = s; }}", 0,
    ),
}  # fmt: skip

OF_EVERYTHING = [name for name in CASES if "everything" in name or name == "all rows"]
ITEMS, GROUPS, BOTH = (
    (Coarsening(2, 1),),
    (Coarsening(2, 1, level=Level.GROUP),),
    (Coarsening(2, 1), Coarsening(2, 0)),
)
_INSIDE = tempfile.TemporaryDirectory()


@cache
def made(name: str, lanes: int = LANES) -> Made:
    folder = Path(_INSIDE.name, name.replace(" ", "_"))
    folder.mkdir(exist_ok=True)
    with patch("coarsen.loops.sums.TERMS", 4):
        return make(CASES[name][0], folder).with_lanes(lanes)


def drawn(found: Made, rows: int, columns: int) -> dict[str, NDArray[Any]]:
    """Whole numbers below 50, other numbers from 0 to 1."""
    random = np.random.default_rng(columns)
    shape = {"a": max(rows, columns) ** 2, "x": rows}
    arrays = {}
    made_there = [each.name for each in found.nest.arrays.values() if each.is_local and not each.is_private]
    for name in (*found.given, *made_there):
        type_, size = element_type(found, name), shape.get(name, max(rows, columns))
        values = random.random(size) if type_.kind == "f" else random.integers(0, 50, size)
        arrays[name] = values.astype(type_)
    return arrays


def check(
    queue: cl.CommandQueue, found: Made, merged: tuple[Coarsening, ...] = (), sizes: tuple[int, ...] = SIZES
) -> None:
    """Fail unless kernels sum as C does, up to the rounding of as many terms as there are."""
    kernels = found.build(queue.context)
    for columns in sizes:
        numbers, arrays = {"n": 5, "m": columns}, drawn(found, 5, columns)
        expected = run_natively(found, numbers, arrays)
        after = run_on(queue, kernels, found, numbers, arrays, merged=merged)
        for name in found.given:
            terms = columns * (columns + 1)
            bound = terms**2 * np.finfo(arrays[name].dtype).eps if arrays[name].dtype.kind == "f" else 0
            np.testing.assert_allclose(
                after[name], expected[name], rtol=bound, atol=bound, err_msg=f"{name}, {columns}"
            )


def coarsened(found: Made, merged: tuple[Coarsening, ...]) -> Made:
    def text(each: KernelText) -> str:
        own = opencl_text([each], found.macros)
        return run_pipeline(lower(own, each.kernel.name), Variant(coarsenings=merged)).opencl_c

    return replace(found, kernels=tuple(replace(each, text=text(each)) for each in found.kernels))


@pytest.mark.parametrize("name", CASES)
def test_lanes_make_the_sums_of_the_function(name: str, queue: cl.CommandQueue) -> None:
    found = made(name)
    kernels = [each.kernel for each in found.kernels]
    assert len(kernels) == 1 + (name in OF_EVERYTHING)
    assert {kernel.split and kernel.split.dimension for kernel in kernels} == {CASES[name][1]}
    check(queue, found)
    check(queue, made(name, 1), sizes=(13,))
    check(queue, made(name, 3), sizes=(4, 13))


@pytest.mark.parametrize("merged", [ITEMS, GROUPS, BOTH], ids=["items", "groups", "lanes too"])
@pytest.mark.parametrize("name", ["a row", "a column", "what else a row needs"])
def test_coarsened_kernels_make_the_same_sums(
    name: str, merged: tuple[Coarsening, ...], queue: cl.CommandQueue
) -> None:
    check(queue, coarsened(made(name), merged), merged, (1, LANES + 1))


def runs_on(parameters: Mapping[str, object]) -> bool:
    """Oclgrind is asked for what it finds alone."""
    device = parameters.get("device")
    is_simulator = isinstance(device, DeviceDescription) and device.is_called("oclgrind")
    return device is None or is_simulator == ("watched" in parameters)


def findings(found: Made, device: DeviceDescription) -> Findings:
    with watching(device) as watched:
        numbers, arrays = {"n": 3, "m": 5}, drawn(found, 3, 5)
        run_on(watched.queue, found.build(watched.context), found, numbers, arrays, is_guarded=False)
        return watched.findings()


@pytest.mark.parametrize("watched", ["a column", "what else a row needs", "everything"])
def test_a_simulator_finds_no_race(watched: str, device: DeviceDescription) -> None:
    assert not findings(made(watched, 4), device)


def mistaken(name: str, right: str, wrong: str, lanes: int) -> Made:
    found = made(name, lanes)
    kernels = tuple(replace(each, text=each.text.replace(right, wrong)) for each in found.kernels)
    assert kernels != found.kernels
    return replace(found, kernels=kernels)


@pytest.mark.parametrize("watched", ["a row"])
def test_a_simulator_finds_a_missing_barrier(watched: str, device: DeviceDescription) -> None:
    found = mistaken(watched, "barrier(CLK_LOCAL_MEM_FENCE);", "", 4)
    assert any("race" in each for each in findings(found, device))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("int j = lane", "int j = lane + 1"),
        ("j += SPLIT", "j += SPLIT + 1"),
        ("(count + 1) / 2", "count / 2"),
        ("s += s_total", "s = s_total * 2"),
    ],
)
def test_a_mistake_changes_the_sums(right: str, wrong: str, queue: cl.CommandQueue) -> None:
    with pytest.raises(AssertionError):
        check(queue, mistaken("a row", right, wrong, 3))


OVER = f"{OMP.format('+:s,t')} {INNER}"
KEPT = {
    "no pragma": f"float s = 0; {INNER} s += a[i][j]; x[i] = s;",
    "another variable": f"float s = 0, u = 0, t; {OVER} u += a[i][j]; x[i] = s + u;",
    "a sum that is read": f"float s = 0, t; {OVER} {{ s += a[i][j]; y[i] = s; }}",
    "rounded to whole numbers": f"int s = 0; {INNER} s += 0.5f * a[i][j]; x[i] = s;",
    "sums of sums": f"float s = 0, t = 0; {OVER} {{ s += a[i][j]; t += s; }} x[i] = t;",
    "what the kernel writes": f"float s = 0, t; x[i] = y[i]; {OVER} s += x[i] * a[i][j]; x[i] = s;",
    "a sum that a later loop reads": (
        f"int s = 0, t = 0; {INNER} s += a[i][j]; {INNER} t += s * a[i][j]; x[i] = t;"
    ),
    "a sum in memory that a later loop reads": (
        f"int s = 2; {INNER} x[i] += a[i][j]; {INNER} y[i] += s * a[i][j] * x[i];"
    ),
    "a start that an earlier loop reads": (
        f"int s = y[0], t = 0; {INNER} t += s * a[i][j]; {INNER} s += a[i][j]; x[i] = s + t;"
    ),
    "a macro's name": "int s = 0; for (int SPLIT = 0; SPLIT < m; SPLIT++) s += a[i][SPLIT]; x[i] = s;",
    "a loop around": f"float s = 0, t; for (int k = 0; k < 3; k++) {OVER} s += a[i][j] * k; x[i] = s;",
}


@pytest.mark.parametrize("name", KEPT)
def test_an_order_that_counts_is_kept(name: str, tmp_path: Path) -> None:
    found = make(rows("int" if "int s" in KEPT[name] else "float", KEPT[name]), tmp_path)
    assert all(each.kernel.split is None and "#if" not in each.text for each in found.kernels)
