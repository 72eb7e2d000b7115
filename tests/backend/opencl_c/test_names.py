"""The source's names are kept, however much they look like a compiler's."""

from __future__ import annotations

import pytest

from coarsen import coarsen
from coarsen.backend.opencl_c import write_opencl_c
from coarsen.frontend.lower import lower

VARIABLES = """kernel void k(global float* out, int n)
{
    int i = get_global_id(0);
    float mul = out[i] * 3.0f, x10 = out[i + 1];
    float add = 0.0f;
    float row16[4];
    for (int j = 0; j < n; ++j) {
        add = add * mul + x10;
        row16[j & 3] = add;
    }
    float sub = add - x10;
    out[i] = sub * sub + mul + row16[n & 3];
}
"""
FIELDS = """typedef struct { float add; int x1; int x10; int i; } part_t;
kernel void k(global part_t* parts)
{
    int id = get_global_id(0);
    parts[id].add = parts[id].x1;
    parts[id].x10 = parts[id].i;
}
"""
ATOMIC = "kernel void k(global {type}* {name}) {{ {name}[get_global_id(0)] {does}; }}"


@pytest.mark.parametrize(
    "declared", ["int i =", "float mul =", "float x10 =", "float add =", "float sub =", "float row16[4];"]
)
def test_variables(declared: str) -> None:
    assert declared in write_opencl_c(lower(VARIABLES)).text


def test_variables_of_merged_work_items() -> None:
    text = coarsen(VARIABLES, factor=2).opencl_c
    for name in ("i", "mul", "add", "sub"):
        assert f" {name} = " in text
        assert f" {name}_2 = " in text
    assert "source" not in text


def test_fields() -> None:
    text = write_opencl_c(lower(FIELDS)).text
    assert "float add;\n    int x1;\n    int x10;\n    int i;\n" in text


@pytest.mark.parametrize("name", ["atomic_integral", "atomic_int_count"])
def test_an_argument_named_like_an_atomic_type(name: str) -> None:
    source = ATOMIC.format(type="int", name=name, does="+= 1")
    assert write_opencl_c(lower(source)).standard == "-cl-std=CL1.2"


@pytest.mark.parametrize("type_", ["atomic_int", "atomic_uint", "atomic_flag"])
def test_an_argument_of_an_atomic_type(type_: str) -> None:
    source = f"kernel void k(global {type_}* flags, global int* out) {{ out[get_global_id(0)] = 1; }}"
    assert write_opencl_c(lower(source, options="-cl-std=CL2.0")).standard == "-cl-std=CL2.0"
