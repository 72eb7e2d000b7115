"""T4 files, which coarsen wrote once: they are read back, and those of other programs are refused."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.results.exchange.files import read_t4
from coarsen.tuning.records.measurement import Invalidity, Measurement
from coarsen.tuning.records.measurement_json import measurement_to_json
from tests.opencl_bench.measurements import some_measurement

ENDINGS = [
    some_measurement(invalidity=ending, reason="" if ending is Invalidity.CORRECT else f"ended: {ending}")
    for ending in Invalidity
]


def document_of(rows: Sequence[Measurement]) -> dict[str, Any]:
    """As much of a T4 file as is read."""
    results = [{"invalidity": row.invalidity.value, "coarsen": measurement_to_json(row)} for row in rows]
    return {"schema_version": "1.0.0", "results": results}


def test_files_of_old_are_read(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps(document_of(ENDINGS), indent=4))
    assert read_t4(path) == ENDINGS


def test_a_file_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    # As Kernel Tuner writes a result.
    result = {"configuration": {"block_size_x": 128}, "times": {"runtimes": [0.5, 0.4]}, "invalidity": "correct"}
    path.write_text(json.dumps({"schema_version": "1.0.0", "results": [result]}))
    with pytest.raises(InvalidInputError) as caught:
        read_t4(path)
    assert str(caught.value).startswith(f"{path}: result 1 is of another program: ")


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
    whole = json.dumps(document_of(ENDINGS[:1])).encode()
    for length in range(0, len(whole), 97):
        path.write_bytes(whole[:length])
        with pytest.raises(InvalidInputError):
            read_t4(path)
