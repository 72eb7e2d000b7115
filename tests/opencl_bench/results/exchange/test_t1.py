"""Tuning problems in the format T1: what is read, conditions that are computed and not run, what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.results.exchange.t1 import read_t1
from coarsen.opencl_bench.results.exchange.t1_conditions import parse_t1_condition

TILE = {"Name": "tile", "Type": "int", "Values": "[1, 2, 4]", "Default": 2}
MODE = {"Name": "mode", "Values": ["fast", "exact"], "Default": "exact"}


def written(folder: Path, *parameters: Any, conditions: Any = ()) -> Path:  # noqa: ANN401 (malformed ones too)
    path = folder / "space_T1.json"
    space = {"TuningParameters": parameters, "Conditions": [{"Expression": text} for text in conditions]}
    path.write_text(json.dumps({"General": {"BenchmarkName": "made up"}, "ConfigurationSpace": space}))
    return path


def test_what_is_read(tmp_path: Path) -> None:
    space = read_t1(written(tmp_path, TILE, MODE, conditions=["mode == 'fast' or tile < 4"]))
    assert space.name == "made up"
    assert [(each.name, each.values, each.default) for each in space.parameters] == [
        ("tile", (1, 2, 4), 2),
        ("mode", ("fast", "exact"), "exact"),
    ]
    assert space.meets_conditions({"tile": 4, "mode": "fast"})
    assert not space.meets_conditions({"tile": 4, "mode": "exact"})


@pytest.mark.parametrize(
    ("text", "is_met"),
    [
        ("32 <= x * y <= 1024", True),
        ("32 <= x * y <= 100 <= x", False),
        ("x % 3 == 1 and not y // 5 == 2", True),
        ("x in [16, 32] and y not in (1, 2)", True),
        ("(x + 14) * (y + 14) < 12 * 1024", True),
        ("-x < 0 and +y / 2 == 4", True),
        ("max(x, y) == 16 and min(x, y, 3) == 3 and abs(-x) == x", True),
        ("x == 0 or y == 0", False),
        # What comes after a decided "or" is not computed, as in Python.
        ("x == 16 or x // 0 == 1", True),
    ],
)
def test_conditions_have_their_meaning_in_python(text: str, is_met: bool) -> None:
    condition = parse_t1_condition(text)
    assert condition.is_met({"x": 16, "y": 8}) is is_met
    assert condition.names <= {"x", "y"}


@pytest.mark.parametrize(
    "text",
    [
        *("__import__('os').system('true')", "x.real", "open('a')", "[y for y in x]", "x[0]", "lambda: 1"),
        *("9 ** 9 ** 9", "x << 99999999", "min(x, key=abs)", "f'{x}'", "x if x else x", "b'x'", "(y := 3)"),
        *("x = 1", "", "1 +", "(" * 300, "x" * 3000, "-" * 900 + "1", "+".join("x" * 400)),
    ],
)
def test_nothing_else_is_an_expression(text: str) -> None:
    with pytest.raises(InvalidInputError, match=r"^the condition '"):
        parse_t1_condition(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x // (y - 8) == 1", "can't be computed"),
        ("x < 'a'", "can't be computed"),
        ("'a' * 9 == x", "can't be computed"),
        ("z == 1", "needs a value of 'z'"),
    ],
)
def test_what_can_not_be_computed(text: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        parse_t1_condition(text).is_met({"x": 16, "y": 8})


@pytest.mark.parametrize(
    ("parameters", "conditions", "message"),
    [
        ((), (), "it has no parameters"),
        ((TILE, TILE), (), "two parameters have one name"),
        (({"Name": "tile"},), (), "the values of the parameter 'tile' are no list"),
        (({"Name": "tile", "Values": "[open('x')]"},), (), "the values of the parameter 'tile' are no list"),
        (({"Name": "tile", "Values": "[1, 1]"},), (), "the parameter 'tile' has a value twice"),
        (({"Name": "tile", "Values": [1], "Default": [1]},), (), "the default of the parameter 'tile'"),
        (({"Values": [1]},), (), "parameter 1 has no field 'Name' that is a text"),
        ((TILE,), ("tile < width",), "a condition is on 'width', which is no parameter"),
        ((TILE,), ("exit()",), "may only have numbers"),
    ],
)
def test_what_is_refused(parameters: Any, conditions: Any, message: str, tmp_path: Path) -> None:  # noqa: ANN401
    path = written(tmp_path, *parameters, conditions=conditions)
    with pytest.raises(InvalidInputError, match=message) as caught:
        read_t1(path)
    assert str(caught.value).startswith(f"{path}: not a T1 file: ") and "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "3", "{}", '{"ConfigurationSpace": 1}'])
def test_other_files_are_refused_in_one_line(text: str, tmp_path: Path) -> None:
    path = tmp_path / "T1.json"
    path.write_text(text)
    with pytest.raises(InvalidInputError, match=r"^.*T1\.json: not a (JSON|T1) file: .+$"):
        read_t1(path)
