"""A measurement as plain JSON, and back: the one form that the store and all exchange formats are made from.

    Measurement ⇄ {"key": "5e88…", "subject": {…}, "environment": {…}, "method": {…}, "role": "comparison", …}

Nothing is lost: what is read back equals what was written. Refuses whatever isn't exactly such an object, and one
whose key isn't that of its content.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

from coarsen.base.codec import decoded, encoded
from coarsen.base.limits import LONGEST_NAME
from coarsen.errors import InvalidInputError
from coarsen.tuning.records.measurement import Environment, Invalidity, Measurement, Role, implied_transforms
from coarsen.tuning.workload.benchmark import Clock
from coarsen.variant.variant import Variant
from coarsen.variant.variant_json import variant_from_json, variant_to_json

# The fields that rows of old do not have, and what these rows are.
BESIDE = ("sum_nanoseconds", "host_nanoseconds", "baseline_sum_nanoseconds", "baseline_host_nanoseconds")
ADDED_LATER: Mapping[str, Any] = MappingProxyType(
    {"invocation": 0, "clock": Clock.SUM.value, **dict.fromkeys(BESIDE, ())}
)
_WHERE = "the measurement"
_HASH = re.compile(r"[0-9a-f]{64}")


def measurement_to_json(measurement: Measurement) -> dict[str, Any]:
    """Return the measurement as dictionaries, lists, texts and numbers; `measurement_from_json` reads it back.

    Raises:
        InvalidInputError: it breaks a rule that `measurement_from_json` holds: a store with it could not be read.
    """
    value = {"key": measurement.key, **encoded(measurement, {Variant: variant_to_json})}
    if measurement_from_json(value) != measurement:
        raise InvalidInputError(f"the measurement {measurement.key[:12]} is not in its normal form")
    return value


def measurement_from_json(value: object) -> Measurement:
    """Return the measurement that `measurement_to_json` wrote.

    What was written before there were several confirmations, or clocks, does not have these fields, or null in
    their place: it is of the first, by the sum.

    Raises:
        InvalidInputError: a field is missing, unknown or malformed; the times contradict the rest; the key is not
            that of the content.
    """
    if not isinstance(value, Mapping):
        raise InvalidInputError(f"{_WHERE} is not a JSON object")
    if "key" not in value:
        raise InvalidInputError(f"{_WHERE} has no field 'key'")
    measurement = _read(value)
    problem = next(_problems(measurement, str(value["key"])), None)
    if problem is not None:
        raise InvalidInputError(problem)
    return measurement


def key_of_json(value: Mapping[str, Any]) -> str:
    """Return the key of a measurement that was written without one.

    Raises:
        InvalidInputError: a field is missing, unknown or malformed.
    """
    return _read(value).key


def _read(value: Mapping[str, Any]) -> Measurement:
    """The measurement, whose key nobody has checked. Raises InvalidInputError."""
    if "environment" not in value:
        raise InvalidInputError(f"{_WHERE} has no field 'environment'")
    given = {name: entry for name, entry in value.items() if entry is not None or name not in ADDED_LATER}
    content = {**ADDED_LATER, **{name: entry for name, entry in given.items() if name != "key"}}
    # Read first, and once: what a variant leaves out, the environment implies.
    environment = decoded(Environment, value["environment"], f"{_WHERE}'s environment")
    implied = implied_transforms(environment)
    decoders: dict[type, Callable[[Any], Any]] = {
        Variant: lambda variant: variant_from_json(variant, implied),
        Environment: lambda _value: environment,
    }
    return decoded(Measurement, content, _WHERE, decoders)


def _problems(row: Measurement, key: str) -> Iterator[str]:
    """Yield in which respects the fields, each right by itself, make no measurement."""
    name, count = f"the measurement {key[:12]}", len(row.nanoseconds)
    for text in (row.subject.benchmark, row.subject.kernel, row.subject.preset):
        if len(text) > LONGEST_NAME:
            yield f"a name of {len(text)} letters; {LONGEST_NAME} are the most"
    for variant in (row.candidate, row.baseline):
        if variant is not None and variant.is_coarsened and not variant.local_size:
            yield "not the local size of a work-group: []"  # nobody knows what is divided
    if row.key != key:
        yield f"the measurement's key {key[:12]!a} is not that of its content, {row.key[:12]!r}"
    if (row.invalidity is Invalidity.CORRECT) != bool(count):
        yield f"{name} is {row.invalidity} and has {count} times"
    if count != len(row.baseline_nanoseconds):
        yield f"{name} has different numbers of baseline and candidate timings"
    beside = {field: getattr(row, field) for field in BESIDE}
    every = itertools.chain(row.nanoseconds, row.baseline_nanoseconds, *beside.values())
    if min(every, default=0) < 0:
        yield f"{name} has a negative time"
    for field, times in beside.items():
        if times and (row.clock is Clock.SUM or len(times) != count):
            yield f"{name} has {len(times)} {field} beside {count} times"
    if row.invocation and (row.invocation < 0 or row.role is not Role.CONFIRMATION):
        yield f"{name} is a {row.role} of invocation {row.invocation}"
    if row.code_hash and not _HASH.fullmatch(row.code_hash):
        yield f"{name} has a code hash that isn't 64 hexadecimal digits"
    if not _is_utc(row.started_at):
        yield f"{name} was started at {row.started_at!r}, which is no time in UTC"


def _is_utc(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).utcoffset() == timedelta(0)
    except ValueError:
        return False
