"""What can't be written faithfully is refused, with a code and where it can be with the place in the source."""

from __future__ import annotations

import pytest

from coarsen.backend.opencl_c import write_opencl_c
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


def test_statements_nested_deeper_than_compilers_take() -> None:
    steps = "".join(f"else if (x * {k + 3} > m) {{ d[{k}] += x; x += {k}; }}\n" for k in range(400))
    source = f"kernel void k(global int *d, int m) {{ int x = d[0]; if (x == m) x = 0;\n{steps} d[1] = x; }}"
    with pytest.raises(RefusalError) as refusal:
        write_opencl_c(lower(source))
    assert refusal.value.code == "too-deep"
