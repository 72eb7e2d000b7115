"""Refusals and regions have codes of the page of codes, and every code of the page is used."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from coarsen.ir.opencl import builtins
from tests.documented_codes import documented_codes

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "coarsen").rglob("*.py"))
# What makes a refusal: the exception itself, and the OpenCL C writer's `refusal(code, reason, instruction)`.
REFUSAL_MAKERS = ("RefusalError", "refusal")
REASON_MAKERS = ("NotTogether", "Reason")
ACCUMULATORS = ROOT / "coarsen" / "transform" / "accumulators"
# Where the code is not written at the call: it comes with another refusal, or from a table of its own.
PASSED_ON = {"refusal.code", "self.refusal.code", "refused.code", "code", "answer['code']"}


def codes_in(path: Path, makers: tuple[str, ...]) -> Iterator[ast.expr]:
    """The first argument of each call of one of these."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and node.args:
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in makers:
                yield node.args[0]


def written_codes(makers: tuple[str, ...], sources: Iterable[Path] = SOURCES) -> set[str]:
    found = (code for path in sources for code in codes_in(path, makers))
    return {str(code.value) for code in found if isinstance(code, ast.Constant)}


def test_codes_of_all_refusals_are_in_the_table() -> None:
    assert written_codes(REFUSAL_MAKERS) | {each.code for each, _ in builtins._REFUSED} == {
        *documented_codes("refusals")
    }


def test_codes_of_all_region_reasons_are_in_the_table() -> None:
    others = [path for path in SOURCES if ACCUMULATORS not in path.parents]
    assert written_codes(REASON_MAKERS, others) == {*documented_codes("region-reasons")}


def test_codes_of_all_accumulators_are_in_the_table() -> None:
    assert written_codes(REASON_MAKERS, ACCUMULATORS.glob("*.py")) == {*documented_codes("accumulator-reasons")}


def test_other_codes_are_passed_on() -> None:
    for path in SOURCES:
        codes = codes_in(path, (*REFUSAL_MAKERS, *REASON_MAKERS))
        assert {ast.unparse(code) for code in codes if not isinstance(code, ast.Constant)} <= PASSED_ON, path


@pytest.mark.parametrize("section", ["refusals", "region-reasons", "accumulator-reasons"])
def test_each_meaning_is_a_sentence(section: str) -> None:
    meanings = documented_codes(section).values()
    assert all(meaning[0].isupper() and meaning.endswith(".") for meaning in meanings)
