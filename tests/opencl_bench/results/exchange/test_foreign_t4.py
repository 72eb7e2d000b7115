"""T4 files of other tuners: times in seconds, failures, packed files, and what is refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.records.measurement import Invalidity
from coarsen.opencl_bench.results.exchange.foreign_t4 import read_foreign_t4

MEASURED = {
    "configuration": {"tile": 4, "mode": "fast"},
    "times": {"compilation": 900.0, "framework": 50.0, "runtimes": [16.0, 8.0, 8.0]},
    "invalidity": "correct",
    "correctness": 1,
    "measurements": [{"name": "energy", "value": 3}, {"name": "time", "value": 10.5, "unit": ""}],
}
FAILED = {
    "configuration": {"tile": 8, "mode": "fast"},
    "times": {"compilation": 500.0, "runtimes": None},
    "invalidity": "runtime",
    "correctness": 0,
    "measurements": [{"name": "time", "value": "RuntimeFailedConfig", "unit": ""}],
}


def document(*results: object, unit: str = "miliseconds") -> dict[str, Any]:
    return {"metadata": {"timeunit": unit}, "results": list(results), "schema_version": "1.0.0"}


def written(folder: Path, content: object) -> Path:
    path = folder / "T4.json"
    path.write_text(json.dumps(content))
    return path


def test_a_measured_and_a_failed_result(tmp_path: Path) -> None:
    measured, failed = read_foreign_t4(written(tmp_path, document(MEASURED, FAILED)))
    assert measured.configuration == {"tile": 4, "mode": "fast"}
    assert measured.invalidity is Invalidity.CORRECT
    assert measured.time == pytest.approx(0.0105)
    assert measured.seconds == pytest.approx(0.932)
    assert (failed.invalidity, failed.time) == (Invalidity.RUNTIME, None)
    assert failed.seconds == pytest.approx(0.5)


def test_without_an_objective_the_median_of_the_runs_counts(tmp_path: Path) -> None:
    (result,) = read_foreign_t4(written(tmp_path, document(MEASURED | {"measurements": []})))
    assert result.time == pytest.approx(0.008)


@pytest.mark.parametrize(
    ("unit", "seconds"), [("seconds", 10.5), ("milliseconds", 0.0105), ("nanoseconds", 1.05e-8)]
)
def test_units(unit: str, seconds: float, tmp_path: Path) -> None:
    (result,) = read_foreign_t4(written(tmp_path, document(MEASURED, unit=unit)))
    assert result.time == pytest.approx(seconds)


def test_packed_files(tmp_path: Path) -> None:
    path = tmp_path / "T4.json.gz"
    packed = gzip.compress(json.dumps(document(MEASURED)).encode())
    path.write_bytes(packed)
    assert len(read_foreign_t4(path)) == 1
    path.write_bytes(packed[:-20])
    with pytest.raises(InvalidInputError, match="was cut off"):
        read_foreign_t4(path)
    path.write_bytes(packed[:10] + b"damaged" + packed[17:])
    with pytest.raises(InvalidInputError, match=r"T4\.json\.gz: "):
        read_foreign_t4(path)


def test_a_file_that_unpacks_to_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coarsen.opencl_bench.results.exchange.foreign_t4.LARGEST_UNPACKED", 100)
    path = tmp_path / "T4.json.gz"
    path.write_bytes(gzip.compress(b" " * 1000))
    with pytest.raises(InvalidInputError, match="has more than 0 MiB unpacked"):
        read_foreign_t4(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "it has no list 'results'"),
        (document(MEASURED, unit="fortnights"), "its unit of time is 'fortnights'"),
        (document(3), "result 1 is no object"),
        (document(MEASURED, MEASURED | {"configuration": {"tile": [1]}}), "the configuration of result 2"),
        (document(MEASURED | {"invalidity": "odd"}), "the invalidity of result 1 is none of correct"),
        (document(MEASURED | {"times": {"runtimes": ["fast"]}}), "the runtimes of result 1"),
        (document(MEASURED | {"times": [1]}), "the runtimes of result 1"),
        (document(MEASURED | {"times": {}, "measurements": 3}), "has neither a time nor runtimes"),
        (document(MEASURED | {"measurements": [{"name": "time", "value": 0}]}), "result 1 took no time"),
        (document(MEASURED | {"times": {"runtimes": [float("nan")]}}), "the runtimes of result 1"),
    ],
)
def test_what_is_refused(content: object, message: str, tmp_path: Path) -> None:
    path = written(tmp_path, content)
    with pytest.raises(InvalidInputError, match=message) as caught:
        read_foreign_t4(path)
    assert str(caught.value).startswith(f"{path}: not a T4 file: ") and "\n" not in str(caught.value)


@pytest.mark.parametrize("data", [b"", b"{", b"[" * 100_000, b"\xff\xfe\xff"])
def test_other_files_are_refused_in_one_line(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "T4.json"
    path.write_bytes(data)
    with pytest.raises(InvalidInputError, match=r"T4\.json: not a (JSON|T4) file: .+$"):
        read_foreign_t4(path)
