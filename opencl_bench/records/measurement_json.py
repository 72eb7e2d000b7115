"""A measurement as plain JSON, and back: the one form that the store and all exchange formats are made from.

    Measurement ⇄ {"key": "5e88…", "subject": {…}, "environment": {…}, "method": {…}, "role": "comparison", …}

Nothing is lost: what is read back equals what was written. Refuses whatever isn't exactly such an object, and one
whose key isn't that of its content.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.records.candidate import FORMS, Candidate, Form, candidate_from_json
from coarsen.opencl_bench.records.json_fields import JsonFields
from coarsen.opencl_bench.records.measurement import (
    Environment,
    Invalidity,
    Measurement,
    Method,
    Oracle,
    Role,
    Subject,
)


def measurement_to_json(measurement: Measurement) -> dict[str, Any]:
    """The measurement as dictionaries, lists, texts and numbers; `measurement_from_json` reads it back.

    Raises:
        InvalidInputError: it breaks a rule that `measurement_from_json` holds, so it could not be read back.
    """
    value = {
        "key": measurement.key,
        "subject": _lists(asdict(measurement.subject)),
        "environment": _lists(asdict(measurement.environment)),
        "method": asdict(measurement.method),
        "role": measurement.role.value,
        "candidate": measurement.candidate.to_json(),
        "baseline": measurement.baseline.to_json() if measurement.baseline else None,
        "invalidity": measurement.invalidity.value,
        "started_at": measurement.started_at,
        "reason": measurement.reason,
        "oracle": measurement.oracle.value,
        "nanoseconds": list(measurement.nanoseconds),
        "baseline_nanoseconds": list(measurement.baseline_nanoseconds),
        "compile_seconds": float(measurement.compile_seconds),
        "measure_seconds": float(measurement.measure_seconds),
        "timed_seconds": float(measurement.timed_seconds),
        "code_hash": measurement.code_hash,
    }
    if measurement_from_json(value) != measurement:
        raise InvalidInputError(f"the measurement {measurement.key[:12]} is not in its normal form")
    return value


def measurement_from_json(value: object) -> Measurement:
    """The measurement that `measurement_to_json` wrote.

    Raises:
        InvalidInputError: a field is missing, unknown or malformed; the times contradict the rest; the key is not
            that of the content.
    """
    fields = JsonFields(value, "the measurement")
    key = fields.text("key")
    measurement = Measurement(
        subject=_subject(fields.take("subject")),
        environment=_environment(fields.take("environment")),
        method=_method(fields.take("method")),
        role=fields.choice("role", Role),
        candidate=_candidate(fields.take("candidate")),
        baseline=_optional_candidate(fields.take("baseline")),
        invalidity=fields.choice("invalidity", Invalidity),
        started_at=fields.text("started_at"),
        reason=fields.text("reason"),
        oracle=fields.choice("oracle", Oracle),
        nanoseconds=fields.wholes("nanoseconds"),
        baseline_nanoseconds=fields.wholes("baseline_nanoseconds"),
        compile_seconds=fields.number("compile_seconds"),
        measure_seconds=fields.number("measure_seconds"),
        timed_seconds=fields.number("timed_seconds"),
        code_hash=fields.text("code_hash"),
    )
    fields.end()
    _check(measurement, key)
    return measurement


def _subject(value: object) -> Subject:
    fields = JsonFields(value, "the measurement's subject")
    subject = Subject(
        benchmark=fields.text("benchmark"),
        kernel=fields.text("kernel"),
        ir_hash=fields.text("ir_hash"),
        build_options=fields.texts("build_options"),
        preset=fields.text("preset"),
        size=fields.named_wholes("size"),
        seed=fields.whole("seed"),
    )
    fields.end()
    return subject


def _environment(value: object) -> Environment:
    fields = JsonFields(value, "the measurement's environment")
    environment = Environment(
        vendor=fields.text("vendor"),
        device=fields.text("device"),
        driver_version=fields.text("driver_version"),
        platform=fields.text("platform"),
        platform_version=fields.text("platform_version"),
        compute_units=fields.whole("compute_units"),
        device_types=fields.texts("device_types"),
        form=_form(fields.text("form")),
        versions=fields.named_texts("versions"),
    )
    fields.end()
    return environment


def _method(value: object) -> Method:
    fields = JsonFields(value, "the measurement's method")
    method = Method(
        repetitions=fields.whole("repetitions"),
        minimum_repetitions=fields.whole("minimum_repetitions"),
        warm_up=fields.whole("warm_up"),
        interval_width=fields.number("interval_width"),
        level=fields.number("level"),
        timeout_multiple=fields.number("timeout_multiple"),
        grace_seconds=fields.number("grace_seconds"),
        compile_seconds=fields.number("compile_seconds"),
        cold_cache=fields.flag("cold_cache"),
    )
    fields.end()
    return method


def _form(name: str) -> Form:
    for form in FORMS:
        if form == name:
            return form
    raise InvalidInputError(f"the form of code must be one of {', '.join(FORMS)}, not {name!r}")


def _candidate(value: object) -> Candidate:
    if not isinstance(value, dict):
        raise InvalidInputError(f"not a configuration: {value!a}")
    try:
        candidate = candidate_from_json(value)
    except OverflowError as error:  # JSON readers take `Infinity` for a number
        raise InvalidInputError(f"not a configuration: {value!a}") from error
    if candidate.to_json() != value:
        raise InvalidInputError(f"not a configuration in its normal form: {value!a}")
    return candidate


def _optional_candidate(value: object) -> Candidate | None:
    return None if value is None else _candidate(value)


def _check(measurement: Measurement, key: str) -> None:
    """Raises InvalidInputError where the fields, each right by itself, contradict each other."""
    if measurement.key != key:
        raise InvalidInputError(
            f"the measurement's key {key[:12]!a} is not that of its content, {measurement.key[:12]!r}"
        )
    name = f"the measurement {key[:12]}"
    correct = measurement.invalidity is Invalidity.CORRECT
    if correct != bool(measurement.nanoseconds):
        raise InvalidInputError(f"{name} is {measurement.invalidity} and has {len(measurement.nanoseconds)} times")
    if len(measurement.nanoseconds) != len(measurement.baseline_nanoseconds):
        raise InvalidInputError(f"{name} has different numbers of baseline and candidate timings")
    if min(measurement.nanoseconds + measurement.baseline_nanoseconds, default=0) < 0:
        raise InvalidInputError(f"{name} has a negative time")
    if not _is_utc(measurement.started_at):
        raise InvalidInputError(f"{name} was started at {measurement.started_at!r}, which is no time in UTC")


def _is_utc(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).utcoffset() == timedelta(0)
    except ValueError:
        return False


def _lists(value: dict[str, Any]) -> dict[str, Any]:
    """Tuples, also in tuples, as the lists that JSON has."""
    return {name: _list(entry) for name, entry in value.items()}


def _list(value: object) -> object:
    return [_list(entry) for entry in value] if isinstance(value, tuple) else value
