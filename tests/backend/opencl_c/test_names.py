"""Only an atomic type, no name that looks like one, needs OpenCL 2.0."""

from __future__ import annotations

import pytest

from coarsen.backend.opencl_c import write_opencl_c
from coarsen.frontend.lower import lower

ATOMIC = "kernel void k(global {type}* {name}) {{ {name}[get_global_id(0)] {does}; }}"


@pytest.mark.parametrize("name", ["atomic_integral", "atomic_int_count"])
def test_an_argument_named_like_an_atomic_type(name: str) -> None:
    source = ATOMIC.format(type="int", name=name, does="+= 1")
    assert write_opencl_c(lower(source)).standard == "-cl-std=CL1.2"


@pytest.mark.parametrize("type_", ["atomic_int", "atomic_uint", "atomic_flag"])
def test_an_argument_of_an_atomic_type(type_: str) -> None:
    source = f"kernel void k(global {type_}* flags, global int* out) {{ out[get_global_id(0)] = 1; }}"
    assert write_opencl_c(lower(source, options="-cl-std=CL2.0")).standard == "-cl-std=CL2.0"
