"""Dataclasses and named tuples come back from JSON as they were, and nothing else is taken for one."""

from __future__ import annotations

import enum
import json
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import pytest

from coarsen.base.codec import decoded, encoded
from coarsen.errors import InvalidInputError


class Colour(enum.StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Inner:
    pairs: tuple[tuple[str, int], ...]
    colour: Colour


class Place(NamedTuple):
    line: int
    file: str | None = None


@dataclass(frozen=True)
class Outer:
    name: str
    number: int
    share: float
    flag: bool
    kind: Literal["a", "b"]
    note: str | None
    inner: Inner
    many: tuple[Inner, ...]
    named: dict[str, Inner]
    places: tuple[Place, ...]


INNER = Inner((("m", 1), ("n", 2)), Colour.BLUE)
OUTER = Outer("é", -(2**63), 0.5, True, "b", None, INNER, (INNER,), {"x": INNER}, (Place(1, "f"), Place(2)))
WRITTEN: dict[str, Any] = json.loads(json.dumps(encoded(OUTER)))


def test_json_gives_the_same_value() -> None:
    found = decoded(Outer, WRITTEN, "the thing")
    assert found == OUTER
    assert WRITTEN["places"] == [{"line": 1, "file": "f"}, {"line": 2, "file": None}]
    assert [type(each) for each in found.places] == [Place, Place]
    assert decoded(Place, encoded(Place(3)), "the place") == Place(3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": 1}, "the field 'name' of the thing must be text, not 1"),
        ({"name": "a\0"}, "must be text"),
        ({"number": True}, "a whole number of at most 64 bits, not True"),
        ({"number": 2**63}, "a whole number of at most 64 bits"),
        ({"number": 1.0}, "a whole number"),
        ({"share": float("nan")}, "must be a number"),
        ({"flag": 1}, "must be true or false, not 1"),
        ({"kind": "c"}, "must be one of a, b, not 'c'"),
        ({"note": 1}, "must be text"),
        ({"inner": []}, "the thing's inner is not a JSON object"),
        (
            {"inner": {"pairs": [], "colour": "green"}},
            "'colour' of the thing's inner must be one of red, blue",
        ),
        ({"inner": {"pairs": [["m"]], "colour": "red"}}, "must be a list of pairs"),
        ({"inner": {"pairs": []}}, "has no field 'colour'"),
        ({"many": {}}, "must be a list"),
        ({"places": [[1, "f"]]}, "the thing's places is not a JSON object"),
        ({"places": [{"line": 1}]}, "has no field 'file'"),
        ({"places": [{"line": "1", "file": None}]}, "'line' of the thing's places must be a whole number"),
        ({"named": []}, "must be an object"),
        ({"more": 1}, "the thing has an unknown field 'more'"),
        ({"name": "x" * 100 + "\ud800"}, r"\.\.\."),
    ],
)
def test_anything_else_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        decoded(Outer, {**WRITTEN, **changes}, "the thing")


def test_a_missing_field_and_no_object() -> None:
    with pytest.raises(InvalidInputError, match="the thing has no field 'name'"):
        decoded(Outer, {name: value for name, value in WRITTEN.items() if name != "name"}, "the thing")
    with pytest.raises(InvalidInputError, match="the thing is not a JSON object"):
        decoded(Outer, 1, "the thing")


def test_types_with_a_form_of_their_own() -> None:
    written = encoded(OUTER, {Inner: lambda _inner: "INNER"})
    assert written["many"] == ["INNER"]
    assert decoded(Outer, written, "the thing", {Inner: lambda _text: INNER}) == OUTER
