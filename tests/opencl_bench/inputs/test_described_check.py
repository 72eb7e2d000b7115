"""A description that no tuned file can serve is refused with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.inputs.described import check_described
from tests.opencl_bench.workloads.described.row_sums import write_sums


def test_parameters_of_code_and_of_launches_alone_are_fine(tmp_path: Path) -> None:
    # BLKSZ is a local size alone, PARTS is known to one implementation only, LU is a hint.
    assert check_described(write_sums(tmp_path)) == ()


def test_a_macro_that_the_source_spells_otherwise_is_refused(tmp_path: Path) -> None:
    path = write_sums(tmp_path, ("[sizes.test]", "[parameters]\nUNROL = [1, 2]\n[sizes.test]"))
    with pytest.raises(InvalidInputError) as failure:
        check_described(path)
    assert str(failure.value) == (
        f"{path}: UNROL is no parameter of the source, and a program takes no other macros from a tuned file: "
        'declare it in sum.cl, "#pragma coarsen values 1,2" above its #define'
    )


def test_a_value_that_the_source_does_not_declare_is_refused(tmp_path: Path) -> None:
    path = write_sums(tmp_path, ("[sizes.test]", "[parameters]\nPARTS = [2, 8]\n[sizes.test]"))
    with pytest.raises(InvalidInputError, match=r"PARTS = 8 is no value that the source declares, at .*sum\.cl:4"):
        check_described(path)


def test_a_source_that_does_not_compile_by_itself_has_no_default(tmp_path: Path) -> None:
    path = write_sums(tmp_path, ("float total = 0.0f;\n#pragma", "float total = IMPL;\n#pragma"))
    with pytest.raises(InvalidInputError, match=r"sum\.cl: it doesn't compile without -D.*IMPL"):
        check_described(path)


def test_what_the_file_replaces_is_said(tmp_path: Path) -> None:
    path = write_sums(tmp_path, ("[sizes.test]", "[parameters]\nLU = [1, 4]\n[sizes.test]"))
    assert check_described(path) == (
        f"{path}: parameters.LU: it takes the place of the pragma at {tmp_path}/sum.cl:12",
    )


def test_a_size_that_decides_about_launches_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    path = write_sums(tmp_path, ('when = ["IMPL == in_parts"]', 'when = ["IMPL == in_parts", "width > 4"]'))
    with pytest.raises(
        InvalidInputError, match=r"launches\[2\]\.when: 'width > 4' names 'width', which is no param"
    ):
        check_described(path)
