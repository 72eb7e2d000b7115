"""The rules of the auto-tuning results format T4: which fields a document has, and of which types."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.records.measurement import Invalidity

Rule = Callable[[object], bool]
_VERSION = re.compile(r"1\.\d+\.\d+", re.ASCII)


def check(document: Any) -> None:  # noqa: ANN401 (what JSON was decoded to)
    """Check a decoded document against T4's rules, version 1. Fields that T4 doesn't know are allowed.

    Raises:
        InvalidInputError: a field is missing or malformed; the message is one line and names the field.
    """
    _check_fields(document, "the document", _DOCUMENT, required=("results",))
    for number, result in enumerate(document["results"], 1):
        where = f"result {number}"
        _check_fields(result, where, _RESULT, required=("configuration", "times", "invalidity", "correctness"))
        _check_fields(result["times"], f"times of {where}", _TIMES)
        for place, value in enumerate(result.get("measurements", ()), 1):
            _check_fields(value, f"measurement {place} of {where}", _MEASUREMENT)


def _check_fields(
    value: object, where: str, rules: Mapping[str, tuple[str, Rule]], required: tuple[str, ...] = ()
) -> None:
    if not isinstance(value, dict):
        raise InvalidInputError(f"{where} is not an object")
    for name in required:
        if name not in value:
            raise InvalidInputError(f"{where} has no field '{name}'")
    for name, (expected, rule) in rules.items():
        if name in value and not rule(value[name]):
            raise InvalidInputError(f"the field '{name}' of {where} is not {expected}")


def _is_version(value: object) -> bool:
    return isinstance(value, str) and _VERSION.fullmatch(value) is not None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _is_ending(value: object) -> bool:
    return isinstance(value, str) and value in [*Invalidity]


def _is_value(value: object) -> bool:
    return _is_number(value) or _is_text(value) or _is_list(value)


_TEXT, _NUMBER, _LIST, _OBJECT = (
    ("text", _is_text),
    ("a number", _is_number),
    ("a list", _is_list),
    ("an object", _is_object),
)
_DOCUMENT = {"schema_version": ("a version 1.MINOR.PATCH", _is_version), "results": _LIST}
_RESULT = {
    "timestamp": _TEXT,
    "configuration": _OBJECT,
    "objectives": _LIST,
    "times": _OBJECT,
    "invalidity": (f"one of {', '.join(Invalidity)}", _is_ending),
    "correctness": _NUMBER,
    "measurements": _LIST,
}
_TIMES = {
    **dict.fromkeys(("compilation_time", "framework", "search_algorithm", "validation"), _NUMBER),
    "runtimes": _LIST,
}
_MEASUREMENT = {"name": _TEXT, "value": ("a number, text or a list", _is_value), "unit": _TEXT}
