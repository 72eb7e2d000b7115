"""`coarsen apply FILE.c --explain`: what it prints, and what it refuses."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest

from coarsen.loops import dependences
from tests.cli.conftest import Run, written

MM = """\
#define AT(i, j) ((i) * n + (j))

void mm(int n, const float *restrict a, const float *restrict b, float *restrict c)
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[AT(i, k)] * b[AT(k, j)];
            c[AT(i, j)] = sum;
        }
}
"""
OTHER = """
void column(int n, float *a)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i * n + j + 1] = 0;
}

int without(int n) { return n; }
"""
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "explain-c-loops.md"
Golden = Callable[[str, str], None]


@pytest.fixture
def mm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with a product of matrices, named as a user does who stands in its folder."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "mm.c", MM)
    return Path("mm.c")


def test_explained(mm: Path, run: Run, golden: Golden) -> None:
    outcome = run("apply", mm, "--explain")
    assert (outcome.code, outcome.err) == (0, "")
    golden(outcome.out, "explain_mm_c.txt")
    assert run("apply", mm, "--explain", "--kernel", "mm").out == outcome.out


def test_the_page_shows_what_is_printed(mm: Path, run: Run) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert MM.strip() in page
    assert run("apply", mm, "--explain").out.strip() in page


def test_a_refused_function_is_said_after_the_others(mm: Path, run: Run) -> None:
    mm.write_text(MM + OTHER)
    outcome = run("apply", mm, "--explain")
    assert outcome.code == 3
    assert outcome.out.startswith("mm.c:3:1: mm\n") and "without" not in outcome.out
    assert outcome.error == "mm.c:19:13: a column of 'a' may be beside its row [index-leaves-row]"
    assert run("apply", mm, "--explain", "-k", "mm").code == 0
    only = run("apply", mm, "--explain", "-k", "without")
    assert (only.code, only.error) == (3, "mm.c:22:1: 'without' has no loop with a statement [no-loop]")


def test_macros_and_folders_are_passed_on(mm: Path, tmp_path: Path, run: Run) -> None:
    folder = tmp_path / "my headers"
    folder.mkdir()
    (folder / "size.h").write_text("#define SIZE COUNT\n")
    mm.write_text('#include "size.h"\nfloat v[SIZE];\nvoid f(void) { for (int i = 0; i < SIZE; i++) v[i] = 0; }\n')
    outcome = run("apply", mm, "--explain", "-D", "COUNT=64", "-I", folder, "-o", "told.txt")
    assert (outcome.code, outcome.out) == (0, "")
    assert "v[64]" in Path("told.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--explain", "--factor", 2],
            "--factor does not go with --explain of a C file, which takes -k, -D, -I and -o",
        ),
        (
            ["--explain", "--report"],
            "--report does not go with --explain of a C file, which takes -k, -D, -I and -o",
        ),
        (
            ["--explain", "-d", "tahiti"],
            "--device does not go with --explain of a C file, which takes -k, -D, -I and -o",
        ),
        (
            ["--explain", "--pad", "a=1"],
            "--pad does not go with --explain of a C file, which takes -k, -D, -I and -o",
        ),
        (
            ["--explain", "--wide-accesses"],
            "--wide-accesses does not go with --explain of a C file, which takes -k, -D, -I and -o",
        ),
        (["--explain", "-k", "mmm"], "mm.c defines no function 'mmm' (did you mean mm?)"),
    ],
)
def test_bad_input(words: list[object], message: str, mm: Path, run: Run) -> None:
    outcome = run("apply", mm, *words)
    assert (outcome.code, outcome.out, outcome.error) == (2, "", message)


def test_files_that_can_t_be_read(mm: Path, run: Run) -> None:
    missing = run("apply", "nothing.c", "--explain")
    assert (missing.code, missing.error) == (2, "nothing.c: there is no such file")
    mm.write_text("void f(void) { x = 1; }\n")
    wrong = run("apply", mm, "--explain")
    assert (wrong.code, wrong.error) == (2, "mm.c:1:16: error: use of undeclared identifier 'x'")
    mm.write_text("int f(int n) { return n; }\n")
    empty = run("apply", mm, "--explain")
    assert (empty.code, empty.error) == (2, "mm.c: no function with a loop is defined in it")


def test_long_expressions_are_no_internal_error(mm: Path, run: Run) -> None:
    terms = " + ".join(f"v[{number}]" for number in range(900))
    mm.write_text(f"void f(int n, float *v, float *w) {{ for (int i = 0; i < n; i++) w[i] = {terms}; }}\n")
    for words in (["--explain"], []):
        outcome = run("apply", mm, *words)
        assert outcome.code in (2, 3) and "nested too deeply" in outcome.error


def test_what_would_take_minutes_is_refused(mm: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(dependences, "MOST_OPERATIONS", 1000)
        outcome = run("apply", mm, "--explain")
    assert (outcome.code, outcome.out) == (3, "")
    reason = "the function is too complex: isl needs more than 1,000 operations"
    assert outcome.error == f"mm.c:3:1: {reason} [too-complex]"
    assert run("apply", mm, "--explain").code == 0


def test_without_islpy_it_says_what_to_install(mm: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "islpy" else find(name))
    outcome = run("apply", mm, "--explain")
    assert (outcome.code, outcome.error) == (2, "C files need islpy: pip install 'coarsen[loops]'")
