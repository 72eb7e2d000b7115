"""Rows that were stored before transforms were part of a variant read as before, under the keys that they had."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from coarsen.tuning.records.measurement import TRANSFORM
from coarsen.tuning.records.measurement_json import measurement_from_json, measurement_to_json
from coarsen.tuning.workload.benchmark import Clock
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.data_layout import SOA
from coarsen.variant.data_plan import ArrayPlan
from coarsen.variant.transforms import REPLICATION_ALONE, DeviceKind, Transforms
from coarsen.variant.variant import Variant
from tests.opencl_bench.measurements import MEASUREMENT

Json = dict[str, Any]
SMALL: Json = {"local_size": [64], "coarsenings": [[4, 0, 1]], "definitions": {}}
TWO: Json = {"local_size": [16, 8], "coarsenings": [[2, 0, 8], [4, 1, 1]], "definitions": {"TILE": "16"}}
OWN: Json = {"local_size": [16, 16], "coarsenings": [[2, 0, 8]], "definitions": {"TILE": "16"}}
BASELINE: Json = {"local_size": [32, 8], "coarsenings": [], "definitions": {"TILE": "16"}}
WITH_TRANSFORMS = [[TRANSFORM, "2"]]

# The keys that the program of that time gave them.
STORED = {
    "one dimension": (OWN, BASELINE, [], "3d3fba88bb8f262fc9ab73dbf0a8a151abb0bfe12b591abc60905d5abd3ab086"),
    "two dimensions": (TWO, BASELINE, [], "63071b4cb70acefa3945c0a8fc32b5d4198d02b0e366fb223d38041db82bddd5"),
    "a version of the transform": (
        SMALL,
        BASELINE,
        WITH_TRANSFORMS,
        "62bb313c45559318a9ae2ef3ad9ae86872791d382ce2a903b84552e221076324",
    ),
    "another baseline": (
        SMALL,
        {"local_size": [32], "coarsenings": [], "definitions": {}},
        [],
        "f57a86a2f177447040326a8a5d068f2f8c5eea7d3e2f9eb346f3510d5862202a",
    ),
}


def stored(candidate: Json, baseline: Json, versions: list[list[str]], key: str) -> Json:
    """The document of a row as it was written then."""
    document = measurement_to_json(MEASUREMENT)
    environment = {**document["environment"], "versions": [*document["environment"]["versions"], *versions]}
    return {**document, "key": key, "candidate": candidate, "baseline": baseline, "environment": environment}


@pytest.mark.parametrize("row", STORED.values(), ids=STORED)
def test_a_row_keeps_its_key(row: tuple[Json, Json, list[list[str]], str]) -> None:
    read = measurement_from_json(stored(*row))
    assert read.key == row[3]
    written = measurement_to_json(read)
    assert written["key"] == row[3] and "transforms" in written["candidate"]
    assert measurement_from_json(written) == read


def test_arrays_are_part_of_a_key_where_they_lie_otherwise() -> None:
    without = replace(MEASUREMENT, candidate=Variant((16,), (Coarsening(2),)))
    as_written = replace(without, candidate=Variant((16,), (Coarsening(2),), arrays=(ArrayPlan("bodies"),)))
    laid = replace(without, candidate=Variant((16,), (Coarsening(2),), arrays=(ArrayPlan("bodies", SOA),)))
    assert without.key == as_written.key == "04d957af96690874c778986635f794633cca78cd13e26a6edf3aad25f0e5255c"
    assert laid.key == "ddc4666367292de44053638c5b89c4c945229f656632b1b3283f597076766f5d"


# What a row of that time does not say.
ADDED_LATER = (
    *("invocation", "clock", "sum_nanoseconds", "host_nanoseconds"),
    *("baseline_sum_nanoseconds", "baseline_host_nanoseconds"),
)


@pytest.mark.parametrize("row", STORED.values(), ids=STORED)
def test_a_row_that_says_nothing_of_its_clock_is_a_sum(row: tuple[Json, Json, list[list[str]], str]) -> None:
    document = {name: value for name, value in stored(*row).items() if name not in ADDED_LATER}
    read = measurement_from_json(document)
    assert (read.key, read.clock, read.host_nanoseconds) == (row[3], Clock.SUM, ())
    assert measurement_from_json({**document, **dict.fromkeys(ADDED_LATER)}) == read


def test_keys_of_rows_by_their_span_are_others_and_stay() -> None:
    read = measurement_from_json(stored(*STORED["one dimension"]))
    assert replace(read, clock=Clock.SPAN).key == (
        "c96a245e4ab9093e6b14730bdec11d4bb3ca5288dbb0403174e4cc8b10e66fef"
    )


def test_what_such_rows_stand_for() -> None:
    old, newer = (measurement_from_json(stored(*STORED[name])).candidate for name in (*STORED,)[1:3])
    assert old.transforms == REPLICATION_ALONE
    assert newer.transforms == Transforms(device_kind=DeviceKind.CPU)
