"""Somebody else's kernel puts no file of this machine into what is compiled, however it asks for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from coarsen.errors import InvalidInputError
from coarsen.frontend.included import file_directives
from coarsen.opencl_bench.workloads.included_files import (
    TRUST_VARIABLE,
    check_alone,
    check_included_files,
)

KERNEL = "kernel void scale(global float *values) { values[get_global_id(0)] *= 2.0f; }\n"
SPELLINGS = (
    '#include "/etc/passwd"\n',
    "#include </etc/passwd>\n",
    '  #  include "/etc/passwd"\n',
    '#/* a */include/* b */"/etc/passwd"\n',
    '/* begins\n// */ #include "/etc/passwd"\n',
    '%:include "/etc/passwd"\n',
    '??=include "/etc/passwd"\n',
    '#inc\\\nlude "/etc/passwd"\n',
    '#inc??/\nlude "/etc/passwd"\n',
    '#inc\\ \r\nlude "/etc/passwd"\r\n',
    'int a;\r#include "/etc/passwd"\r',
    '#include_next "/etc/passwd"\n',
    '#import "../../secret"\n',
    '#include "here/../../secret"\n',
    '#include "..\\secret"\n',
    '#define NAME "/etc/passwd"\n#include NAME\n',
    '#embed "beside.bin"\n',
    '#if 0\n \' /*\n#endif\n#include "/etc/passwd"\n#if 0\n */\n#endif\n',
)


@pytest.mark.parametrize("text", SPELLINGS)
def test_no_spelling_escapes(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "kernel.cl"
    file.write_bytes((text + KERNEL).encode())
    with pytest.raises(InvalidInputError, match=r"kernel\.cl: #\w+ (reads|puts) .*; set COARSEN_TRUST_INCLUDES=1"):
        check_included_files(file)
    with pytest.raises(InvalidInputError, match="reads a file of this machine"):
        check_alone(text, "code")
    monkeypatch.setenv(TRUST_VARIABLE, "1")
    check_included_files(file)
    check_alone(text, "code")


@pytest.mark.parametrize(
    "text", ["", '// #include "/etc/passwd"\n', "#define embedded 1\n#ifdef include\n#endif\n"]
)
def test_what_reads_nothing(text: str) -> None:
    assert not list(file_directives(text + KERNEL))


def test_files_of_the_folder_are_included(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "headers").mkdir()
    (tmp_path / "headers" / "types.h").write_text('#include "types.h"\n')
    (tmp_path / "parts" / "first.h").write_text("#include <types.h>\n")
    file = tmp_path / "kernel.cl"
    file.write_text(f'#include "parts/first.h"\n{KERNEL}')
    check_included_files(file, [tmp_path / "headers"])
    (tmp_path / "headers" / "types.h").write_text('#include "/etc/passwd"\n')
    with pytest.raises(
        InvalidInputError, match=r"types\.h: #include reads '/etc/passwd', outside of the kernel's"
    ):
        check_included_files(file, [tmp_path / "headers"])


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "header.h").symlink_to(tmp_path / "secret")
    file = tmp_path / "own" / "kernel.cl"
    file.write_text(f'#include "header.h"\n{KERNEL}')
    with pytest.raises(InvalidInputError, match=r"header\.h is a link to another folder's file"):
        check_included_files(file)
