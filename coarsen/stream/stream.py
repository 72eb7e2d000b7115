"""Pipelines that are called with arrays: the versions of their kernels, launched as a tuned file says.

    step = pipeline(Map("gain", "k * u", arguments="float k"), Stencil("blur", "…", border="edge"))
    blurred = step(queue, image, k=2.0)

Which actors are one kernel is a choice of macros. A pipeline that isn't tuned has the tuned file of one version.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyopencl
import pyopencl.array

from coarsen.base.files import replace_file
from coarsen.dispatch.expressions import parse_expression
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedVersion
from coarsen.drop_in.program import Program
from coarsen.errors import InvalidInputError, aligned
from coarsen.frontend.source_text import hash_with_headers
from coarsen.stream.actor import Stage, is_array
from coarsen.stream.check_rates import check_rates
from coarsen.stream.graph import MOST_FIRINGS, buffers, channels_of, repetitions
from coarsen.stream.kernels import Pipeline, opencl_text
from coarsen.stream.versions import OPTIONS, file_of, versions_of

_MOST_ELEMENTS = 2**31 - 1
_LONGEST_NAME = 60
_Array = pyopencl.array.Array


class Call(NamedTuple):
    """What a call passes: the input, the sizes of an image and arguments; the events before it, how many elements
    each channel gets, and the shape of the output."""

    passed: tuple[Any, ...]
    events: list[pyopencl.Event]
    counts: list[int]
    shape: tuple[int, ...]


class Stream:
    """A pipeline that is called with arrays on a device.

    Args:
        stages: actors and split-joins, one after the other.
        name: of its last kernel, as in C; those of the stages where it is left out.
        tuned: a tuned file of it, or its path; without one, neighbours are fused where nothing is computed twice.

    Raises:
        InvalidInputError: neighbours that don't go together, a work that doesn't compile, a tuned file of another
            pipeline.
        RefusalError: `stream-rates`, for rates that aren't those of the work, or never balance.
    """

    def __init__(
        self, stages: Sequence[Stage], *, name: str | None = None, tuned: str | Path | TunedFile | None = None
    ) -> None:
        name = name or "_".join(each.name for each in stages)[:_LONGEST_NAME]
        # A word alone may be a builtin function.
        self._pipeline = Pipeline(name if "_" in name else f"{name}_stream", tuple(stages))
        check_rates(self._pipeline.actors)
        self._channels = channels_of(self._pipeline.stages)
        self._named = {name for each in self._channels for name in each.names}
        if not self._named:
            repetitions(self._channels)
        self._counts = tuple(map(parse_expression, self._pipeline.counts))
        # Arguments of a kernel object are a launch's: each thread has its own.
        self._kernels = threading.local()
        self._tuned = TunedFile.read(Path(tuned)) if isinstance(tuned, str | Path) else tuned
        if self._tuned is not None and self._tuned.source_hash != hash_with_headers(self.source, OPTIONS):
            raise InvalidInputError(f"the tuned file of {self._tuned.kernel} is of another pipeline")

    @cached_property
    def source(self) -> str:
        """The kernels in OpenCL C, as they are before anything is coarsened."""
        return opencl_text(self._pipeline)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of what a call takes besides its input."""
        return (*self._pipeline.sizes[1:], *self._pipeline.arguments)

    @cached_property
    def versions(self) -> tuple[TunedVersion, ...]:
        """The versions that differ in what is fused, the default one first."""
        return tuple(versions_of(self._pipeline))

    def __call__(
        self,
        queue: pyopencl.CommandQueue,
        elements: Any,  # noqa: ANN401 (an array or a buffer)
        *,
        out: _Array | None = None,
        wait_for: Sequence[pyopencl.Event] | None = None,
        **given: Any,  # noqa: ANN401 (numbers and arrays)
    ) -> _Array:
        """Launch the kernels; it does not wait for them.

        Args:
            queue: where to launch.
            elements: the input, an array of PyOpenCL's that starts where its buffer does; or a buffer. An image
                has two dimensions, or its `width` and `height` are given.
            out: where the output goes; a new array where it is left out. Its memory is not that of `elements`.
            wait_for: events before the first launch.
            given: the actors' arguments by name.

        Returns:
            The output: an image where the actors make one, else of one dimension.

        Raises:
            InvalidInputError: an argument too many or too few, an array of another type or size, rates below 1.
        """
        call = self.prepared(elements, given)
        dtype, count = self._pipeline.dtypes[-1], call.counts[-1]
        found = pyopencl.array.empty(queue, call.shape, dtype) if out is None else out
        if _memory("out", found, dtype) == call.passed[0] and count:
            raise InvalidInputError("the output is the input's memory: the kernels need two arrays")
        if found.size != count:
            raise InvalidInputError(f"out has {found.size} elements, and {count} come out")
        if count:
            waiting = [*call.events, *found.events, *(wait_for or ())] or None
            source, *passed = call.passed
            event = self._kernel(queue.context).launch(
                queue, source, found.base_data, np.int32(call.counts[0]), *passed, wait_for=waiting
            )
            found.add_event(event)
        return found

    def prepared(self, elements: Any, given: dict[str, Any]) -> Call:  # noqa: ANN401 (an array or a buffer)
        """Return what kernels are passed.

        Args:
            elements: the input.
            given: the actors' arguments by name, and the sizes of an image where they are given.

        Raises:
            InvalidInputError: as a call does.
        """
        pipeline = self._pipeline
        source = _memory("elements", elements, pipeline.dtypes[0])
        numbers, shape = self._sizes(elements, given)
        values = self._values(given)
        whole = {name: int(each) for name, each in values.items() if isinstance(each, np.integer)}
        for each in self._channels:
            # An image without elements is none to fire for.
            each.rates({**whole, **{name: max(size, 1) for name, size in numbers.items()}})
        counts = [each.evaluate({**whole, **numbers}) for each in self._counts]
        if max(counts) > _MOST_ELEMENTS:
            raise InvalidInputError(f"a channel would have {max(counts)} elements, more than {_MOST_ELEMENTS}")
        passed = (getattr(each, "base_data", each) for each in values.values())
        return Call(
            (source, *(np.int32(numbers[name]) for name in pipeline.sizes[1:]), *passed),
            [event for each in (elements, *values.values()) for event in getattr(each, "events", ())],
            counts,
            shape if pipeline.keeps_shape else (counts[-1],),
        )

    def describe(self, path: str | Path) -> None:
        """Write the kernels, and beside them their description for `coarsen tune`.

        Args:
            path: of the description, which ends with `.toml`; that of the kernels ends with `.cl`.
        """
        # Imported late: only who tunes describes.
        from coarsen.stream.description import description_of

        description = Path(path)
        kernels = description.with_suffix(".cl")
        replace_file(self.source.encode(), kernels)
        replace_file(description_of(self._pipeline, kernels.name).encode(), description)

    def save(self, path: str | Path, device: pyopencl.Device | None = None) -> None:
        """Write the tuned file that it runs by, which programs in Python and C take.

        Args:
            path: the file.
            device: that it is for, where it isn't tuned.
        """
        if self._tuned is None and device is None:
            raise InvalidInputError("the pipeline isn't tuned: name the device that the file is for")
        (self._tuned or file_of(self._pipeline, self.source, self.versions[:1], device)).write(Path(path))

    def explain(self, **sizes: int) -> str:
        """Return rates, firings, channels and what is fused, in words.

        Args:
            sizes: values of the names in rates, where there are some.
        """
        told = (f"version {number}: {self._told(each)}" for number, each in enumerate(self.versions))
        return "\n".join((*self.rates(sizes), *told))

    def rates(self, sizes: Mapping[str, int]) -> Iterator[str]:
        """Yield lines about rates, firings and channels; arguments are those of `explain`."""
        stages, lacking = self._pipeline.stages, sorted(self._named - sizes.keys())
        fired = {} if lacking else repetitions(self._channels, sizes)
        yield f"pipeline {self._pipeline.name}: {' -> '.join(each.name for each in stages)}"
        headings = ["actor", "takes", "looks at", "puts out", "firings"]
        rows = (
            (
                each.name,
                *map(str, (each.pop, each.peek, each.push)),
                str(fired.get(each.name, "" if lacking else 1)),
            )
            for each in self._pipeline.actors
        )
        yield from aligned(headings, rows, numbers=headings[1:])
        if lacking:
            yield f"firings of a steady state depend on {', '.join(lacking)}"
        elif sum(fired.values()) <= MOST_FIRINGS:
            for each, most in buffers(self._channels, sizes).items():
                yield f"channel {each.source} -> {each.sink}: {most} elements at most in a steady state"
        yield "n elements come in"
        yield from (
            f"{text} elements after {each.name}"
            for text, each in zip(self._pipeline.counts[1:], stages, strict=True)
        )

    def _told(self, version: TunedVersion) -> str:
        macros = dict(version.variant.definitions)
        again = [name for name, values in self._pipeline.macros.items() if not values[0] and macros[name] == "1"]
        told = f"{' '.join(f'{name}={value}' for name, value in macros.items()) or 'the only one'}: "
        told += ", ".join(each.kernel for each in version.launches)
        return told + "".join(
            f"; what {name.partition('_')[2]} puts out is computed by each firing that looks at it"
            for name in again
        )

    def _kernel(self, context: pyopencl.Context) -> Any:  # noqa: ANN401 (a kernel)
        own = self._kernels.__dict__
        if context not in own:
            files = [file_of(self._pipeline, self.source, self.versions[:1], each) for each in context.devices]
            program = Program(context, self.source, tuned=self._tuned or files).build(options=[*OPTIONS])
            own[context] = getattr(program, self._pipeline.name)
        return own[context]

    def _sizes(self, elements: Any, given: dict[str, Any]) -> tuple[dict[str, int], tuple[int, ...]]:  # noqa: ANN401
        """Return the sizes that kernels are given, and the shape of the input."""
        is_array = hasattr(elements, "base_data")
        count = int(elements.size if is_array else elements.size // self._pipeline.dtypes[0].itemsize)
        shape: tuple[int, ...] = elements.shape if is_array else (count,)
        if len(self._pipeline.sizes) == 1:
            return {"n": count}, shape
        if len(shape) != 2 or {"width", "height"} & given.keys():
            shape = tuple(given.pop(name, -1) for name in ("height", "width"))
            most = shape[0] * shape[1]
            if min(shape) < 0 or most > count or (is_array and most != count):
                raise InvalidInputError(
                    f"an image of {count} elements: its width and height are not known or wrong"
                )
        return {"n": shape[0] * shape[1], "width": shape[1], "height": shape[0]}, shape

    def _values(self, given: Mapping[str, Any]) -> dict[str, Any]:
        known = self._pipeline.arguments
        if wrong := sorted(known.keys() ^ given.keys()):
            what = "is missing" if wrong[0] in known else "is none of the actors'"
            raise InvalidInputError(f"the argument {wrong[0]} {what}; there are {', '.join(known) or 'none'}")
        for name, each in known.items():
            if is_array(each):
                _memory(name, given[name], each.dtype)
        return {
            name: given[name] if is_array(each) else _number(name, given[name], each.dtype)
            for name, each in known.items()
        }


def _number(name: str, value: Any, dtype: np.dtype[Any]) -> Any:  # noqa: ANN401
    """Return a number of a type. Raises InvalidInputError where it is none."""
    try:
        found = dtype.type(value)
    except (TypeError, ValueError, OverflowError):
        found = None
    if found is None or value is None or (dtype.kind in "iu" and found != value):
        raise InvalidInputError(f"{name} is no {dtype}: {value!r:.60}")
    return found


def _memory(name: str, value: Any, dtype: np.dtype[Any]) -> Any:  # noqa: ANN401
    """Return the memory of an array. Raises InvalidInputError for another type, and for a part of a buffer."""
    if isinstance(value, pyopencl.MemoryObject):
        return value
    if not isinstance(value, _Array) or value.offset or not value.flags.c_contiguous:
        raise InvalidInputError(f"{name} is neither a buffer nor an array in C's order that starts where one does")
    if value.dtype != dtype:
        raise InvalidInputError(f"{name} is of {value.dtype}, not {dtype}")
    return value.base_data
