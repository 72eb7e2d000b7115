"""A source's hash holds what it includes, wherever that lies."""

from __future__ import annotations

from pathlib import Path

import pytest

from coarsen.frontend.source_text import hash_with_headers, source_hash_of

SOURCE = '#include "rows.h"\nkernel void f(global int *x) { *x = ROWS; }\n'


def headers(folder: Path, rows: str = "#define ROWS 1\n") -> Path:
    """Write the headers; return their folder."""
    folder.mkdir(exist_ok=True)
    (folder / "rows.h").write_text('#include "more.h"\n' + rows)
    (folder / "more.h").write_text("/* nothing */\n")
    return folder


def test_without_includes_it_is_that_of_the_text() -> None:
    assert hash_with_headers("kernel void f() {}") == source_hash_of("kernel void f() {}")


@pytest.mark.parametrize("option", ["-I{}", "-I {}"])
def test_a_changed_header_changes_it(tmp_path: Path, option: str) -> None:
    options = option.format(headers(tmp_path / "a")).split()
    before = hash_with_headers(SOURCE, options)
    assert before != source_hash_of(SOURCE)
    headers(tmp_path / "a", "#define ROWS 2\n")
    changed = hash_with_headers(SOURCE, options)
    (tmp_path / "a" / "more.h").write_text("/* something */\n")
    assert len({before, changed, hash_with_headers(SOURCE, options)}) == 3


def test_the_place_of_headers_does_not_matter(tmp_path: Path) -> None:
    first = hash_with_headers(SOURCE, [f"-I{headers(tmp_path / 'a')}"])
    assert first == hash_with_headers(SOURCE, [], headers(tmp_path / "b"))


def test_what_text_does_not_tell_is_left_out(tmp_path: Path) -> None:
    for source in (SOURCE, "#define NAME <x.h>\n#include NAME\n"):
        assert hash_with_headers(source, [], tmp_path) == source_hash_of(source)
    assert hash_with_headers(SOURCE, ["-I"], tmp_path) == source_hash_of(SOURCE)
