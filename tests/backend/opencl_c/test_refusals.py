"""What can't be written faithfully is refused, with a code and where it can be with the place in the source."""

from __future__ import annotations

import pytest

from coarsen.backend.opencl_c.writer import write_opencl_c
from coarsen.errors import RefusalError
from coarsen.frontend.lower import lower


def test_unknown_function_with_its_place() -> None:
    source = "int missing(int);\nkernel void k(global int* out)\n{\n    out[0] = missing(3);\n}\n"
    with pytest.raises(RefusalError) as refusal:
        write_opencl_c(lower(source))
    assert refusal.value.code == "unknown-function"
    assert refusal.value.position is not None
    assert refusal.value.position.line == 4


def test_program_scope_variable_that_keeps_its_value() -> None:
    source = "global int count = 0;\nkernel void k(global int* out) { out[0] = count++; }\n"
    with pytest.raises(RefusalError) as refusal:
        write_opencl_c(lower(source, options="-cl-std=CL2.0"))
    assert refusal.value.code == "program-scope-variable"


@pytest.mark.parametrize(
    "read",
    [
        "read_imagef(a, n > 2 ? u : w, place)",
        "read_imagef(n > 2 ? a : b, u, place)",
        "read_imagef(a, kept, place) + read_imagef(b, kept, place)",
    ],
)
def test_images_and_samplers_that_a_condition_chooses(read: str) -> None:
    """Compilers of devices have no variables of these types, nor `? :` of them."""
    source = (
        "kernel void k(read_only image2d_t a, read_only image2d_t b, sampler_t u, sampler_t w,\n"
        "              global float4 *out, int n) {\n"
        "    int2 place = (int2)(get_global_id(0), n);\n"
        "    sampler_t kept = n > 3 ? u : w;\n"
        f"    out[get_global_id(0)] = {read};\n}}\n"
    )
    with pytest.raises(RefusalError) as refusal:
        write_opencl_c(lower(source))
    assert refusal.value.code == "unsupported-type"
    assert refusal.value.position is not None


def test_statements_nested_deeper_than_compilers_take() -> None:
    steps = "".join(f"else if (x * {k + 3} > m) {{ d[{k}] += x; x += {k}; }}\n" for k in range(400))
    source = f"kernel void k(global int *d, int m) {{ int x = d[0]; if (x == m) x = 0;\n{steps} d[1] = x; }}"
    with pytest.raises(RefusalError) as refusal:
        write_opencl_c(lower(source))
    assert refusal.value.code == "too-deep"
