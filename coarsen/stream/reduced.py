"""Pipelines that end with a reduction, which computes its elements where it takes them.

    scale ─▶ blur ─▶ square ─▶ sum
      ─▶ scale, into a channel in memory ─▶ sum of square(blur(…))

A reduction looks at each element once, so what comes before it is never worth a channel in memory; it ends where
several firings look at the same elements. What is before that is a pipeline of its own; each is tuned by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyopencl
import pyopencl.array
from pyopencl.tools import dtype_to_ctype

from coarsen.dispatch.tuned_file import TunedFile
from coarsen.errors import InvalidInputError
from coarsen.stream.actor import Stage, actors_of, is_array
from coarsen.stream.kernels import fused_text, reads_once
from coarsen.stream.reduce import Reduce
from coarsen.stream.stream import Stream


class ReducedStream:
    """A pipeline whose last stage is a reduction.

    Args:
        stages: actors and split-joins, one after the other.
        end: of the elements of one array.
        name: as of `Stream`, where there are kernels before the reduction.
        tuned: as of `Stream`, likewise.

    Attributes:
        front: the pipeline of the stages before those that the reduction computes; None where it computes all.
        reduction: of what `front` puts out, which has its own versions, and is tuned by itself.

    Raises:
        InvalidInputError: the reduction has a map or several arrays; else as of `Stream`.
    """

    def __init__(
        self,
        stages: Sequence[Stage],
        end: Reduce,
        *,
        name: str | None = None,
        tuned: str | Path | TunedFile | None = None,
    ) -> None:
        operation = end._operation
        own = operation.arguments[0].name
        if len(operation.arguments) > 1 or operation.map not in (f"{own}[i]", f"{own}[row][i]"):
            raise InvalidInputError("a reduction in a pipeline is of one array: put its map before it, as a Map")
        first = len(stages)
        while first and all(each.puts_one for each in actors_of(stages[first - 1])):
            first -= 1
            if first and not reads_once(stages[first]):
                break
        self.front = Stream(stages[:first], name=name, tuned=tuned) if first else None
        self._fused = Stream(stages[first:]) if first < len(stages) else None
        self.reduction = end if self._fused is None else _fused(end, self._fused)

    def __call__(
        self,
        queue: pyopencl.CommandQueue,
        elements: Any,  # noqa: ANN401 (an array or a buffer)
        *,
        out: pyopencl.array.Array | None = None,
        wait_for: Sequence[pyopencl.Event] | None = None,
        **given: Any,  # noqa: ANN401 (numbers and arrays)
    ) -> pyopencl.array.Array:
        """Launch the kernels; it does not wait for them.

        Args:
            queue: where to launch.
            elements: as of `Stream`.
            out: where the result goes; a new array where it is left out.
            wait_for: events before the first launch.
            given: the actors' arguments by name, and the number of rows by that which the reduction has for it.

        Returns:
            The result of the reduction.

        Raises:
            InvalidInputError: as of `Stream` and `Reduce`.
        """
        length, *rows = self.reduction._operation.sizes
        sizes = {name: given.pop(name) for name in rows if name in given}
        names = [] if self._fused is None else [*self._fused.arguments]
        fused = {name: given[name] for name in names if name in given}
        if self.front is not None:
            own = {name: given[name] for name in given if name in self.front.arguments or name not in names}
            elements = self.front(queue, elements, wait_for=wait_for, **own)
        else:
            fused = given
        passed: tuple[Any, ...] = (elements,)
        if self._fused is not None:
            call = self._fused.prepared(elements, fused)
            passed = (elements, *call.passed[1:])
            wait_for = [*(wait_for or ()), *call.events]
            lines = 1
            for name in rows:
                lines = sizes.setdefault(name, call.shape[0] if len(call.shape) > 1 else 1)
            sizes[length] = call.counts[-1] // max(lines, 1)
            if sizes[length] * lines != call.counts[-1]:
                raise InvalidInputError(f"{call.counts[-1]} elements are not {lines} rows of equal length")
        return self.reduction(queue, *passed, out=out, wait_for=wait_for, **sizes)

    def explain(self, **sizes: int) -> str:
        """Return rates, firings, channels and what is fused, in words; as of `Stream`."""
        told = [] if self.front is None else [self.front.explain(**sizes)]
        if self._fused is not None:
            told += [*self._fused.rates(sizes), "these are computed where the reduction takes their elements"]
        return "\n".join(told)


def _fused(end: Reduce, stream: Stream) -> Reduce:
    """Return a reduction that computes its elements by the actors of a pipeline."""
    operation, pipeline = end._operation, stream._pipeline
    place = f"(int)(row * {operation.length} + i)" if operation.rows else "(int)i"
    text, call = fused_text(pipeline, place)
    given = [f"const {pipeline.stages[0].type} *input", *(f"int {name}" for name in pipeline.sizes[1:])]
    for name, each in pipeline.arguments.items():
        type_ = dtype_to_ctype(each.dtype)
        given.append(f"const {type_} *{name}" if is_array(each) else f"{type_} {name}")
    return end.of(call, ", ".join(given), text)


def pipeline(
    *stages: Stage | Reduce, name: str | None = None, tuned: str | Path | TunedFile | None = None
) -> Stream | ReducedStream:
    """Return actors and split-joins, one after the other, as something to call.

    Args:
        stages: the last one may be a reduction of one array.
        name: as of `Stream`.
        tuned: as of `Stream`.
    """
    *actors, last = stages or (None,)
    if isinstance(last, Reduce):
        return ReducedStream(actors, last, name=name, tuned=tuned)
    return Stream(stages, name=name, tuned=tuned)
