"""Refusals and regions have codes of the tables, and every code of the tables is used and documented."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from coarsen.base.codes import ACCUMULATOR_REASONS, REFUSALS, REGION_REASONS
from coarsen.ir.opencl import builtins

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
    assert written_codes(REFUSAL_MAKERS) | {each.code for each, _ in builtins._REFUSED} == set(REFUSALS)


def test_codes_of_all_region_reasons_are_in_the_table() -> None:
    others = [path for path in SOURCES if ACCUMULATORS not in path.parents]
    assert written_codes(REASON_MAKERS, others) == set(REGION_REASONS)


def test_codes_of_all_accumulators_are_in_the_table() -> None:
    assert written_codes(REASON_MAKERS, ACCUMULATORS.glob("*.py")) == set(ACCUMULATOR_REASONS)


def test_other_codes_are_passed_on() -> None:
    for path in SOURCES:
        codes = codes_in(path, (*REFUSAL_MAKERS, *REASON_MAKERS))
        assert {ast.unparse(code) for code in codes if not isinstance(code, ast.Constant)} <= PASSED_ON, path


def test_each_meaning_is_a_sentence() -> None:
    meanings = [*REFUSALS.values(), *REGION_REASONS.values(), *ACCUMULATOR_REASONS.values()]
    assert all(meaning[0].isupper() and meaning.endswith(".") for meaning in meanings)


def test_each_code_is_documented() -> None:
    documentation = (ROOT / "coarsen" / "README.md").read_text(encoding="utf-8")
    codes = {**REFUSALS, **REGION_REASONS, **ACCUMULATOR_REASONS}
    assert [code for code, meaning in codes.items() if f"| `{code}` | {meaning} |" not in documentation] == []
