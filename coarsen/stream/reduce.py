"""A reduction as one call that is right at every size: sums, dot products, norms of rows, the index of a maximum.

    dot = Reduce("a + b", identity="0", map="x[i] * y[i]", arguments="const float *x, const float *y")
    total = dot(queue, x, y)                    # an array with one element, as `pyopencl.reduction` gives it

call ─▶ kernels for the device, built at its first call (`reduction_text.py`)
     ─▶ a tuned file chooses a version by the sizes: one that was given, else `reduction_choice.py`'s
     ─▶ a launch, or two with scratch between them, which no other launch has meanwhile
"""

from __future__ import annotations

import logging
import re
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypedDict, Unpack

import numpy as np
import pyopencl
import pyopencl.array
from pyopencl.tools import VectorArg, dtype_to_ctype

from coarsen.base.names import did_you_mean
from coarsen.devices.building import without_warnings
from coarsen.drop_in.mode import TuneChoice, versions_mode
from coarsen.drop_in.program import Program
from coarsen.errors import DeviceError, InvalidInputError
from coarsen.frontend.lower import compile_source
from coarsen.policy.tuned_checks import TunedChoice, problem_of_device, problem_of_program, tuned_files
from coarsen.stream.calls import Built, Calls, check_array, is_buffer, number, overlap
from coarsen.stream.laws import check_laws
from coarsen.stream.reduction_choice import default_file, description_of, with_more_versions
from coarsen.stream.reduction_text import (
    KERNEL,
    OPTIONS,
    Operation,
    check_number,
    check_operation,
    numbers_of,
    parsed_arguments,
    text_of,
)

if TYPE_CHECKING:
    from coarsen.dispatch.tuned_file import TunedFile
    from coarsen.policy.tuned_tree import TunedExplanation
    from coarsen.runtime.advice import Policy

_log = logging.getLogger("coarsen")


class Settings(TypedDict, total=False):
    """What `Reduce` takes by name, and other reductions too."""

    map: str | None
    dtype: Any
    length: str
    rows: str
    preamble: str


class Reduce:
    """A reduction of arrays to one number, or to one number for each row.

        norms = Reduce("a + b", identity="0", map="m[row][i] * m[row][i]", arguments="const float *m", rows="rows")
        squares = norms(queue, matrix)

    Elements are combined in any order: sums of real numbers are rounded otherwise at other sizes, on other
    devices, and after tuning, unless `reproducible`. Of no elements the result is the identity.

    Args:
        operator: an expression in OpenCL C of `a` and `b`, two results.
        identity: an expression: what the operator combines with any value to that value.
        arguments: what the map needs, as declarations in C: arrays, which are only read, and numbers.
        reproducible: whether all launches combine elements in one order, so that equal arrays have equal results,
            to the last bit, on all devices; except for what OpenCL C lets devices round otherwise: functions,
            `/` of floats, subnormal numbers.
        checks_laws: whether the laws of the operator are tried out at the first call.
        tuned: tuned files for any devices, of `tune` or `coarsen tune`.
        tune: True, or a `coarsen.Tune` with settings: the first call with so many elements, to a power of two, and
            so many rows takes what is remembered of such calls on the device; else versions are searched for some
            seconds, on copies of what it is given, and the best is remembered. "remembered": without a search.
            None or False: neither.
        settings: `map`, an expression of the arguments and of `i`, the element; with `rows`, of `row` too, and
            `m[row][i]` is element i of a row of m; the first array's element where it is not given.
            `dtype` of the results, of numbers or vectors, `cl.cltypes.float2`; that of the first array by default.
            `length`, the name of the number of elements, of one row where there are rows, which the map may use;
            "n" where it is not given.
            `rows`, the name of the number of rows, of which each has a result.
            `preamble`, OpenCL C before the kernels, such as functions.

    Raises:
        InvalidInputError: an expression or a declaration that is none, a type that is no number, a name that is
            taken; tuned files beside `reproducible`.
    """

    def __init__(
        self,
        operator: str,
        *,
        identity: str,
        arguments: str,
        reproducible: bool = False,
        checks_laws: bool = True,
        tuned: TunedChoice = None,
        tune: TuneChoice = None,
        **settings: Unpack[Settings],
    ) -> None:
        operation = _operation(operator, identity, arguments, **settings)
        self._begin(operation, tuned, tune, checks_laws, reproducible)

    @classmethod
    def argmin(
        cls, arguments: str, *, tuned: TunedChoice = None, tune: TuneChoice = None, **settings: Unpack[Settings]
    ) -> Self:
        """Return the reduction to the index of the least value, as NumPy's `argmin` has it.

        Of equal values the first counts; of values that are no numbers (NaN), where there are any, the first of
        these. Of no elements the index is -1.

        Args:
            arguments: as of `Reduce`.
            tuned: as of `Reduce`.
            tune: as of `Reduce`.
            settings: as of `Reduce`; `dtype` is that of the values, indices are `long`.
        """
        # The laws are those of the order, and the same index comes of any.
        return cls._of(_operation("<", None, arguments, **settings), tuned, tune, False, False)

    @classmethod
    def argmax(
        cls, arguments: str, *, tuned: TunedChoice = None, tune: TuneChoice = None, **settings: Unpack[Settings]
    ) -> Self:
        """Return the reduction to the index of the largest value; else as `argmin`."""
        return cls._of(_operation(">", None, arguments, **settings), tuned, tune, False, False)

    @classmethod
    def _of(
        cls, operation: Operation, tuned: TunedChoice, tune: TuneChoice, checks_laws: bool, reproducible: bool
    ) -> Self:
        made = cls.__new__(cls)
        made._begin(operation, tuned, tune, checks_laws, reproducible)
        return made

    @property
    def argument(self) -> VectorArg:
        """The one array whose elements are combined. Raises InvalidInputError where there is a map, or several."""
        first, *others = self._operation.arguments
        if others or self._operation.map not in (f"{first.name}[i]", f"{first.name}[row][i]"):
            raise InvalidInputError("a reduction in a pipeline is of one array: put its map before it, as a Map")
        assert isinstance(first, VectorArg)
        return first

    @property
    def sizes(self) -> tuple[str, ...]:
        """The names of the number of elements of a row and, where there are several, of rows."""
        return self._operation.sizes

    def of(self, map: str, arguments: str, preamble: str, tune: TuneChoice = None) -> Self:
        """Return the same reduction of other elements; tuned files go along.

        Args:
            map: an element, as of `Reduce`.
            arguments: what the map needs, as of `Reduce`.
            preamble: OpenCL C that the map needs.
            tune: as of `Reduce`; as this one if None.
        """
        own, parsed = self._operation, parsed_arguments(arguments)
        operation = replace(own, map=map, arguments=parsed, preamble=f"{own.preamble}\n{preamble}")
        check_operation(operation)
        tune = self._tune if tune is None else tune
        return self._of(operation, self._files or None, tune, self._checks_laws, self._is_pinned)

    def _begin(
        self, operation: Operation, tuned: TunedChoice, tune: TuneChoice, checks_laws: bool, reproducible: bool
    ) -> None:
        if reproducible and (tuned is not None or tune):
            raise InvalidInputError(
                "reproducible launches have one order of operations, and a tuned file may choose any: leave it out"
            )
        self._tune, self._mode = tune, versions_mode(tune)
        self._operation, self._checks_laws, self._is_pinned = operation, checks_laws, reproducible
        self._text = text_of(operation, is_pinned=reproducible)
        self._files = tuned_files(tuned, None, "opencl_c")
        # By places of arrays, of which the map takes each element: whether those of all rows.
        self._of_all_rows = _plain_uses(operation)
        self._built = Built()

    @property
    def source(self) -> str:
        """The kernels in OpenCL C."""
        return self._text

    def __call__(
        self,
        queue: pyopencl.CommandQueue,
        *values: Any,  # noqa: ANN401 (numbers of any type)
        out: pyopencl.array.Array | None = None,
        wait_for: Sequence[pyopencl.Event] | None = None,
        **sizes: int,
    ) -> pyopencl.array.Array:
        """Reduce arrays. It does not wait for the device.

        Args:
            queue: where.
            values: of the arguments: arrays of PyOpenCL's whose elements lie in C's order, or buffers; numbers.
            out: where the result goes; a new array if None. Of rows, its memory is not that of an argument.
            wait_for: events to wait for, besides those of the arrays.
            sizes: the numbers of elements and of rows by their names, where they are not those of the first array:
                its elements, or where there are rows its shape.

        Returns:
            An array of PyOpenCL's of the shape (), or (rows,), which has the event of the launch.

        Raises:
            InvalidInputError: arguments or sizes that are too few or too many, an array of another type or with
                too few elements.
            RefusalError: the operator breaks a law, seen at the first call.
            DeviceError: the device has no numbers of the type double.
        """
        context, events = queue.context, [*(wait_for or ())]
        calls = self._built.known.get((context, queue.device))
        # Others are looked at each time.
        is_whole = not sizes or all(type(each) is int for each in sizes.values())
        given = tuple(sizes.items()) if is_whole else None
        if calls is not None and given is not None:
            found = calls.again(queue, context, values, out, events, given)
            if found is not None:
                return found
        passed, arrays = self._passed(values, events)
        length, rows = self._sizes(sizes, arrays)
        if out is not None:
            self._check_out(out, rows, arrays)
        calls = calls or self._built.of(queue, self._built_for)
        shape = (rows,) if self._operation.rows else ()
        result = calls.new(queue, context, shape, values) if out is None else out
        if rows == 0:
            return result
        counts = (np.int64(length), np.int64(rows))[: len(self._operation.sizes)]
        passed += (*counts, result.base_data, np.int64(result.offset))
        event = calls.kernel.launch(queue, *passed, wait_for=[*events, *result.events] or None)
        # It comes after all those that the array had: `add_event` would have the host wait for some of them.
        result.events[:] = [event]
        if given is not None:
            # One result is written when everything was read.
            calls.keep(values, out, counts, shape, given, is_apart=rows > 1)
        return result

    def explain(self, queue: pyopencl.CommandQueue, **sizes: int) -> TunedExplanation:
        """Return which version a launch takes, and why.

        Args:
            queue: where.
            sizes: the numbers of elements and of rows, by their names.
        """
        found: TunedExplanation = self._built.of(queue, self._built_for).kernel.explain(**sizes)
        return found

    def describe(self, folder: Path, name: str = "reduction", largest: int = 1 << 24) -> Path:
        """Write the kernels and their description, with inputs to tune for, and return its path.

        `coarsen tune` takes it. Arrays have as many elements as there are, with values of -1 to 1: correct that
        where the map indexes them otherwise, or where other contents matter.

        Args:
            folder: that they go to.
            name: of both files.
            largest: the most elements in all to tune for.
        """
        if self._is_pinned:
            raise InvalidInputError("reproducible launches have one order of operations: there is nothing to tune")
        (folder / f"{name}.cl").write_text(self._text, encoding="utf-8")
        path = folder / f"{name}.toml"
        text = description_of(self._operation, f"{name}.cl", largest, self._of_all_rows)
        path.write_text(text, encoding="utf-8")
        return path

    def tune(
        self,
        device: str | None = None,
        *,
        largest: int = 1 << 24,
        inputs: int | None = None,
        store: str | None = None,
        seconds: float | None = None,
    ) -> TunedFile:
        """Measure versions at sizes up to the largest, and choose among them from now on.

        Args:
            device: its index or a part of its name; the first that works if None.
            largest: the most elements in all to tune for.
            inputs: how many sizes; if None 24, of rows 48.
            store: an SQLite file or URL that keeps what was measured, which is not measured again; None for none.
            seconds: about how long it takes; as long as it takes if None.

        Returns:
            The tuned file, for `write` and, in other programs, `tuned`.

        Raises:
            DeviceError: no such device, or one that is too busy.
            VerificationError: two versions have different results: the map reads what it may not.
        """
        # Imported late: they load what measures.
        from coarsen.devices.discovery import open_device
        from coarsen.devices.selection import find_device, find_working_device
        from coarsen.opencl_bench.inputs.over_inputs import tune_inputs
        from coarsen.tuning.engine.plan import Space

        with tempfile.TemporaryDirectory(prefix="coarsen-") as folder:
            path = self.describe(Path(folder), largest=largest)
            place = find_working_device() if device is None else find_device(device)
            untuned = default_file(self._operation, self._text, open_device(place), is_pinned=False)
            # A search among all may pass these by.
            first = tuple(each.variant for each in with_more_versions(untuned, self._operation).versions)
            space = Space(factors=(1,), strides=(1,), arrays=())
            file = tune_inputs(
                path, place.index, inputs=inputs, space=space, store=store, first=first, seconds=seconds
            )
        self._files = (file, *self._files)
        self._built = Built()
        return file

    def _built_for(self, queue: pyopencl.CommandQueue) -> Calls:
        """Build the program for a queue's device, and return its kernel."""
        try:
            return self._build(queue)
        except pyopencl.RuntimeError:
            try:
                compile_source(self._text, OPTIONS)
            except InvalidInputError as error:
                # Where the text is wrong, clang says so in a line.
                raise InvalidInputError(str(error).partition("\n")[0]) from None
            raise

    def _build(self, queue: pyopencl.CommandQueue) -> Calls:
        device, operation = queue.device, self._operation
        if np.dtype(np.float64) in operation.number_types and not device.double_fp_config:
            raise DeviceError(f"the device '{device.name.strip()}' has no numbers of the type double")
        if self._checks_laws:
            check_laws(queue, operation)
        default = default_file(operation, self._text, device, is_pinned=self._is_pinned)
        file = next(filter(lambda each: self._holds(each, device), self._files), default)
        picker: TuneChoice | Policy = False
        if self._mode is not None:
            # Imported late: most programs ask for no search.
            from coarsen.drop_in.versions import FoundVersions

            file = with_more_versions(file, operation) if file is default else file
            picker = FoundVersions(file, self._mode, operation.length)
        with without_warnings():
            program = Program(queue.context, self._text, tune=picker, tuned=file)
            program.build([*OPTIONS], [device])
        return Calls(program, KERNEL, operation.arguments, operation.sizes, operation.result_dtype, file)

    def _holds(self, file: TunedFile, device: pyopencl.Device) -> bool:
        """Return True for a tuned file of these kernels and a device; says why another one is not used."""
        problem = problem_of_device(file, device)
        if problem is None:
            problem = problem_of_program(file, self._text, list(OPTIONS), len(file.arguments))
            if problem is not None:
                _log.warning("a tuned file of a reduction is not used: %s", problem.reason)
        return problem is None

    def _passed(
        self, values: Sequence[Any], events: list[pyopencl.Event]
    ) -> tuple[list[Any], list[tuple[int, Any]]]:
        """Return what the kernel is passed for arguments, and the arrays by their places; add events before it."""
        arguments = self._operation.arguments
        if len(values) != len(arguments):
            names = ", ".join(each.name for each in arguments)
            raise InvalidInputError(f"a reduction of {names} takes {len(arguments)} arguments, not {len(values)}")
        passed: list[Any] = []
        arrays: list[tuple[int, Any]] = []
        for place, (argument, value) in enumerate(zip(arguments, values, strict=True)):
            if not isinstance(argument, VectorArg):
                passed.append(number(argument.name, value, argument.dtype))
                continue
            arrays.append((place, value))
            if is_buffer(value):
                passed += (value, np.int64(0))
            else:
                check_array(value, argument.dtype, argument.name)
                passed += (value.base_data, np.int64(value.offset))
                events += value.events
        return passed, arrays

    def _sizes(self, given: dict[str, int], arrays: Sequence[tuple[int, Any]]) -> tuple[int, int]:
        """Return the number of elements of a row, and of rows."""
        operation, kind = self._operation, np.dtype(np.int64)
        if given and (unknown := [name for name in given if name not in operation.sizes]):
            hint = did_you_mean(unknown[0], operation.sizes)
            raise InvalidInputError(f"there is no size {unknown[0]}{hint}; there are {', '.join(operation.sizes)}")
        given = {name: int(number(name, value, kind)) for name, value in given.items()}
        first = arrays[0][1]
        shape = first.shape if isinstance(first, pyopencl.array.Array) else ()
        count, length, rows = self._count(*arrays[0]), given.get(operation.length), 1
        if not operation.rows:
            length = count if length is None else length
        else:
            rows = given.get(operation.rows, shape[0] if len(shape) > 1 else -1)
            if length is None and rows > 0:
                length = count // rows
            if rows < 0 and length:
                rows = count // length
            length = length or 0
        if length < 0 or rows < 0:
            raise InvalidInputError(f"{' and '.join(operation.sizes)} are not known: pass them by their names")
        for place, value in arrays:
            needed = length * (rows if self._of_all_rows.get(place) else 1)
            if place in self._of_all_rows and rows and self._count(place, value) < needed:
                name = operation.arguments[place].name
                raise InvalidInputError(
                    f"{name} has {self._count(place, value)} elements, and {needed} are needed"
                )
        return length, rows

    def _count(self, place: int, value: Any) -> int:  # noqa: ANN401 (an array or a buffer)
        """Return how many elements an array has."""
        size = value.nbytes if isinstance(value, pyopencl.array.Array) else value.size
        return int(size) // self._operation.arguments[place].dtype.itemsize

    def _check_out(self, out: pyopencl.array.Array, rows: int, arrays: Sequence[tuple[int, Any]]) -> None:
        """Raise InvalidInputError for an array that results can't go to."""
        check_array(out, self._operation.result_dtype, "out")
        if out.size != rows:
            raise InvalidInputError(f"out has {out.size} elements, and there are {rows} results")
        # One result is written when everything was read.
        if rows > 1 and any(overlap(out, value) for _, value in arrays):
            raise InvalidInputError("out is in the memory of something that is read: it needs its own")


def _operation(
    better: str,
    identity: str | None,
    arguments: str,
    *,
    map: str | None = None,
    dtype: Any = None,  # noqa: ANN401 (whatever NumPy takes)
    length: str = "n",
    rows: str = "",
    preamble: str = "",
) -> Operation:
    """Return what is reduced, checked; without an identity, to the place of the best value."""
    parsed = parsed_arguments(arguments)
    first = next((each for each in parsed if isinstance(each, VectorArg)), None)
    if first is None:
        raise InvalidInputError(f"the arguments {arguments!r} have no array, const float *x")
    kind = np.dtype(first.dtype if dtype is None else dtype)
    numbers, count = numbers_of(kind)
    if count == 3:
        raise InvalidInputError("dtype is a vector of 3, whose elements lie as those of 4: take one of these")
    check_number(kind if identity is None else numbers, "dtype")
    map = map or f"{first.name}{'[row]' if rows else ''}[i]"
    worst = _worst(better, kind) if identity is None else identity
    operation = Operation(better, worst, map, parsed, kind, length, rows, preamble, identity is None)
    check_operation(operation)
    return operation


def _worst(better: str, dtype: np.dtype[Any]) -> str:
    """Return the value that no other is worse than, as OpenCL C has it."""
    if dtype.kind == "f":
        return "INFINITY" if better == "<" else "-INFINITY"
    # As OpenCL C calls them: SHRT_MAX, UINT_MAX.
    name = dtype_to_ctype(dtype).upper().replace("SHORT", "SHRT")
    if better == "<":
        return f"{name}_MAX"
    return f"{name}_MIN" if dtype.kind == "i" else "0"


def _plain_uses(operation: Operation) -> dict[int, bool]:
    """Return the places of arrays of which the map takes each element: whether of all rows."""
    found = {}
    for place, each in enumerate(operation.arguments):
        if isinstance(each, VectorArg):
            name = rf"\b{each.name}\s*"
            if re.search(rf"{name}\[\s*row\s*\]\s*\[\s*i\s*\]", operation.map):
                found[place] = True
            elif re.search(rf"{name}\[\s*i\s*\]", operation.map):
                found[place] = False
    return found
