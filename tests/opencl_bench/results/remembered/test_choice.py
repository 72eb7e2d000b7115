"""Remembered choices as JSON: stable keys, nothing lost, nothing malformed taken; and whether they still hold."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from coarsen.base.version import __version__
from coarsen.errors import InvalidInputError
from coarsen.tuning.measure.speedup import Speedup
from coarsen.tuning.remembered.choice import SizeClass, allowed_text, problem_of
from coarsen.tuning.remembered.choice_json import choice_from_json, choice_to_json
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.transforms import DeviceKind, Transforms
from coarsen.variant.variant import Variant
from tests.opencl_bench.remembered_choices import AS_IT_IS, CHOICE, KEY, some_choice

# Stores and files out there have this: a change of it forgets everything.
KEY_CONTENT = (
    '{"allowed":"{\\"fast_path\\":\\"auto\\",\\"levels\\":[\\"item\\",\\"group\\"],\\"wide_accesses\\":true}",'
    '"device":"Intel(R) Xeon(R) Processor @ 2.10GHz",'
    '"ir_hash":"3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f3f",'
    '"kernel":"advect","platform":"Intel(R) OpenCL","size_class":"2^10%4x2^8%4/16x16","vendor":"GenuineIntel"}'
)
DOCUMENT = {
    "key": hashlib.sha256(KEY_CONTENT.encode()).hexdigest(),
    **json.loads(KEY_CONTENT),
    "variant": {
        "local_size": [32, 8],
        "coarsenings": [[2, 0, 8], [4, 1, 1]],
        "definitions": {},
        "transforms": {
            "fast_path": "auto",
            "lock_step": "auto",
            "wide_accesses": False,
            "clean_up": True,
            "device_kind": "any",
        },
    },
    "speedup": {"ratio": 2.5, "low": 2.4, "high": 2.625},
    "speedup_over_uncoarsened": {"ratio": 1.5, "low": 1.25, "high": 1.75},
    "global_size": [1500, 300],
    "local_size": [16, 16],
    "driver_version": "2024.18.10.0.08_160000",
    "platform_version": "OpenCL 3.0 LINUX",
    "versions": [["coarsen", "0.1.0"], ["llvmlite", "0.45.0"]],
    "trials": 57,
    "seconds": 18.5,
    "processes": 2,
    "found_at": "2026-11-20T12:00:00+00:00",
}
WIDE = Variant(
    (), (Coarsening(2, level=Level.GROUP),), (), Transforms(wide_accesses=True, device_kind=DeviceKind.CPU), True
)


def test_the_key_is_the_hash_of_its_fields() -> None:
    assert KEY.digest == DOCUMENT["key"]


def test_the_document_of_a_choice() -> None:
    assert choice_to_json(CHOICE) == DOCUMENT
    assert choice_from_json(json.loads(json.dumps(DOCUMENT))) == CHOICE


@pytest.mark.parametrize("choice", [AS_IT_IS, some_choice(variant=WIDE), some_choice(variant=Variant((64, 1)))])
def test_nothing_is_lost(choice: Any) -> None:  # noqa: ANN401
    assert choice_from_json(json.loads(json.dumps(choice_to_json(choice)))) == choice


def test_what_leaves_a_launch_as_it_is() -> None:
    assert AS_IT_IS.leaves_as_is
    assert not CHOICE.leaves_as_is
    assert not some_choice(variant=Variant((64, 1))).leaves_as_is


@pytest.mark.parametrize(
    "changes",
    [
        {"ir_hash": "40" * 32},
        {"kernel": "clear"},
        {"vendor": "AMD"},
        {"device": "another"},
        {"platform": "another"},
        {"allowed": allowed_text({"wide_accesses": False})},
        {"size_class": SizeClass((10, 9), (4, 4), (16, 16))},
        {"size_class": SizeClass((10, 8), (4, 4), None)},
    ],
)
def test_each_field_of_the_key_counts(changes: dict[str, Any]) -> None:
    assert some_choice(**changes).key.digest != KEY.digest


def test_the_order_of_what_is_allowed_does_not_count() -> None:
    assert allowed_text({"a": 1, "b": [2]}) == allowed_text({"b": [2], "a": 1}) == '{"a":1,"b":[2]}'


def change(**fields: Any) -> Callable[[dict[str, Any]], None]:  # noqa: ANN401
    return lambda document: document.update(fields)


def variant(**fields: Any) -> Callable[[dict[str, Any]], None]:  # noqa: ANN401
    return lambda document: document["variant"].update(fields)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda document: document.pop("key"), "has no field 'key'"),
        (lambda document: document.pop("kernel"), "has no field 'kernel'"),
        (lambda document: document.pop("trials"), "has no field 'trials'"),
        (change(extra=1), "has an unknown field 'extra'"),
        (change(kernel="clear"), "is not that of its content"),
        (change(key=7), "key '7' is not that of its content"),
        (change(key="\x1b[31m"), r"key '\x1b[31m' is not that of its content"),
        (change(size_class=7), "the field 'size_class' of the remembered choice must be text"),
        (change(size_class="large"), "not a class of sizes"),
        (change(global_size=[64, 64]), "was tuned at sizes of class 2^6%64x2^6%64/16x16, not 2^10%4x2^8%4/16x16"),
        (change(global_size=[]), "not the sizes of one launch"),
        (change(local_size=None), "was tuned at sizes of class 2^10%4x2^8%4/open"),
        (variant(coarsenings=[[3, 0]]), "not a configuration"),
        (variant(coarsenings=[[2, 2, 1]]), "coarsens a dimension that its launch doesn't have"),
        (variant(local_size=[64]), "has a local size of 1 extents for 2"),
        (variant(definitions={"SUM": "a + b"}), "defines macros that are no whole numbers"),
        (change(speedup=None), "the remembered choice's speedup is not a JSON object"),
        (change(speedup={"ratio": 0.0, "low": 0.0, "high": 1.0}), "a speed-up that is none"),
        (change(speedup={"ratio": 2.0, "low": 3.0, "high": 1.0}), "a speed-up that is none"),
        (change(speedup={"ratio": float("nan"), "low": 1.0, "high": 1.0}), "must be a number"),
        (change(trials=-1), "a negative number of trials"),
        (change(trials=True), "must be a whole number"),
        (change(versions=[["llvmlite", "0.45.0"]]), "doesn't say which coarsen it was found with"),
        (change(driver_version="x" * 1001), "a name of 1001 letters"),
        (change(driver_version="a\0b"), "must be text"),
        (change(found_at="noon"), "was found at 'noon'"),
        (change(found_at="2026-11-20T12:00:00Z"), "a time in UTC is like 2026-11-20T12:00:00+00:00"),
        (change(found_at="2026-11-20T12:00:00+01:00"), "was found at"),
    ],
)
def test_malformed_documents(damage: Callable[[dict[str, Any]], None], message: str) -> None:
    document = json.loads(json.dumps(DOCUMENT))
    damage(document)
    with pytest.raises(InvalidInputError) as caught:
        choice_from_json(document)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"ir_hash": "3f"},
        {"kernel": "k" * 1001},
        {"allowed": "[]"},
        {"allowed": "{"},
        {"allowed": '{"b": 1}'},
        {"allowed": "[" * 5000},
        {"allowed": allowed_text({"x": "y" * 10_000})},
        {"speedup": Speedup(float("inf"), 1.0, 2.0)},
    ],
)
def test_a_choice_that_could_not_be_read_back_is_not_written(changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        choice_to_json(some_choice(**changes))


@pytest.mark.parametrize("value", [None, [], "x", 7])
def test_what_is_no_object(value: object) -> None:
    with pytest.raises(InvalidInputError, match="the remembered choice is not a JSON object"):
        choice_from_json(value)


SAME = (CHOICE.driver_version, CHOICE.platform_version)


def test_a_choice_that_holds() -> None:
    assert problem_of(CHOICE, *SAME, "0.1.0") is None
    assert problem_of(CHOICE, *SAME, "0.1.9") is None
    assert problem_of(some_choice(versions=(("coarsen", __version__),)), *SAME) is None


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ((*SAME, "0.2.0"), "it was found with coarsen 0.1.0, and this is coarsen 0.2.0"),
        ((*SAME, "1.1.0"), "it was found with coarsen 0.1.0, and this is coarsen 1.1.0"),
        (
            ("2025", SAME[1], "0.1.0"),
            "it was found with driver '2024.18.10.0.08_160000', and the device has '2025' now",
        ),
        (
            (SAME[0], "OpenCL 4.0", "0.1.0"),
            "it was found with platform version 'OpenCL 3.0 LINUX', and the device has 'OpenCL 4.0' now",
        ),
    ],
)
def test_a_choice_that_no_longer_holds(now: tuple[str, str, str], expected: str) -> None:
    assert problem_of(CHOICE, *now) == expected


def test_names_of_a_problem_are_escaped() -> None:
    problem = problem_of(some_choice(driver_version="\x1b[2J\n"), *SAME, "0.1.0")
    assert problem is not None
    assert re.search(r"driver '\\x1b\[2J\\n'", problem)
