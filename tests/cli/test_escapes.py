"""What a terminal would obey is shown, in whichever string of a file of somebody else's it stands.

Each string of each format, names of fields among them, is replaced in turn by one with escapes; whether the file
is refused or taken, nothing that the command prints holds any.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coarsen.opencl_bench.results.exchange.files import write_results
from coarsen.opencl_bench.results.exchange.lines import LineFile
from coarsen.tuning.remembered.choice_json import write_choices
from tests.cli.conftest import Run
from tests.cli.scale_kernel import DESCRIPTION
from tests.cli.test_tuned_inputs import described, tuned
from tests.opencl_bench.measurements import some_measurement
from tests.opencl_bench.remembered_choices import CHOICE

PLANTED = "\x1b[31m\x1b]0;owned\x07\x9b1m"
OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

__all__ = ("described", "tuned")


def planted(value: Any) -> Iterator[Any]:  # noqa: ANN401 (JSON)
    """Copies of a JSON value, each with escapes in one more string or name; of lists, the first entry alone."""
    if isinstance(value, str):
        yield PLANTED + value
        yield PLANTED
    elif isinstance(value, dict):
        for name in value:
            yield {(PLANTED if each == name else each): entry for each, entry in value.items()}
            yield from ({**value, name: entry} for entry in planted(value[name]))
    elif isinstance(value, list) and value:
        yield from ([entry, *value[1:]] for entry in planted(value[0]))


def check(run: Run, commands: list[tuple[object, ...]]) -> None:
    for words in commands:
        outcome = run(*words)
        found = OBEYED.search(outcome.out + outcome.err)
        assert found is None, (words, outcome)
        assert outcome.code in (0, 2, 3, 4, 5) and "this is a bug" not in outcome.err, (words, outcome)


def test_a_tuned_file(run: Run, described: Path, tuned: Path) -> None:
    commands: list[tuple[object, ...]] = [
        ("results", "show", tuned),
        ("apply", described.with_suffix(".cl"), "--tuned", tuned, "-o", tuned.with_name("generated")),
        ("results", "plot", "--from", tuned, "-o", tuned.with_suffix(".svg")),
    ]
    value = json.loads(tuned.read_text())
    for other in planted(value):
        tuned.write_text(json.dumps(other))
        check(run, commands[:1])
    for field in ("device", "driver", "coarsen_version", "kernel", "source_hash"):
        tuned.write_text(json.dumps({**value, field: PLANTED}))
        check(run, commands)


def test_remembered_choices(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, store = tmp_path / "choices.json", tmp_path / "store.sqlite"
    monkeypatch.setenv("COARSEN_STORE", str(store))
    write_choices([CHOICE], path)
    for other in planted(json.loads(path.read_text())):
        path.write_text(json.dumps(other))
        check(run, [("results", "import", path)])
    check(run, [("results", "ls", "--remembered")] if store.exists() else [])


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_results(suffix: str, run: Run, tmp_path: Path) -> None:
    path = tmp_path / f"rows{suffix}"
    commands: list[tuple[object, ...]] = [("results", "import", path, "--store", tmp_path / "store.sqlite")]
    if suffix == ".jsonl":
        with LineFile(path) as file:
            file.add(some_measurement())
    else:
        write_results([some_measurement()], path)
    for content in _changed(suffix, path.read_bytes()):
        path.write_bytes(content)
        check(run, commands)
    shown: list[tuple[object, ...]] = [("results", "ls", "--store", tmp_path / "store.sqlite")]
    check(run, shown)


def _changed(suffix: str, content: bytes) -> Iterator[bytes]:
    if suffix == ".jsonl":
        for other in planted(json.loads(content)):
            yield (json.dumps(other) + "\n").encode()
    else:
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pq.read_table(io.BytesIO(content))
        for place, field in enumerate(table.schema):
            if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
                changed = table.set_column(place, field, pa.array([PLANTED], field.type))
            else:
                changed = table.rename_columns([PLANTED if n == field.name else n for n in table.column_names])
            written = io.BytesIO()
            pq.write_table(changed, written)
            yield written.getvalue()


def test_a_description(run: Run, described: Path) -> None:
    escaped = json.dumps(PLANTED)[1:-1].replace("\\u001b", "\\u001B")
    for start in [match.end() for match in re.finditer(r'= "|\["|= (?=\d)|^(?=[a-z])', DESCRIPTION, re.MULTILINE)]:
        before = DESCRIPTION[:start]
        other = f'"{escaped}" = 1\n' if before.endswith("\n") else f'"{escaped}" #'
        described.write_text(before + (escaped if before.endswith('"') else other) + DESCRIPTION[start:])
        nowhere = ("--device", "no such device")
        check(run, [("tune", described, *nowhere), ("bench", described, *nowhere)])


def test_a_source_with_pragmas(run: Run, described: Path) -> None:
    source = described.with_suffix(".cl")
    text = source.read_text()
    for line in range(text.count("\n")):
        lines = text.split("\n")
        lines[line] += f" {PLANTED}"
        source.write_text("\n".join(lines))
        describing = ("describe", source, "--inputs", "-o", source.with_name("made.toml"), "--force")
        check(run, [("apply", source, "--factor", "2", "-D", "IMPL=0"), describing])


def test_a_model(run: Run, tmp_path: Path) -> None:
    from coarsen.models.cascade.model import SHIPPED

    kernel = tmp_path / "copy.cl"
    kernel.write_text("kernel void copy(global int *a) { a[get_global_id(0)] *= 2; }")
    for suffix in ("json", "safetensors"):
        shutil.copy(SHIPPED / f"tahiti.{suffix}", tmp_path)
    card = tmp_path / "tahiti.json"
    value = json.loads(card.read_text())
    asked = ("predict", kernel, "--device", "tahiti", "--model", "cascade", "--models", tmp_path)
    for other in planted(value):
        card.write_text(json.dumps(other))
        check(run, [asked])
    numbers = tmp_path / "tahiti.safetensors"
    content = numbers.read_bytes().replace(b"projection.mean", b"projection.m\\u001b", 1)
    numbers.write_bytes(content)
    card.write_text(json.dumps({**value, "sha256": hashlib.sha256(content).hexdigest()}))
    check(run, [asked])


def test_the_plants_are_many() -> None:
    """What is walked is every string and every name."""
    value = {"a": ["b", "c"], "d": {"e": "f"}, "g": 1}
    found = [*planted(value)]
    # Of a's list the first string, and "f", each twice; and the names a, d, e and g.
    assert len(found) == 8 and all("owned" in json.dumps(each) for each in found)
