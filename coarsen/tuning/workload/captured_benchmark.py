"""A captured launch as a benchmark of its own: as `coarsen run --record` keeps it, or on its way to be measured.

    one .npz: arrays, and the rest as JSON (`captured_launch.py`) ─▶ `read_launch` ─▶ Benchmark

The machine that measures a pack need not have the compiler, which writing such a file takes.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

import numpy as np

from coarsen.base.codec import Coders, decoded
from coarsen.errors import InvalidInputError
from coarsen.tuning.workload.benchmark import (
    Argument,
    Array,
    Benchmark,
    BufferArgument,
    Clock,
    Definitions,
    Launch,
    LocalSize,
    MacroSizes,
    MacroStep,
    Preset,
    ScalarArgument,
    Size,
    Workload,
    whole_numbers,
)
from coarsen.tuning.workload.driver_tools import check_whole_groups
from coarsen.tuning.workload.element_types import ImageFormat, element_type
from coarsen.tuning.workload.launch_list import check_sizes, untagged
from coarsen.variant.variant import Source

# The bytes of the pattern: a finite number in any floating-point type, and none that programs often write.
UNREAD_BYTE = 0x40
# The one preset of a launch on its way to be measured; of one that is kept, all presets are alike.
PRESET = "launch"
_PRESETS = ("test", "cpu", "gpu")
LAUNCH, SCALAR = "launch", "ScalarArgument"
KINDS: tuple[type[Argument], ...] = get_args(Argument)
# What NumPy raises at a file that is no archive of arrays, or a broken one, and JSON at what is nested too deep.
_UNREADABLE = (
    *(AttributeError, EOFError, InvalidInputError, KeyError, MemoryError, OSError, RuntimeError, TypeError),
    *(ValueError, zipfile.BadZipFile, zlib.error),
)


@dataclass(frozen=True, slots=True)
class KeptBuffer:
    """A buffer or an image; of what the kernel does not read there is no content, but so many bytes."""

    name: str
    unread_bytes: int | None
    image: ImageFormat | None


@dataclass(frozen=True, slots=True)
class KeptLaunch:
    """A captured launch without the contents of its buffers and the values of its scalars.

    `name` is what the benchmark of one that is kept is called; empty for one on its way to be measured. `sizes`
    are those by macros.
    """

    name: str
    source: str
    options: tuple[str, ...]
    launch: Launch
    buffers: tuple[KeptBuffer, ...]
    outputs: tuple[str, ...]
    rounding_steps: int
    sizes: tuple[MacroSizes, ...] = ()


def read_launch(path: Path) -> Benchmark:
    """Return the benchmark of a launch that `write_launch` wrote. Raises InvalidInputError for any other file."""
    try:
        with np.load(path, allow_pickle=False) as file:
            text = file[LAUNCH].tobytes()
            checks = [(each.filename, each.CRC, each.file_size) for each in file.zip.infolist()]
            readers: Coders = {Argument: _read_argument}
            # Launches that were recorded before a field was there have its default.
            kept = decoded(KeptLaunch, json.loads(text), "the launch", readers, has_defaults=True)
            launch = replace(
                kept.launch,
                arguments=tuple(
                    ScalarArgument(file[f"scalar {index}"][()]) if isinstance(each, ScalarArgument) else each
                    for index, each in enumerate(kept.launch.arguments)
                ),
            )
            _check(kept)
    except _UNREADABLE as error:
        raise InvalidInputError(f"{path}: the captured launch can't be read: {_said(error)}") from None
    sizes = kept.sizes
    # Versions that may take several launches are launched as they are written.
    is_sequence = any(each.steps for each in sizes)
    dimensions = () if is_sequence else tuple(range(len(launch.global_size)))
    local_size = sizes[0].local_size if sizes else launch.local_size
    values = [dict(each.definitions) for each in sizes]
    return Benchmark(
        name=kept.name or launch.kernel,
        dimensions=dimensions,
        presets=dict.fromkeys(_PRESETS if kept.name else (PRESET,), Preset({}, local_size)),
        make_workload=partial(_make_workload, replace(kept, launch=launch), path),
        build_options=kept.options,
        tunables={name: tuple(dict.fromkeys(each[name] for each in values)) for name in (values or [{}])[0]},
        local_size_of=partial(_local_size_of, sizes) if sizes else None,
        make_launches=partial(_make_launches, launch, sizes),
        kernel_name=launch.kernel,
        source_text=kept.source,
        inputs_hash=hashlib.sha256(repr(checks).encode()).hexdigest() if kept.name else "",
        input_macros=(),
        clock=Clock.SPAN if is_sequence else Clock.SUM,
        other_kernels=tuple(sorted({step.kernel for each in sizes for step in each.steps} - {launch.kernel})),
        buffers_fit_any_local_size=True,
    )


def _said(error: Exception) -> str:
    if isinstance(error, OSError | InvalidInputError):
        return getattr(error, "strerror", None) or str(error)
    # NumPy's own words tell to load pickles.
    return "it is damaged, or `coarsen run --record` did not write it"


def _check(kept: KeptLaunch) -> None:
    """Raise InvalidInputError or ValueError for sizes that are none, and for buffers that are not there."""
    check_sizes(kept.launch)
    used = {each.name for each in kept.launch.arguments if isinstance(each, BufferArgument)}
    if not kept.outputs or not used.union(kept.outputs) <= {buffer.name for buffer in kept.buffers}:
        raise InvalidInputError("it has no output, or not all of its buffers")


def _read_argument(data: Mapping[str, Any]) -> Argument:
    """The argument that `_argument_as_data` wrote, a scalar without its value. Raises KeyError or ValueError."""
    return ScalarArgument(np.uint8(0)) if SCALAR in data else untagged(data, KINDS)


def _make_workload(
    launch: KeptLaunch, path: Path, size: Size, local_size: LocalSize, _generator: np.random.Generator
) -> Workload:
    needed: dict[str, int] = {}
    for each in launch.sizes:
        for index, byte_count in enumerate(each.scratch):
            needed[_scratch(index)] = max(byte_count, needed.get(_scratch(index), 0))
    scratch = {name: np.zeros(byte_count, np.uint8) for name, byte_count in needed.items()}
    return Workload(
        buffers={**_read_buffers(launch, path), **scratch},
        launches=_make_launches(launch.launch, launch.sizes, size, local_size),
        outputs=launch.outputs,
        reference=None,
        images={buffer.name: buffer.image for buffer in launch.buffers if buffer.image is not None},
        rounding_steps=launch.rounding_steps,
    )


def _read_buffers(launch: KeptLaunch, path: Path) -> dict[str, Array]:
    try:
        with np.load(path, allow_pickle=False) as file:
            return {buffer.name: _read_buffer(file, buffer) for buffer in launch.buffers}
    except _UNREADABLE as error:
        raise InvalidInputError(f"{path}: what its buffers hold can't be read: {_said(error)}") from None


def _read_buffer(file: Mapping[str, Array], buffer: KeptBuffer) -> Array:
    shape: Array = file[f"type {buffer.name}"]
    content: Array = (
        file[f"content {buffer.name}"]
        if buffer.unread_bytes is None
        else np.full(buffer.unread_bytes, UNREAD_BYTE, np.uint8)
    )
    return content.view(shape.dtype).reshape(-1, *shape.shape[1:])


def _local_size_of(sizes: tuple[MacroSizes, ...], definitions: Definitions) -> LocalSize:
    """The local size with some macros; of macros that don't go together, with which nothing is launched, any."""
    return next((each.local_size for each in sizes if each.definitions == definitions), sizes[0].local_size)


def _scratch(index: int) -> str:
    """The name of a scratch buffer: no parameter has such a one."""
    return f"scratch {index}"


def _step(arguments: tuple[Argument, ...], step: MacroStep) -> Launch:
    """One of several launches, with the arguments of the one whose place they take."""
    passed = list[Argument]()
    for each in step.passed:
        if each.source is Source.SCRATCH:
            passed.append(BufferArgument(_scratch(each.index)))
        elif each.source is Source.NUMBER:
            passed.append(ScalarArgument(element_type(each.type).value((step.numbers[each.index],))))
        else:
            passed.append(arguments[each.index])
    return Launch(step.kernel, step.global_size, step.local_size, tuple(passed))


def _make_launches(
    launch: Launch, sizes: tuple[MacroSizes, ...], macros: Size, local_size: LocalSize
) -> tuple[Launch, ...]:
    """The launch at a local size, with macros at theirs.

    Raises InvalidInputError where the local size does not divide the global size, or macros don't go together.
    """
    if sizes:
        fitting = (each for each in sizes if not macros or whole_numbers(each.definitions) == macros)
        found = next(fitting, None)
        if found is None:
            words = ", ".join(f"{name} = {value}" for name, value in macros.items())
            raise InvalidInputError(f"these macros don't go together: {words}")
        if found.steps:
            return tuple(_step(launch.arguments, each) for each in found.steps)
        launch, local_size = replace(launch, global_size=found.global_size), found.local_size
    check_whole_groups(launch.global_size, local_size)
    return (replace(launch, local_size=local_size),)
