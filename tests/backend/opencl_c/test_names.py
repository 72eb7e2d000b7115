"""Names taken for others: only an atomic type needs OpenCL 2.0; fields are called by the names of the source."""

from __future__ import annotations

import pytest

from coarsen.backend.opencl_c.writer import write_opencl_c
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


FIELDS = """target triple = "spir64-unknown-unknown"
%struct.pair = type {{ i32, i32 }}
define spir_kernel void @k(ptr addrspace(1) %pairs, i64 %x) {{
entry:
  %{first} = getelementptr inbounds %struct.pair, ptr addrspace(1) %pairs, i64 %x, i32 0
  %{second} = getelementptr inbounds %struct.pair, ptr addrspace(1) %pairs, i64 %x, i32 1
  %value = load i32, ptr addrspace(1) %{first}
  store i32 %value, ptr addrspace(1) %{second}
  ret void
}}
"""


@pytest.mark.parametrize(
    ("first", "second"),
    [("key.alone", "count.alone.2"), ("key.2.alone", "count.source.alone"), ("key.out", "count.turn.wide")],
)
def test_a_field_has_no_suffix_of_the_address_by_which_it_is_named(first: str, second: str) -> None:
    text = write_opencl_c(lower(FIELDS.format(first=first, second=second))).text
    assert "int key;" in text and "int count;" in text


VENDOR = """target triple = "spir64-unknown-unknown"
declare spir_func i32 @_Z7vload_xs(i16) memory(none)
define spir_kernel void @k(ptr addrspace(1) %p) {
  %value = call spir_func i32 @_Z7vload_xs(i16 3)
  store i32 %value, ptr addrspace(1) %p
  ret void
}
"""


def test_a_vendors_function_that_begins_like_a_builtin_may_be_overloaded() -> None:
    assert "vload_x((short)3)" in write_opencl_c(lower(VENDOR)).text
