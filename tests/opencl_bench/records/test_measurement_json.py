"""Measurements as JSON: nothing is lost, and nothing malformed is taken."""

from __future__ import annotations

import copy
import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given

from coarsen.errors import InvalidInputError
from coarsen.tuning.records.measurement import Invalidity, Measurement, Method, implied_transforms
from coarsen.tuning.records.measurement_json import measurement_from_json, measurement_to_json
from coarsen.tuning.workload.benchmark import Clock
from coarsen.variant.variant import Variant
from coarsen.variant.variant_json import variant_to_json
from tests.opencl_bench.measurements import measurements, some_measurement


@given(measurements())
def test_nothing_is_lost(measurement: Measurement) -> None:
    text = json.dumps(measurement_to_json(measurement), allow_nan=False)
    read = measurement_from_json(json.loads(text))
    assert read == measurement
    assert read.key == measurement.key


@given(measurements())
def test_a_key_is_the_hash_of_one_document(measurement: Measurement) -> None:
    implied = implied_transforms(measurement.environment)
    baseline = measurement.baseline
    content = {
        "subject": asdict(measurement.subject),
        "environment": asdict(measurement.environment),
        "method": asdict(measurement.method),
        "role": measurement.role.value,
        "candidate": variant_to_json(measurement.candidate, implied),
        "baseline": variant_to_json(baseline, implied) if baseline else None,
        **({"invocation": measurement.invocation} if measurement.invocation else {}),
        **({"clock": measurement.clock.value} if measurement.clock is not Clock.SUM else {}),
    }
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    assert measurement.key == hashlib.sha256(text.encode()).hexdigest()


def changed(path: str, value: object) -> Callable[[dict[str, Any]], None]:
    """Sets the field `a.b`."""
    *parents, name = path.split(".")

    def change(document: dict[str, Any]) -> None:
        for parent in parents:
            document = document[parent]
        document[name] = value

    return change


MALFORMED = {
    "key is another's": (changed("key", "0" * 64), "key '000000000000' is not that of its content"),
    "content was changed": (changed("subject.seed", 1), "is not that of its content"),
    "text for a number": (
        changed("subject.seed", "1"),
        "'seed' of the measurement's subject must be a whole number",
    ),
    "flag for a number": (changed("subject.seed", True), "must be a whole number"),
    "number beyond 64 bits": (changed("subject.seed", 2**63), "at most 64 bits"),
    "number for a flag": (changed("method.cold_cache", 1), "must be true or false"),
    "not finite": (changed("compile_seconds", math.inf), "'compile_seconds' of the measurement must be a number"),
    "unknown word": (changed("invalidity", "fine"), "must be one of correct, timeout"),
    "unknown form": (changed("environment.form", "wasm"), "must be one of opencl_c, spirv, ptx"),
    "unknown field": (changed("subject.colour", "red"), "subject has an unknown field 'colour'"),
    "number for text": (changed("reason", 1), "must be text"),
    "text with NUL": (changed("environment.device", "a\0b"), "must be text"),
    "half a surrogate pair": (changed("environment.device", "\ud800"), "must be text"),
    "text for a list": (changed("subject.build_options", "-g"), "must be a list"),
    "no pairs": (changed("subject.size", [["n", 1, 2]]), "must be a list of pairs"),
    "object for a list": (changed("nanoseconds", {}), "must be a list"),
    "no object": (changed("method", []), "method is not a JSON object"),
    "configuration without local size": (changed("candidate", {}), "not a configuration"),
    "configuration that is none": (changed("candidate", 1), "not a configuration"),
    "infinite local size": (changed("candidate.local_size", [math.inf]), "not a configuration"),
    "negative local size": (changed("candidate.local_size", [2**40, -1]), "not the local size of a work-group"),
    "huge local size": (changed("baseline.local_size", [2**20, 2**20]), "not the local size of a work-group"),
    "local size of four dimensions": (changed("candidate.local_size", [1, 1, 1, 1]), "not the local size"),
    "local size of none": (changed("candidate.local_size", []), "not the local size"),
    "no hash": (changed("code_hash", "c0" * 21), "has a code hash that isn't 64 hexadecimal digits"),
    "endless name": (changed("subject.benchmark", "x" * 10**6), "a name of 1000000 letters; 1000 are the most"),
    "factor of 1": (changed("candidate.coarsenings", [[1, 0, 1]]), "normal form"),
    "local time": (changed("started_at", "2026-11-20T12:00:00"), "no time in UTC"),
    "no time": (changed("started_at", "yesterday"), "no time in UTC"),
    "correct without times": (changed("nanoseconds", []), "is correct and has 0 times"),
    "failed with times": (changed("invalidity", "timeout"), "is timeout and has 5 times"),
    "fewer of the baseline": (changed("baseline_nanoseconds", [1]), "different numbers of baseline and"),
    "negative time": (changed("nanoseconds", [-1, 1, 1, 1, 1]), "negative time"),
    "unknown clock": (changed("clock", "wall"), "'clock' of the measurement must be one of sum, span"),
    "host's times beside a sum": (changed("host_nanoseconds", [1] * 5), "has 5 host_nanoseconds beside 5 times"),
    "field missing": (lambda document: document.pop("reason"), "has no field 'reason'"),
}


@pytest.mark.parametrize(("change", "message"), MALFORMED.values(), ids=MALFORMED)
def test_malformed(change: Callable[[dict[str, Any]], None], message: str) -> None:
    document = copy.deepcopy(measurement_to_json(some_measurement()))
    change(document)
    with pytest.raises(InvalidInputError) as caught:
        measurement_from_json(document)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", [None, [], "text", 1])
def test_what_is_no_object(value: object) -> None:
    with pytest.raises(InvalidInputError, match="the measurement is not a JSON object"):
        measurement_from_json(value)


def test_what_could_not_be_read_back_is_not_written() -> None:
    with pytest.raises(InvalidInputError, match="different numbers of baseline and"):
        measurement_to_json(some_measurement(nanoseconds=(1, 2)))


def test_an_uncoarsened_launch_may_leave_its_local_size_open() -> None:
    opened = some_measurement(candidate=Variant(), baseline=Variant((), (), (("TILE", "8"),)))
    assert measurement_from_json(measurement_to_json(opened)) == opened


def test_times_beside_a_span_are_as_many() -> None:
    span = some_measurement(clock=Clock.SPAN, host_nanoseconds=(1, 2, 3, 4, 5))
    assert measurement_from_json(measurement_to_json(span)) == span
    with pytest.raises(InvalidInputError, match="has 1 sum_nanoseconds beside 5 times"):
        measurement_to_json(some_measurement(clock=Clock.SPAN, sum_nanoseconds=(1,)))
    with pytest.raises(InvalidInputError, match="negative time"):
        measurement_to_json(some_measurement(clock=Clock.SPAN, sum_nanoseconds=(1, 2, 3, 4, -5)))


def test_reasons_are_one_line() -> None:
    failed = some_measurement(invalidity=Invalidity.COMPILE, reason="1 error:\n\t\0bad\ud800  token\x1b[0m\n")
    assert failed.reason == "1 error: bad token [0m"


def test_equal_methods_have_one_key() -> None:
    assert some_measurement(method=Method(timeout_multiple=10)).key == some_measurement(method=Method()).key
