"""Text in quotes as OpenCL C writes it: read by clang, it gives the same bytes."""

from __future__ import annotations

import pytest

from coarsen.backend.opencl_c.express.calls import string_literal
from coarsen.frontend.lower import lower
from coarsen.ir.types import unescaped

TEXTS = [b"plain", b"\\", b"\\077", b"\\\\n", b"??=", b"???", b"\\?", b'"', b"\x015", b"\xff\xfe", b"a\tb\n\r"]


@pytest.mark.parametrize("content", TEXTS)
def test_strings(content: bytes) -> None:
    declaration = f"constant char text[] = {string_literal(content)};"
    kernel = lower(f"{declaration} kernel void k(global char* out) {{ out[0] = text[get_global_id(0)]; }}")
    (table,) = kernel.globals.values()
    assert unescaped(table.initializer[2:-1]) == content + b"\0"
