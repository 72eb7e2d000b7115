"""What can't be written faithfully is refused, with a code and where it can be with the place in the source."""

from __future__ import annotations

import pytest

from coarsen.backend.opencl_c import write_opencl_c
from coarsen.errors import RefusalError
from coarsen.frontend.lower import lower
from tests.backend.opencl_c.test_ir_instructions import Snippet

REFUSED = {
    "integer-width": "%w = zext i32 %a to i128\n%x = mul i128 %w, %w\n%y = mul i128 %x, %x\n"
    "%z = lshr i128 %y, 90\n%r = trunc i128 %z to i32",
    "vector-length": "%v = insertelement <5 x i32> poison, i32 %a, i32 0\n%w = add <5 x i32> %v, %v\n"
    "%r = extractelement <5 x i32> %w, i32 0",
    "atomic-ordering": "%r = atomicrmw add ptr addrspace(1) %pa, i32 %b seq_cst, align 4",
    "unsupported-instruction": "%r = load atomic i32, ptr addrspace(1) %pa monotonic, align 4",
    "unsupported-type": "%f = sitofp i32 %a to bfloat\n%g = fadd bfloat %f, %f\n%r = fptosi bfloat %g to i32",
}


@pytest.mark.parametrize("code", REFUSED)
def test_instructions(code: str) -> None:
    snippet = Snippet(code, "i32", REFUSED[code], lambda a, b: a)
    with pytest.raises(RefusalError) as refusal:
        write_opencl_c(lower(snippet.module()))
    assert refusal.value.code == code


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


def test_statements_nested_deeper_than_compilers_take() -> None:
    steps = "".join(f"else if (x * {k + 3} > m) {{ d[{k}] += x; x += {k}; }}\n" for k in range(400))
    source = f"kernel void k(global int *d, int m) {{ int x = d[0]; if (x == m) x = 0;\n{steps} d[1] = x; }}"
    with pytest.raises(RefusalError) as refusal:
        write_opencl_c(lower(source))
    assert refusal.value.code == "too-deep"
