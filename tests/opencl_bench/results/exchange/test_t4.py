"""T4 files: lossless, valid by the format's rules, and only ours are read back."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.results.exchange.files import read_t4, t4_document, write_t4
from coarsen.tuning.records.measurement import Invalidity, Measurement
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.data_layout import SOA, Order
from coarsen.variant.data_plan import ArrayPlan
from coarsen.variant.placement import XOR, Place
from coarsen.variant.space import is_of_arrays
from coarsen.variant.variant import Variant
from tests.opencl_bench.measurements import measurements, some_measurement

RULES = json.loads((Path(__file__).parent / "t4_results.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(RULES)
ENDINGS = [
    some_measurement(invalidity=ending, reason="" if ending is Invalidity.CORRECT else f"ended: {ending}")
    for ending in Invalidity
]


def written(path: Path, rows: list[Measurement]) -> dict[str, Any]:
    write_t4(rows, path)
    document: dict[str, Any] = json.loads(path.read_text())
    return document


def test_the_rules_are_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(RULES)


@settings(max_examples=40)
@given(rows=st.lists(measurements(), max_size=3))
def test_round_trips_lose_nothing(rows: list[Measurement], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("t4") / "results.json"
    VALIDATOR.validate(written(path, rows))
    assert read_t4(path) == rows


def test_every_ending_is_valid(tmp_path: Path) -> None:
    document = written(tmp_path / "results.json", ENDINGS)
    VALIDATOR.validate(document)
    assert document == t4_document(ENDINGS)
    assert [result["invalidity"] for result in document["results"]] == [*Invalidity]
    assert [result["correctness"] for result in document["results"]] == [1, 0, 0, 0, 0, 0]
    assert [len(result["times"]["runtimes"]) for result in document["results"]] == [5, 0, 0, 0, 0, 0]
    assert document["results"][2]["measurements"] == [{"name": "reason", "value": "ended: compile", "unit": ""}]


def test_what_other_programs_read() -> None:
    candidate = Variant((16, 8), (Coarsening(2, 0, 8), Coarsening(4, 1)), (("TILE", "16"),))
    (result,) = t4_document([some_measurement(candidate=candidate)])["results"]
    assert result["timestamp"] == "2026-11-20T12:00:00.123456+00:00"
    assert result["configuration"] == {
        "local_size_0": 16,
        "factor_0": 2,
        "stride_0": 8,
        "local_size_1": 8,
        "factor_1": 4,
        "stride_1": 1,
        "local_size_2": 1,
        "factor_2": 1,
        "stride_2": 1,
        "group_factor_0": 1,
        "group_factor_1": 1,
        "group_factor_2": 1,
        "fast_path": "auto",
        "lock_step": "auto",
        "wide_accesses": 0,
        "clean_up": 1,
        "any_size": 0,
        "-D TILE": "16",
    }
    assert result["times"]["compilation_time"] == 250.0
    assert result["times"]["runtimes"] == pytest.approx([1.0001, 1.0003, 1.0002, 1.0, 1.0004])
    values = {entry["name"]: (entry["value"], entry["unit"]) for entry in result["measurements"]}
    assert values["time"] == (pytest.approx(1.0002), "ms")
    assert values["baseline_time"] == (pytest.approx(2.0004), "ms")
    assert values["speedup"] == (2.0, "")
    assert len(values["baseline_runtimes"][0]) == 5


def test_layouts_are_parameters_of_all_configurations_of_a_kernel() -> None:
    laid = (ArrayPlan("bodies", SOA), ArrayPlan("image", order=Order((1, 0))))
    rows = [some_measurement(candidate=Variant((16,), arrays=arrays)) for arrays in ((), laid)]
    other = some_measurement(candidate=Variant((16,)), benchmark="another")
    said = [
        {name: value for name, value in result["configuration"].items() if name.startswith(("layout", "order"))}
        for result in t4_document([*rows, other])["results"]
    ]
    assert said == [
        {"layout_bodies": "aos", "order_bodies": "", "layout_image": "aos", "order_image": ""},
        {"layout_bodies": "soa", "order_bodies": "", "layout_image": "aos", "order_image": "1,0"},
        {},
    ]


def test_places_and_pads_are_parameters_of_all_configurations_of_a_kernel(tmp_path: Path) -> None:
    local = ArrayPlan("w", shape=(3, 3), place=Place.LOCAL)
    chosen = ((), (local,), (ArrayPlan("w", place=Place.CONSTANT), ArrayPlan("tile", pad=XOR)))
    rows = [some_measurement(candidate=Variant((16,), arrays=arrays)) for arrays in chosen]
    said = [
        {name: value for name, value in result["configuration"].items() if is_of_arrays(name)}
        for result in t4_document(rows)["results"]
    ]
    assert said == [
        {"memory_w": "global", "pad_tile": "0"},
        {"memory_w": "local:3,3", "pad_tile": "0"},
        {"memory_w": "constant", "pad_tile": "xor"},
    ]
    write_t4(rows, tmp_path / "rows.json")
    assert read_t4(tmp_path / "rows.json") == rows


FIRST: Callable[[dict[str, Any]], dict[str, Any]] = lambda document: document["results"][0]  # noqa: E731


def test_unknown_fields_are_allowed(tmp_path: Path) -> None:
    document = t4_document(ENDINGS)
    document["metadata"] = {"hardware": {}}
    FIRST(document)["times"]["search_algorithm"] = 0.5
    FIRST(document)["note"] = "seen"
    VALIDATOR.validate(document)
    path = tmp_path / "results.json"
    path.write_text(json.dumps(document, indent=4))
    assert read_t4(path) == ENDINGS


# As Kernel Tuner writes a result.
FOREIGN = {
    "schema_version": "1.0.0",
    "results": [
        {
            "timestamp": "2024-05-01 10:00:00.0+00:00",
            "configuration": {"block_size_x": 128, "tile": 2},
            "times": {"compilation": 120.5, "benchmark": 3.5, "framework": 0.1, "runtimes": [0.5, 0.4]},
            "invalidity": "correct",
            "correctness": 1,
            "measurements": [{"name": "time", "value": 0.45, "unit": "ms"}],
            "objectives": ["time"],
        }
    ],
}


def test_a_file_of_another_program_is_valid_and_refused(tmp_path: Path) -> None:
    VALIDATOR.validate(FOREIGN)
    path = tmp_path / "results.json"
    path.write_text(json.dumps(FOREIGN))
    with pytest.raises(InvalidInputError) as caught:
        read_t4(path)
    assert str(caught.value).startswith(f"{path}: result 1 is of another program: ")


def test_a_result_that_contradicts_itself_is_refused(tmp_path: Path) -> None:
    document = t4_document(ENDINGS)
    document["results"][1]["invalidity"] = "runtime"
    path = tmp_path / "results.json"
    path.write_text(json.dumps(document))
    with pytest.raises(InvalidInputError, match="result 2 is runtime by T4 and timeout by its field 'coarsen'"):
        read_t4(path)


def test_numbers_that_another_program_rounded(tmp_path: Path) -> None:
    document = copy.deepcopy(t4_document(ENDINGS))
    times = FIRST(document)["times"]
    times["runtimes"] = [float(f"{value:.9g}") for value in times["runtimes"]]
    times["compilation_time"] = 250
    del FIRST(document)["measurements"]
    path = tmp_path / "results.json"
    path.write_text(json.dumps(document))
    assert read_t4(path) == ENDINGS


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a JSON file"),
        (b"\xff\xfe\x00", "not a JSON file"),
        (b'{"results": [', "not a JSON file"),
        (b"[" * 100_000, "not a JSON file"),
        (b"[]", "not a T4 file: it has no list of results"),
        (b"{}", "not a T4 file: it has no list of results"),
        (b'{"results": {}}', "not a T4 file: it has no list of results"),
        (b'{"results": [3]}', "result 1 is of another program"),
        (b'{"results": [{"coarsen": []}]}', "result 1: the measurement is not a JSON object"),
        (b'{"results": [{"coarsen": {}}]}', "result 1: the measurement has no field 'key'"),
    ],
)
def test_damaged_files_are_one_line(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_bytes(content)
    with pytest.raises(InvalidInputError) as caught:
        read_t4(path)
    assert str(caught.value).startswith(f"{path}: {message}")
    assert "\n" not in str(caught.value)


def test_a_cut_file_is_refused_wherever_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    write_t4(ENDINGS[:1], path)
    whole = path.read_bytes().rstrip()
    for length in range(0, len(whole), 97):
        path.write_bytes(whole[:length])
        with pytest.raises(InvalidInputError):
            read_t4(path)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="can't be read: No such file or directory"):
        read_t4(tmp_path / "none.json")
    with pytest.raises(InvalidInputError, match="can't be written: No such file or directory"):
        write_t4(ENDINGS, tmp_path / "none" / "results.json")


def test_a_file_is_replaced_in_one_step(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    write_t4(ENDINGS[:1], path)
    with pytest.raises(ZeroDivisionError):
        write_t4((ENDINGS[1 // (1 - number)] for number in (0, 1)), path)
    assert read_t4(path) == ENDINGS[:1]
    write_t4(ENDINGS, path)
    assert read_t4(path) == ENDINGS
    assert list(tmp_path.iterdir()) == [path]
