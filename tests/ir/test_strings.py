"""The strings of LLVM's text: `\\\\` is a backslash, `\\5C` is one as well."""

from __future__ import annotations

import pytest

from coarsen.frontend.lower import lower
from coarsen.ir.metadata import Metadata
from coarsen.ir.types import unescaped

BODIES = {
    r"plain": b"plain",
    r"\01\\\02": b"\x01\\\x02",
    r"\\5C": b"\\5C",
    r"\5C5C": b"\\5C",
    r"\\\\": b"\\\\",
    r"\22\FF\00": b'"\xff\x00',
}


@pytest.mark.parametrize("body", BODIES)
def test_bytes(body: str) -> None:
    assert unescaped(body) == BODIES[body]


def test_metadata() -> None:
    text = r'!1 = !{!"a\\b", !"\22quoted\22"}'
    assert Metadata.of_text(text).strings("1") == ("a\\b", '"quoted"')


def test_a_string_that_looks_like_what_follows_it() -> None:
    source = (
        'constant char text[] = ", align 64, !dbg !1";\nkernel void k(global char* out) { out[0] = text[out[1]]; }'
    )
    (table,) = lower(source).globals.values()
    assert table.initializer == r'c", align 64, !dbg !1\00"'
    assert table.alignment == 1
