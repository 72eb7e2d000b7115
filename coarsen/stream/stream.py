"""Pipelines that are called with arrays: the versions of their kernels, launched as a tuned file says.

    step = pipeline(Map("gain", "k * u", arguments="float k"), Stencil("blur", "…", border="edge"))
    blurred = step(queue, image, k=2.0)
    step.describe("step.toml")                     coarsen tune step.toml ─▶ step.tuned.json
    step = pipeline(…, tuned="step.tuned.json")

Which actors are one kernel is a choice of macros. A pipeline that isn't tuned has the tuned file of one version.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl
import pyopencl.array

from coarsen.base.version import __version__
from coarsen.dispatch.expressions import parse_condition, parse_expression
from coarsen.dispatch.features import ArgumentKind, Feature, KernelArgument
from coarsen.dispatch.tree import Leaf
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedLaunch, TunedVersion
from coarsen.drop_in.program import Program
from coarsen.errors import InvalidInputError, aligned
from coarsen.frontend.source_text import hash_with_headers
from coarsen.stream.actor import HIDDEN, Stage, arguments_of, is_array
from coarsen.stream.check_rates import check_rates
from coarsen.stream.graph import MOST_FIRINGS, buffers, channels_of, repetitions
from coarsen.stream.kernels import Pipeline, StreamLaunch, opencl_text
from coarsen.variant.variant import Variant

OPTIONS = ("-cl-std=CL1.2",)
_LOCAL_SIZES = {1: ("64",), 2: ("16", "4")}
_MOST_ELEMENTS = 2**31 - 1
_LONGEST_NAME = 60
_Array = pyopencl.array.Array


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
        self._pipeline = Pipeline(name or "_".join(each.name for each in stages)[:_LONGEST_NAME], tuple(stages))
        check_rates(self._pipeline.actors)
        self._channels = channels_of(self._pipeline.stages)
        if not any(isinstance(rate, str) for each in self._channels for rate in (each.push, each.pop, each.peek)):
            repetitions(self._channels)
        self._arguments = arguments_of(self._pipeline.stages)
        self._counts = tuple(map(parse_expression, self._pipeline.counts))
        self._kernels: dict[pyopencl.Context, Any] = {}
        self._tuned = TunedFile.read(Path(tuned)) if isinstance(tuned, str | Path) else tuned
        if self._tuned is not None and self._tuned.source_hash != hash_with_headers(self.source, OPTIONS):
            raise InvalidInputError(
                f"the tuned file of {self._tuned.kernel} is of another pipeline: tune it again"
            )

    @cached_property
    def source(self) -> str:
        """The kernels in OpenCL C, as they are before anything is coarsened."""
        return opencl_text(self._pipeline)

    @cached_property
    def versions(self) -> tuple[TunedVersion, ...]:
        """The versions that differ in what is fused, the default one first."""
        conditions = [parse_condition(text) for text in self._pipeline.conditions]
        names = [*self._pipeline.macros]
        every = (dict(zip(names, each, strict=True)) for each in product(*self._pipeline.macros.values()))
        return tuple(self._version(each) for each in every if all(one.holds(each) for one in conditions))

    def tuned_file(self, device: pyopencl.Device, version: int = 0) -> TunedFile:
        """Return a tuned file that always takes one version.

        Args:
            device: that it is for.
            version: which of `versions`.
        """
        versions = self.versions[:1] if version == 0 else (self.versions[0], self.versions[version])
        return TunedFile(
            kernel=self._pipeline.name,
            arguments=tuple(self._kernel_arguments()),
            source_hash=hash_with_headers(self.source, OPTIONS),
            device=device.name.strip(),
            driver=device.driver_version.strip(),
            build_options=OPTIONS,
            coarsen_version=__version__,
            features=tuple(Feature(each, each) for each in self._pipeline.sizes),
            versions=versions,
            default=0,
            tree=Leaf(len(versions) - 1),
        )

    def __call__(
        self,
        queue: pyopencl.CommandQueue,
        elements: _Array | pyopencl.Buffer,
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
        numbers, shape = self._sizes(elements, given)
        values = self._values(given, numbers)
        rates = {**numbers, **{name: int(each) for name, each in values.items() if isinstance(each, np.integer)}}
        for each in self._channels:
            # An image without elements is none to fire for.
            each.rates({**rates, **{name: max(size, 1) for name, size in numbers.items()}})
        counts = [each.evaluate(rates) for each in self._counts]
        if max(counts) > _MOST_ELEMENTS:
            raise InvalidInputError(f"a channel would have {max(counts)} elements, more than {_MOST_ELEMENTS}")
        last = self._pipeline.stages[-1]
        is_image = self._pipeline.is_image.get(last.name, False)
        found = self._output(queue, out, (shape if is_image else None) or (counts[-1],))
        if not counts[-1]:
            return found
        source = self._memory("elements", elements, self._pipeline.actors[0].dtype)
        if source == found.base_data:
            raise InvalidInputError("the output is the input's memory: the kernels need two arrays")
        passed = [
            self._memory(name, each, None) if hasattr(each, "base_data") else each for name, each in values.items()
        ]
        events = [
            event for each in (elements, found, *values.values()) for event in getattr(each, "events", None) or ()
        ]
        event = self._kernel(queue.context).launch(
            queue,
            source,
            found.base_data,
            *map(np.int32, numbers.values()),
            *passed,
            wait_for=[*events, *(wait_for or ())],
        )
        found.add_event(event)
        return found

    def save(self, path: str | Path, device: pyopencl.Device | None = None) -> None:
        """Write the tuned file that it runs by, which programs in Python and C take.

        Args:
            path: the file.
            device: that it is for, where it isn't tuned.
        """
        if self._tuned is None and device is None:
            raise InvalidInputError("the pipeline isn't tuned: name the device that the file is for")
        file = self._tuned or (None if device is None else self.tuned_file(device))
        assert file is not None
        file.write(Path(path))

    def explain(self, **sizes: int) -> str:
        """Return rates, firings, channels and what is fused, in words.

        Args:
            sizes: values of the names in rates, where there are some.
        """
        return "\n".join(self._explained(sizes))

    def _explained(self, sizes: Mapping[str, int]) -> Iterator[str]:
        rates = [rate for each in self._channels for rate in (each.push, each.pop, each.peek or each.pop)]
        lacking = sorted({name for rate in rates for name in parse_expression(rate).names} - sizes.keys())
        fired = {} if lacking else repetitions(self._channels, sizes)
        rows = [
            (each.name, *map(str, (each.pop, each.peek, each.push)), str(fired.get(each.name, "")))
            for each in self._pipeline.actors
        ]
        yield f"pipeline {self._pipeline.name}: {' -> '.join(each.name for each in self._pipeline.stages)}"
        headings = ["actor", "takes", "looks at", "puts out", "firings"]
        yield from aligned(headings, rows, numbers=headings[1:])
        if lacking:
            yield f"firings of a steady state depend on {', '.join(lacking)}"
        elif sum(fired.values()) <= MOST_FIRINGS:
            for each, most in buffers(self._channels, sizes).items():
                yield f"channel {each.source} -> {each.sink}: {most} elements at most in a steady state"
        for number, text in enumerate(self._pipeline.counts):
            yield f"{text} elements " + (
                "come in" if not number else f"after {self._pipeline.stages[number - 1].name}"
            )
        yield from (f"version {number}: {self._told(each)}" for number, each in enumerate(self.versions))

    def _told(self, version: TunedVersion) -> str:
        macros = " ".join(f"{name}={value}" for name, value in version.variant.definitions)
        names = ", ".join(each.kernel for each in version.launches)
        several = {each for each, values in self._pipeline.macros.items() if values[0] == 0}
        again = [name for name, value in version.variant.definitions if value == "1" and name in several]
        told = f"{macros or 'no choice'}: {len(version.launches)} launches of {names}"
        return told + "".join(
            f"; what {name.partition('_')[2]} puts out is computed by each firing that looks at it"
            for name in again
        )

    def _version(self, macros: Mapping[str, int]) -> TunedVersion:
        chosen = [each for each in self._pipeline.launches if each.when.items() <= macros.items()]
        dimensions = len(chosen[-1].kernel.global_size)
        channels = sorted({each.target for each in chosen} - {len(self._pipeline.stages)})
        sizes = {each: self._item_bytes(each) for each in channels}
        return TunedVersion(
            Variant(
                tuple(map(int, _LOCAL_SIZES[dimensions])),
                definitions=tuple((name, str(value)) for name, value in macros.items()),
            ),
            tuple(self._tuned_launch(each, dimensions) for each in chosen),
            tuple(
                (_channel(each), f"max({self._pipeline.counts[each]}, 1) * {size}") for each, size in sizes.items()
            ),
        )

    def _item_bytes(self, channel: int) -> int:
        stage = self._pipeline.stages[channel - 1]
        return next(each for each in self._pipeline.actors if each.result == stage.result).result_dtype.itemsize

    def _tuned_launch(self, launch: StreamLaunch, dimensions: int) -> TunedLaunch:
        own = len(launch.kernel.global_size)
        is_other = own != dimensions
        local = _LOCAL_SIZES[own] if is_other else tuple(f"local_size_{each}" for each in range(own))
        source = "input" if launch.source == 0 else _channel(launch.source)
        target = "output" if launch.target == len(self._pipeline.stages) else _channel(launch.target)
        return TunedLaunch(
            launch.kernel.name,
            tuple(
                f"(max({count}, 1) + {each} - 1) // {each} * {each}"
                for count, each in zip(launch.kernel.global_size, local, strict=True)
            ),
            local if is_other else (),
            (),
            (source, target, *self._pipeline.sizes, *self._arguments),
        )

    def _kernel_arguments(self) -> Iterator[KernelArgument]:
        for name in ("input", "output"):
            yield KernelArgument(name, ArgumentKind.BUFFER)
        for name in self._pipeline.sizes:
            yield KernelArgument(name, ArgumentKind.WHOLE)
        for name, each in self._arguments.items():
            kind = ArgumentKind.WHOLE if each.dtype.kind in "iu" else ArgumentKind.REAL
            yield KernelArgument(name, ArgumentKind.BUFFER if is_array(each) else kind)

    def _kernel(self, context: pyopencl.Context) -> Any:  # noqa: ANN401 (a kernel)
        if context not in self._kernels:
            tuned = self._tuned or [self.tuned_file(device) for device in context.devices]
            program = Program(context, self.source, tuned=tuned).build(options=[*OPTIONS])
            self._kernels[context] = getattr(program, self._pipeline.name)
        return self._kernels[context]

    def _sizes(self, elements: Any, given: dict[str, Any]) -> tuple[dict[str, int], tuple[int, ...] | None]:  # noqa: ANN401
        """Return the sizes that kernels are given, and the shape of the input where it is known."""
        dtype = self._pipeline.actors[0].dtype
        is_known = hasattr(elements, "base_data")
        count = elements.size if is_known else elements.size // dtype.itemsize
        shape = elements.shape if is_known else None
        if not len(self._pipeline.sizes) > 1:
            return {"n": int(count)}, shape
        if shape is not None and len(shape) == 2 and not {"width", "height"} & given.keys():
            height, width = shape
        else:
            width, height = (given.pop(name, None) for name in ("width", "height"))
            if width is None or height is None or width * height > count or (shape and width * height != count):
                raise InvalidInputError(f"an image has width and height, of {count} elements: {width} x {height}")
            shape = height, width
        return {"n": int(width * height), "width": int(width), "height": int(height)}, shape

    def _values(self, given: Mapping[str, Any], numbers: Mapping[str, int]) -> dict[str, Any]:
        if wrong := sorted(self._arguments.keys() ^ given.keys()):
            what = "is missing" if wrong[0] in self._arguments else "is none of the actors'"
            names = ", ".join(self._arguments) or "none"
            raise InvalidInputError(f"the argument {wrong[0]} {what}; there are {names}")
        found: dict[str, Any] = {}
        for name, each in self._arguments.items():
            value = given[name]
            if is_array(each):
                self._memory(name, value, each.dtype)
                found[name] = value
                continue
            try:
                found[name] = each.dtype.type(value)
            except (TypeError, ValueError, OverflowError):
                raise InvalidInputError(f"{name} is no {each.dtype}: {value!r}") from None
            if value is None or (each.dtype.kind in "iu" and found[name] != value):
                raise InvalidInputError(f"{name} is no {each.dtype}: {value!r}")
        return found

    @staticmethod
    def _memory(name: str, value: Any, dtype: np.dtype[Any] | None) -> Any:  # noqa: ANN401
        """Return the memory of an array. Raises InvalidInputError for another type, and for parts of buffers."""
        if isinstance(value, pyopencl.MemoryObject):
            return value
        if not hasattr(value, "base_data") or value.offset or not value.flags.c_contiguous:
            raise InvalidInputError(
                f"{name} is neither a buffer nor an array in C's order that starts where one does"
            )
        if dtype is not None and value.dtype != dtype:
            raise InvalidInputError(f"{name} is of {value.dtype}, not {dtype}")
        return value.base_data

    def _output(self, queue: pyopencl.CommandQueue, out: _Array | None, shape: tuple[int, ...]) -> _Array:
        last = self._pipeline.stages[-1]
        dtype = next(each.result_dtype for each in reversed(self._pipeline.actors) if each.result == last.result)
        if out is None:
            return pyopencl.array.empty(queue, shape, dtype)
        self._memory("out", out, dtype)
        if out.size != np.prod(shape):
            raise InvalidInputError(f"out has {out.size} elements, and {shape} come out")
        return out


def _channel(number: int) -> str:
    return f"{HIDDEN}{number}"


def pipeline(*stages: Stage, name: str | None = None, tuned: str | Path | TunedFile | None = None) -> Stream:
    """Return actors and split-joins, one after the other, as something to call; as `Stream`."""
    return Stream(stages, name=name, tuned=tuned)
