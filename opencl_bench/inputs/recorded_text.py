"""The description that lists recorded launches as inputs, as text; `described/recorded_inputs.py` reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from coarsen.opencl_bench.workloads.described.launch_list import RecordedInput, argument_as_data
from coarsen.opencl_bench.workloads.described.recorded_inputs import KEY
from coarsen.opencl_bench.workloads.described.table import quoted


def recorded_text(
    description: str, recording: Path, inputs: Sequence[RecordedInput], features: Sequence[str]
) -> str:
    """Return the text of a description.

    Args:
        description: the file name of the kernel's own.
        recording: where the launches come from.
        inputs: the launches, the first called `input-000`.
        features: numbers of a launch to choose by, where the kernel's own description has none.
    """
    return "\n".join(_lines(description, recording, inputs, features)) + "\n"


def _lines(
    description: str, recording: Path, inputs: Sequence[RecordedInput], features: Sequence[str]
) -> Iterator[str]:
    yield f"# Launches that a program made, as the inputs of {description}. Written by"
    yield f"# coarsen tune {description} --inputs-from {recording.name or recording}"
    yield f"{KEY} = {quoted(description)}"
    if features:
        yield "\n[features]"
        yield from (f"{name} = {quoted(name)}" for name in features)
    for each in inputs:
        yield "\n[[inputs]]"
        yield f"launched = {each.launched}"
        yield f"sizes = {_table({name: str(value) for name, value in each.sizes.items()})}"
        yield f"global_size = {list(each.global_size)}"
        yield f"arguments = {_table({name: _argument(each, name) for name in each.arguments})}"


def _argument(one: RecordedInput, name: str) -> str:
    entries = {key: _value(value) for key, value in argument_as_data(one.arguments[name]).items()}
    if name in one.files:
        entries["file"] = quoted(one.files[name])
    return _table(entries)


def _value(value: str | int | bool) -> str:
    return quoted(value) if isinstance(value, str) else str(value).lower()


def _table(entries: dict[str, str]) -> str:
    return f"{{ {', '.join(f'{name} = {text}' for name, text in entries.items())} }}" if entries else "{}"
