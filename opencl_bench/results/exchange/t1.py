"""Tuning problems of other programs in the format T1: parameters, their values and defaults, and conditions.

    {"ConfigurationSpace": {"TuningParameters": [{"Name": "tile", "Values": "[1, 2, 4]", "Default": 1}, …],
                            "Conditions": [{"Expression": "tile * block_size <= 1024"}, …]}, …}

Values may be a list or, as the benchmark hub writes them, the text of one. Nothing in the file is run.

Source: TuningSchema, T1 input schema (https://github.com/odgaard/TuningSchema).
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coarsen.errors import InvalidInputError
from coarsen.files import MEBIBYTE, read_file
from coarsen.opencl_bench.results.exchange.t1_conditions import T1Condition, Value, parse_t1_condition

LARGEST_FILE = 4 * MEBIBYTE
_LONGEST_LIST = 100_000  # characters


@dataclass(frozen=True, slots=True)
class T1Parameter:
    """A parameter with its values in the order of the file; `default` need not be one of them, and may be None."""

    name: str
    values: tuple[Value, ...]
    default: Value | None


@dataclass(frozen=True, slots=True)
class T1Space:
    """The parameters of a tuning problem and the conditions on them."""

    name: str
    parameters: tuple[T1Parameter, ...]
    conditions: tuple[T1Condition, ...]

    def meets_conditions(self, values: Mapping[str, Value]) -> bool:
        """Return True if values of parameters by name meet all conditions.

        Raises:
            InvalidInputError: a condition can't be computed.
        """
        return all(condition.is_met(values) for condition in self.conditions)


def read_t1(path: Path) -> T1Space:
    """Read the space of a T1 file.

    Raises:
        InvalidInputError: the file can't be read or is malformed; the message is one line and names the file.
    """
    try:
        return _space(json.loads(read_file(path, LARGEST_FILE)))
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{path}: not a JSON file: {' '.join(str(error).split())}") from None
    except _MalformedError as error:
        raise InvalidInputError(f"{path}: not a T1 file: {error}") from None


class _MalformedError(Exception):
    """A T1 document that breaks the format."""


def _space(document: object) -> T1Space:
    space = _field(document, "ConfigurationSpace", dict, "the document")
    written = _field(space, "TuningParameters", list, "ConfigurationSpace")
    parameters = tuple(_parameter(each, f"parameter {number}") for number, each in enumerate(written, 1))
    names = [parameter.name for parameter in parameters]
    if not names or len(set(names)) < len(names):
        raise _MalformedError("it has no parameters" if not names else "two parameters have one name")
    conditions = tuple(_condition(each) for each in space.get("Conditions") or ())
    unknown = sorted({name for condition in conditions for name in condition.names} - set(names))
    if unknown:
        raise _MalformedError(f"a condition is on '{unknown[0]}', which is no parameter")
    general = document.get("General") if isinstance(document, dict) else None
    name = general.get("BenchmarkName") if isinstance(general, dict) else None
    return T1Space(name if isinstance(name, str) else "", parameters, conditions)


def _parameter(written: object, where: str) -> T1Parameter:
    name = _field(written, "Name", str, where)
    where = f"the parameter '{name}'"
    values = _values(written.get("Values") if isinstance(written, dict) else None, where)
    default = written.get("Default") if isinstance(written, dict) else None
    if default is not None and not isinstance(default, Value):
        raise _MalformedError(f"the default of {where} is neither a number nor a text")
    return T1Parameter(name, values, default)


def _values(written: object, where: str) -> tuple[Value, ...]:
    if isinstance(written, str) and len(written) <= _LONGEST_LIST:
        try:
            written = ast.literal_eval(written.strip())
        except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
            written = None
    if (
        not isinstance(written, list | tuple)
        or not written
        or not all(isinstance(each, Value) for each in written)
    ):
        raise _MalformedError(f"the values of {where} are no list of numbers and texts")
    if len(set(written)) < len(written):
        raise _MalformedError(f"{where} has a value twice")
    return tuple(written)


def _condition(written: object) -> T1Condition:
    text = _field(written, "Expression", str, "a condition")
    try:
        return parse_t1_condition(text)
    except InvalidInputError as error:
        raise _MalformedError(str(error)) from None


def _field(value: object, name: str, kind: type, where: str) -> Any:  # noqa: ANN401 (of the kind that is asked for)
    """Return a field of an object. Raises _MalformedError where it is missing or of another kind."""
    if not isinstance(value, dict) or not isinstance(value.get(name), kind):
        raise _MalformedError(f"{where} has no field '{name}' that is {_KINDS[kind]}")
    return value[name]


_KINDS: Mapping[type, str] = {dict: "an object", list: "a list", str: "a text"}
