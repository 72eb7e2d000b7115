"""Pipelines that are called with arrays: the versions of their kernels, launched as a tuned file says.

    step = pipeline(Map("gain", "k * u", arguments="float k"), Stencil("blur", "…", border="edge"))
    blurred = step(queue, image, k=2.0)

Which actors are one kernel is a choice of macros. A pipeline that isn't tuned has the tuned file of one version.
A reduction at the end looks at each element once, so what comes before it is never worth a channel in memory:

    scale ─▶ blur ─▶ square ─▶ sum      ─▶ scale, into a channel in memory ─▶ sum of square(blur(…))
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyopencl
import pyopencl.array
from pyopencl.tools import VectorArg, dtype_to_ctype

from coarsen.base.files import replace_file
from coarsen.base.names import is_opencl_function, is_opencl_word
from coarsen.dispatch.expressions import parse_expression
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import MOST_LAUNCHES, TunedVersion
from coarsen.drop_in.mode import TuneChoice, versions_mode
from coarsen.drop_in.program import Program
from coarsen.errors import DeviceError, InvalidInputError, aligned
from coarsen.frontend.source_text import hash_with_headers
from coarsen.runtime.launches import keep
from coarsen.stream.actor import Map, Stage, actors_of, check_name, check_neighbours, is_array
from coarsen.stream.calls import Built, Calls, check_array, is_buffer, number, overlap, sorted_call
from coarsen.stream.check_rates import check_rates
from coarsen.stream.graph import MOST_FIRINGS, Channel, buffers, channels_of, repetitions
from coarsen.stream.kernels import fused_text, opencl_text
from coarsen.stream.reduce import Reduce
from coarsen.stream.reduction_text import OPTIONS
from coarsen.stream.stages import Pipeline, reads_once
from coarsen.stream.versions import description_of, file_of, versions_of

if TYPE_CHECKING:
    from coarsen.runtime.advice import Policy

# Sizes are `int`s, and so are the places of an image's elements, of whole work-groups too.
_MOST_ELEMENTS = 2**30
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
        stages: actors and split-joins, one after the other; the last one may be a reduction of one array.
        name: of its last kernel, as in C; those of the stages where it is left out.
        tuned: a tuned file of it, or its path; without one, neighbours are fused where each branch looks at
            each element once.
        tune: as of `Reduce`: what is fused is searched at the first call of a class of sizes; of a reduction at
            the end, its versions too.

    Attributes:
        front: with a reduction, the pipeline before the stages that it computes; None where it computes all.
        reduction: that of the last stages; None without one. It has versions of its own, and is tuned by itself.

    Raises:
        InvalidInputError: neighbours that don't go together, a work that doesn't compile, a tuned file of another
            pipeline, a reduction with a map or with several arrays.
        RefusalError: `stream-rates`, for rates that aren't those of the work, or never balance; where they depend
            on arguments, balance isn't tried, and what one branch has too many of is left.
    """

    def __init__(
        self,
        stages: Sequence[Stage | Reduce],
        *,
        name: str | None = None,
        tuned: str | Path | TunedFile | None = None,
        tune: TuneChoice = None,
    ) -> None:
        self._mode = versions_mode(tune)
        if name is not None:
            check_name(name, "a pipeline")
        self.front: Stream | None = None
        self.reduction: Reduce | None = None
        end = stages[-1] if stages and isinstance(stages[-1], Reduce) else None
        actors = [each for each in stages if not isinstance(each, Reduce)]
        if end is not None:
            first, taken = _first_reduced(actors), dtype_to_ctype(end.argument.dtype)
            check_neighbours([*actors, Map("reduction", "u", type=taken)])
            self.front = Stream(actors[:first], name=name, tuned=tuned, tune=tune) if first else None
            name, tuned = None, None
            actors = actors[first:] or [Map("element", "u", type=taken)]
        name = name or "_".join(each.name for each in actors)[:_LONGEST_NAME]
        # A word alone may be a builtin function.
        self._pipeline = Pipeline(name if "_" in name else f"{name}_stream", tuple(actors))
        check_rates(self._pipeline.actors)
        self._channels = channels_of(self._pipeline.stages)
        self._named = {name for each in self._channels for name in each.names}
        if not self._named:
            repetitions(self._channels)
        own = ((each.name, each.push, each.pop, each.peek) for each in self._pipeline.actors)
        rated = (*self._channels, *(Channel("the one before", *each) for each in own))
        for each in rated:
            if not each.names:
                each.rates({})
        # A call looks at those that it may change; the size of an image is at least 1.
        self._rated = tuple(each for each in rated if each.names - {"width", "height"})
        self._counts = tuple(map(parse_expression, self._pipeline.counts))
        self._is_by_shape = all(each.names <= {*self._pipeline.sizes} for each in self._rated)
        self._built = Built()
        # By the kind of a call, what a reduction at the end is passed: sizes of an image, and its own.
        self._reduced_sizes: dict[Hashable, tuple[tuple[Any, ...], dict[str, int]]] = {}
        self._tuned = TunedFile.read(Path(tuned)) if isinstance(tuned, str | Path) else tuned
        kernels = map(self._pipeline.kernel, range(len(actors)))
        if end is not None:
            self.reduction = _fused(end, self._pipeline, tune)
            is_whole = self.front is None and len(end.sizes) == len(self._pipeline.sizes) == 1
            self._is_plain = is_whole and self._pipeline.keeps_shape
        elif wrong := [each for each in kernels if is_opencl_word(each) or is_opencl_function(each)]:
            raise InvalidInputError(f"a kernel can't be called {wrong[0]}: give the pipeline another name")
        elif (many := len(next(versions_of(self._pipeline)).launches)) > MOST_LAUNCHES:
            raise InvalidInputError(f"a pipeline of {many} kernels is too long: {MOST_LAUNCHES} are possible")
        elif self._tuned is not None and self._tuned.source_hash != hash_with_headers(self.source, OPTIONS):
            raise InvalidInputError(f"the tuned file of {self._tuned.kernel} is of another pipeline")

    @cached_property
    def source(self) -> str:
        """The kernels in OpenCL C, as they are before anything is coarsened; of a reduction those of its own."""
        return opencl_text(self._pipeline) if self.reduction is None else self.reduction.source

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of what a call takes besides its input."""
        return (*self._pipeline.sizes[1:], *self._pipeline.arguments)

    @cached_property
    def versions(self) -> tuple[TunedVersion, ...]:
        """The versions, the default one first: their macros differ."""
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
            out: where the output goes; a new array where it is left out. Its memory is not that of `elements`,
                unless all stages are maps: then it may be `elements` itself.
            wait_for: events before the first launch.
            given: the actors' arguments by name.

        Returns:
            The output: an image where the actors make one, else of one dimension.

        Raises:
            InvalidInputError: an argument too many or too few, an array of another type or size, rates below 1.
        """
        if self.reduction is not None:
            return self._reduced(self.reduction, queue, elements, out, wait_for, given)
        pipeline, context = self._pipeline, queue.context
        calls = self._built.known.get((context, queue.device))
        is_whole = given.keys() == pipeline.arguments.keys()
        values = (elements, *map(given.__getitem__, pipeline.arguments)) if is_whole else ()
        if calls is not None and is_whole:
            again = calls.again(queue, context, values, out, wait_for or (), may_be_in_place=pipeline.is_map)
            if again is not None:
                return again
        if out is not None:
            _memory_of_array("out", out, pipeline.dtypes[-1])
        call = self._prepared(elements, given)
        count, calls = call.counts[-1], calls or self._built.of(queue, self._built_for)
        found = calls.new(queue, context, call.shape, (elements,)) if out is None else out
        is_in_place = pipeline.is_map and found.base_data == call.passed[0]
        read = (each for each in call.passed[is_in_place:] if hasattr(each, "int_ptr"))
        if out is not None and count and any(overlap(out, each) for each in read):
            raise InvalidInputError("the output is the memory of something that is read: it needs its own")
        if found.size != count:
            raise InvalidInputError(f"out has {found.size} elements, and {count} come out")
        if count:
            waiting = [*call.events, *found.events, *(wait_for or ())] or None
            source, *passed = call.passed
            sizes = (np.int32(call.counts[0]), *passed[: len(pipeline.sizes) - 1])
            others = passed[len(sizes) - 1 :]
            event = calls.kernel.launch(queue, source, found.base_data, *sizes, *others, wait_for=waiting)
            # It comes after all those that the array had: `add_event` would have the host wait for some of them.
            found.events[:] = [event]
            if is_whole and self._is_by_shape:
                calls.keep(values, out, sizes, call.shape)
        return found

    def _reduced(
        self,
        reduction: Reduce,
        queue: pyopencl.CommandQueue,
        elements: Any,  # noqa: ANN401
        out: _Array | None,
        wait_for: Sequence[pyopencl.Event] | None,
        given: dict[str, Any],
    ) -> _Array:
        """Launch what is before the reduction, and then this."""
        pipeline, (length, *rows) = self._pipeline, reduction.sizes
        names, is_whole = pipeline.arguments, type(elements) is _Array and not elements.offset
        if self._is_plain and is_whole and elements.size <= _MOST_ELEMENTS and given.keys() == names.keys():
            # Maps of a whole array: the reduction looks at what it is given.
            return reduction(queue, elements, *map(given.__getitem__, names), out=out, wait_for=wait_for)
        sizes = {name: int(number(name, given.pop(name), np.dtype(np.int64))) for name in rows if name in given}
        if self.front is not None:
            own = {name: each for name, each in given.items() if name in self.arguments}
            others = given.keys() - (own.keys() - {*self.front.arguments})
            if (allocator := getattr(elements, "allocator", None)) is not None:
                # The channel is dropped while kernels use it: OpenCL keeps a buffer, a pool gives its memory away.
                place = {name: getattr(elements, name) for name in ("offset", "strides", "events")}
                elements = _Array(queue, elements.shape, elements.dtype, data=elements.base_data, **place)
            elements = self.front(queue, elements, wait_for=wait_for, **{name: given[name] for name in others})
            elements.allocator = allocator
            given = own
        is_known = self._is_by_shape and given.keys() == pipeline.arguments.keys()
        values = [given[name] for name in pipeline.arguments if name in given]
        kind, *_ = sorted_call([elements, *values], None, tuple(sizes.items()))
        known = self._reduced_sizes.get(kind) if is_known else None
        if known is None:
            call = self._prepared(elements, given)
            # Arrays themselves: one without elements has no memory.
            values = [*self._values(given).values()]
            lines = 1
            for name in rows:
                lines = sizes.setdefault(name, call.shape[0] if len(call.shape) > 1 else 1)
            sizes[length] = call.counts[-1] // max(lines, 1)
            if sizes[length] * lines != call.counts[-1]:
                raise InvalidInputError(f"{call.counts[-1]} elements are not {lines} rows of equal length")
            known = call.passed[1 : len(pipeline.sizes)], sizes
            arrays = (given[name] for name, each in pipeline.arguments.items() if is_array(each))
            if is_known and all(type(each) is _Array for each in (elements, *arrays)):
                keep(self._reduced_sizes, kind, known)
        passed, sizes = known
        return reduction(queue, elements, *passed, *values, out=out, wait_for=wait_for, **sizes)

    def _prepared(self, elements: Any, given: dict[str, Any]) -> Call:  # noqa: ANN401
        """Return what kernels are passed. Raises InvalidInputError, as a call does."""
        pipeline = self._pipeline
        source = _memory("elements", elements, pipeline.dtypes[0])
        numbers, shape = self._sizes(elements, given)
        values = self._values(given)
        whole = {name: int(each) for name, each in values.items() if isinstance(each, np.integer)}
        for each in self._rated:
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

    def describe(self, path: str | Path, **given: tuple[int, int] | float | str) -> None:
        """Write the kernels, and beside them their description for `coarsen tune`.

        Args:
            path: of the description, which ends with `.toml`; that of the kernels ends with `.cl`.
            given: what it is tuned for, by name: the least and the largest `n`, or `width` and `height`, and
                arguments in rates; values of other numbers; how many elements arrays have, an expression of sizes.
                Left out, these are 256 to 4194304, 16 to 2048, 2 to 64; 1; and as many as the input's, or as
                an actor looks at.

        Raises:
            InvalidInputError: a name that the pipeline doesn't have, or what is no size; it ends with a reduction.
        """
        self._check_whole("described")
        kernels = Path(path).with_suffix(".cl")
        text = "\n".join((*description_of(self._pipeline, kernels.name, given), ""))
        replace_file(self.source.encode(), kernels)
        replace_file(text.encode(), Path(path))

    def save(self, path: str | Path, device: pyopencl.Device | None = None) -> None:
        """Write the tuned file that it runs by, which programs in Python and C take.

        Args:
            path: the file.
            device: that it is for, where it isn't tuned.
        """
        self._check_whole("saved")
        if self._tuned is not None:
            self._tuned.write(Path(path))
        elif device is not None:
            file_of(self._pipeline, self.source, [next(versions_of(self._pipeline))], device).write(Path(path))
        else:
            raise InvalidInputError("the pipeline isn't tuned: name the device that the file is for")

    def _check_whole(self, how: str) -> None:
        if self.reduction is not None:
            raise InvalidInputError(f"a pipeline with a reduction is {how} by its parts, `front` and `reduction`")

    def explain(self, **sizes: int) -> str:
        """Return rates, firings, channels and versions, in words.

        Args:
            sizes: values of the names in rates, where there are some.
        """
        told = [] if self.front is None else [self.front.explain(**sizes)]
        told += self._rates(sizes)
        if self.reduction is None:
            told += (f"version {number}: {self._told(each)}" for number, each in enumerate(self.versions))
        else:
            told.append("these are computed where the reduction takes their elements")
        return "\n".join(told)

    def _rates(self, sizes: Mapping[str, int]) -> Iterator[str]:
        stages, actors, lacking = self._pipeline.stages, self._pipeline.actors, sorted(self._named - {*sizes})
        fired = {} if lacking else repetitions(self._channels, sizes)
        yield f"pipeline {self._pipeline.name}: {' -> '.join(each.name for each in stages)}"
        headings = ["actor", "takes", "looks at", "puts out", "firings"]
        usual = "" if lacking else 1
        told = ((each.name, each.pop, each.peek, each.push, fired.get(each.name, usual)) for each in actors)
        yield from aligned(headings, ([*map(str, row)] for row in told), numbers=headings[1:])
        if lacking:
            yield f"firings of a steady state depend on {', '.join(lacking)}"
        elif sum(fired.values()) <= MOST_FIRINGS:
            for each, most in buffers(self._channels, sizes).items():
                yield f"channel {each.source} -> {each.sink}: {most} elements at most in a steady state"
        yield "n elements come in"
        for text, stage in zip(self._pipeline.counts[1:], stages, strict=True):
            yield f"{text} elements after {stage.name}"

    def _told(self, version: TunedVersion) -> str:
        macros = dict(version.variant.definitions)
        again = [name for name, values in self._pipeline.fusions.items() if not values[0] and macros[name] == "1"]
        told = f"{' '.join(f'{name}={value}' for name, value in macros.items()) or 'the only one'}: "
        told += ", ".join(each.kernel for each in version.launches)
        words = "puts out is computed by each firing that looks at it"
        told += "".join(f"; what {name.partition('_')[2]} {words}" for name in again)
        stages = self._pipeline.stages
        for channel, each in self._pipeline.layouts.items():
            if macros[f"LAYOUT_{stages[channel - 1].name}"] == "1":
                where = f"between {stages[channel - 1].name} and {stages[channel].name}"
                told += f"; the channel {where} is transposed, as {each} rows"
        return told

    def _built_for(self, queue: pyopencl.CommandQueue) -> Calls:
        """Build the program for a queue's device, and return its kernel."""
        pipeline, device = self._pipeline, queue.device
        versions = [next(versions_of(pipeline))] if self._mode is None else self.versions
        file = self._tuned or file_of(pipeline, self.source, versions, device)
        picker: TuneChoice | Policy = None
        if self._mode is not None:
            # Imported late: most programs ask for no search.
            from coarsen.drop_in.versions import FoundVersions

            picker = FoundVersions(file, self._mode)
        dtypes = [*pipeline.dtypes, *(each.dtype for each in pipeline.arguments.values())]
        if np.dtype(np.float64) in dtypes and not device.double_fp_config:
            raise DeviceError("the device has no numbers of the type double")
        program = Program(queue.context, self.source, tune=picker, tuned=file).build([*OPTIONS], [device])
        arguments = (VectorArg(pipeline.dtypes[0], "elements"), *pipeline.arguments.values())
        name, dtype = pipeline.name, pipeline.dtypes[-1]
        return Calls(program, name, arguments, pipeline.sizes, dtype, file, is_stream=True)

    def _sizes(self, elements: Any, given: dict[str, Any]) -> tuple[dict[str, int], tuple[int, ...]]:  # noqa: ANN401
        """Return the sizes that kernels are given, and the shape of the input."""
        is_array = hasattr(elements, "base_data")
        count = int(elements.size if is_array else elements.size // self._pipeline.dtypes[0].itemsize)
        shape: tuple[int, ...] = elements.shape if is_array else (count,)
        if len(self._pipeline.sizes) == 1:
            return {"n": count}, shape
        if len(shape) != 2 or {"width", "height"} & given.keys():
            kind = np.dtype(np.int32)
            shape = tuple(int(number(name, given.pop(name, -1), kind)) for name in ("height", "width"))
            most = shape[0] * shape[1]
            if min(shape) < 0 or most > count or (is_array and most != count):
                raise InvalidInputError(f"of {count} elements the image's width and height aren't known")
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
            name: given[name] if is_array(each) else number(name, given[name], each.dtype)
            for name, each in known.items()
        }


def _memory(name: str, value: Any, dtype: np.dtype[Any]) -> Any:  # noqa: ANN401
    """Return the memory of an array, or a buffer. Raises InvalidInputError as `_memory_of_array`."""
    return value if is_buffer(value) else _memory_of_array(name, value, dtype)


def _memory_of_array(name: str, value: Any, dtype: np.dtype[Any]) -> Any:  # noqa: ANN401
    """Return the memory of an array. Raises InvalidInputError for another type, and for a part of a buffer."""
    check_array(value, dtype, name)
    if value.offset:
        raise InvalidInputError(f"{name} doesn't start where its buffer does: pass an array that does")
    return value.base_data


def _first_reduced(stages: Sequence[Stage]) -> int:
    """Return the number of the first stage that a reduction behind them computes."""
    first = len(stages)
    while first and all(each.puts_one for each in actors_of(stages[first - 1])):
        first -= 1
        if not reads_once(stages[first]):
            break
    return first


def _fused(end: Reduce, pipeline: Pipeline, tune: TuneChoice) -> Reduce:
    """Return a reduction that computes its elements by the actors of a pipeline."""
    length, *rows = end.sizes
    text, call = fused_text(pipeline, f"row * {length} + i" if rows else "i")
    given = [f"const {pipeline.stages[0].type} *input", *(f"int {name}" for name in pipeline.sizes[1:])]
    for name, each in pipeline.arguments.items():
        type_ = dtype_to_ctype(each.dtype)
        given.append(f"const {type_} *{name}" if is_array(each) else f"{type_} {name}")
    return end.of(call, ", ".join(given), text, tune)


def pipeline(
    *stages: Stage | Reduce,
    name: str | None = None,
    tuned: str | Path | TunedFile | None = None,
    tune: TuneChoice = None,
) -> Stream:
    """Return actors and split-joins, one after the other, as something to call; as `Stream`."""
    return Stream(stages, name=name, tuned=tuned, tune=tune)
