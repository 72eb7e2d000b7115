"""Headers and the cache of coarsened text: a changed one is seen, and what text doesn't tell is not cached."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from coarsen.frontend import included
from coarsen.frontend.compile import files_read
from coarsen.frontend.device_macros import PORTABLE
from coarsen.frontend.included import included_files, tells_more_than_text
from coarsen.frontend.options import parse_options
from coarsen.runtime.text_cache.key import digest_of
from coarsen.runtime.toolchain import Code, Form
from coarsen.variant.variant import Variant
from tests.runtime.text_cache_requests import SOURCE, Compiler, asked

HEADER = "#define BY 3\n"
INCLUDING = '#include "by.h"\n' + SOURCE


def options_of(*folders: Path) -> tuple[str, ...]:
    return tuple(word for folder in folders for word in ("-I", str(folder)))


def test_options_that_tell_the_time_are_not_cached() -> None:
    assert tells_more_than_text("-DSTAMP=__TIME__") and not tells_more_than_text("-DSTAMP=12")


def test_headers_count(tmp_path: Path) -> None:
    near, far, text = tmp_path / "near", tmp_path / "far", tmp_path / "text"
    for folder in (near, far):
        folder.mkdir()
    (far / "by.h").write_text('#include "deep.h"\n')
    (far / "deep.h").write_text(HEADER)
    compiler = Compiler()

    def calls() -> int:
        for _ in range(2):
            asked(compiler, text, INCLUDING, options=options_of(near, far))
        return len(compiler.calls)

    assert calls() == 1
    (far / "deep.h").write_text("#define BY 4\n")
    assert calls() == 2
    (near / "by.h").write_text(HEADER)  # is found first from now on
    assert calls() == 3


def test_a_header_that_changes_meanwhile_is_not_kept(tmp_path: Path) -> None:
    header = tmp_path / "by.h"
    header.write_text(HEADER)

    class Slow(Compiler):
        def __call__(self, source: str, options: Sequence[str], kernel: str, variant: Variant, form: Form) -> Code:
            header.write_text(HEADER + "#define MORE\n")
            return super().__call__(source, options, kernel, variant, form)

    asked(Slow(), tmp_path / "text", INCLUDING, options=options_of(tmp_path))
    assert not (tmp_path / "text").exists()


UNTOLD = (
    "#define WHICH <by.h>\n#include WHICH\n",
    "#if __has_include(<by.h>)\n#endif\n",
    '#em\\\nbed "by.h"\n',
    "#include_next <by.h>\n",
    "constant char built[] = __TIME__;\n",
    "constant char built[] = __TI\\\nME__;\n",
)


@pytest.mark.parametrize("line", UNTOLD)
def test_what_text_does_not_tell_is_not_cached(line: str, tmp_path: Path) -> None:
    (tmp_path / "by.h").write_text(HEADER)
    assert digest_of(line + SOURCE, options_of(tmp_path), PORTABLE, {}) is None
    (tmp_path / "by.h").write_text(line)
    assert digest_of(INCLUDING, options_of(tmp_path), PORTABLE, {}) is None


def test_a_file_among_the_folders_is_not_cached(tmp_path: Path) -> None:
    (tmp_path / "map").write_text("")
    assert digest_of(SOURCE, options_of(tmp_path / "map"), PORTABLE, {}) is None


def test_headers_of_other_languages_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / "by.h").write_text(f"#ifdef __cplusplus\n#include <iterator>\n#endif\n{HEADER}")
    compiler = Compiler()
    for _ in range(2):
        asked(compiler, tmp_path / "text", INCLUDING, options=options_of(tmp_path))
    assert len(compiler.calls) == 1


def test_headers_from_elsewhere_are_not_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clang finds a header in a folder that no option names: a change there would not be seen."""
    (tmp_path / "by.h").write_text(HEADER)
    monkeypatch.setenv("CPATH", str(tmp_path))
    compiler = Compiler()
    for _ in range(2):
        asked(compiler, tmp_path / "text", "#include <by.h>\n" + SOURCE)
    assert len(compiler.calls) == 2


def test_many_headers_are_not_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(included, "_MOST_FILES", 1)
    (tmp_path / "by.h").write_text('#include "deep.h"\n')
    assert included_files(INCLUDING, [tmp_path]) is not None
    (tmp_path / "deep.h").write_text("")
    assert included_files(INCLUDING, [tmp_path]) is None


def test_clang_says_what_it_reads(tmp_path: Path) -> None:
    folder = tmp_path / "a b$c"
    folder.mkdir()
    (folder / "by #1.h").write_text(HEADER)
    options = parse_options(options_of(folder))
    assert files_read('#include "by #1.h"\n' + SOURCE, options) == frozenset({(folder / "by #1.h").resolve()})
    assert files_read(SOURCE, options) == frozenset()
    assert files_read("#include <nowhere.h>\n", options) is None
