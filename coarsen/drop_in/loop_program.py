"""The loops of a C function in a program of PyOpenCL's: called as the function is, with buffers for arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import pyopencl

from coarsen.dispatch.expressions import parse_expression
from coarsen.drop_in.mode import Otherwise, TuneChoice, mode_of
from coarsen.drop_in.program import Program
from coarsen.errors import InvalidInputError
from coarsen.loops import read_program
from coarsen.policy.remembered import Remembered
from coarsen.policy.tuned_checks import TunedChoice
from coarsen.runtime.advice import LaunchRequest, Policy
from coarsen.tuning.workload.benchmark import ByMacros, MacroSizes

if TYPE_CHECKING:
    from coarsen.loops.kernel_text import KernelText

_TYPES: Mapping[str, type[np.generic]] = {
    "char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16, "int": np.int32, "uint": np.uint32,
    "long": np.int64, "ulong": np.uint64, "float": np.float32, "double": np.float64,
}  # fmt: skip


def _by_lanes(
    text: KernelText, macros: Mapping[str, int], whole_type: type[np.generic], request: LaunchRequest
) -> ByMacros:
    """The launch of a kernel with one parallel loop for each number of lanes, the program's own first."""
    # Imported late, as all that loads islpy.
    from coarsen.loops.launches import operations_in
    from coarsen.loops.sums import GROUP_SIZES, LANE_COUNTS

    kernel, found = text.kernel, list[MacroSizes]()
    assert kernel.split is not None, "only lanes that there are can be tried"
    lane_dimension = kernel.split.dimension
    rows = request.launch.global_size[1 - lane_dimension]
    own = tuple(macros[name] for name in kernel.lane_macros)
    for lanes, size in dict.fromkeys((own, *product(LANE_COUNTS, GROUP_SIZES))):
        if size % lanes == 0:
            local = [size // lanes] * 2
            whole = [-(-rows // local[0]) * local[0]] * 2
            local[lane_dimension] = whole[lane_dimension] = lanes
            definitions = zip(kernel.lane_macros, (str(lanes), str(size)), strict=True)
            found.append(MacroSizes(tuple(sorted(definitions)), tuple(whole), tuple(local)))
    given = zip(text.arguments, request.arguments or (), strict=False)
    values = {
        name: int(np.frombuffer(value, whole_type)[0]) for name, value in given if name in kernel.nest.parameters
    }
    roundings = parse_expression(operations_in([text]))
    is_known = roundings.names <= values.keys()
    return ByMacros(tuple(found), roundings.evaluate(values) if is_known else None)


class LoopProgram:
    """The kernels that the loops of a C function become, and their launches.

        mm = coarsen.LoopProgram(context, "mm.c", "mm", tune=True)
        mm(queue, n, a, b, c)

    Work-items are points of parallel loops; sequential loops around them are run by the host. Several threads may
    call it: one sets arguments and launches at a time.

    Args:
        context: to build for.
        path: the C file.
        function: the function's name; needed where several have loops.
        options: for clang: definitions of macros, folders of headers.
        tune: how the kernels are coarsened, as `coarsen.Program` takes it, and how many lanes share a sum, unless
            `options` say so.
        tuned: tuned files of the kernels, as `coarsen.Program` takes them.

    Raises:
        InvalidInputError: the file can't be read, or has no such function; islpy is missing.
        RefusalError: the function is no affine loop nest, or none that OpenCL C can have.
    """

    def __init__(
        self,
        context: pyopencl.Context,
        path: str | Path,
        function: str | None = None,
        *,
        options: Sequence[str] = (),
        tune: TuneChoice = None,
        tuned: TunedChoice = None,
    ) -> None:
        # A tuned file is of the text for all devices.
        is_for_cpus = tuned is None and all(each.type & pyopencl.device_type.CPU for each in context.devices)
        self._program = read_program(Path(path), function, options, is_for_cpus=is_for_cpus)
        # Imported late, as all that loads islpy.
        from coarsen.loops.kernel_text import whole_type
        from coarsen.loops.writer import opencl_type

        nest = self._program.nest
        self._context = context
        self._tune, self._tuned, self._launching = tune, tuned, Lock()
        self._whole_type = _TYPES[whole_type(nest)]
        self._most = 2 ** (8 * np.dtype(self._whole_type).itemsize - 1) - 1 - self._program.beyond
        self._types = {
            name: self._whole_type if name in nest.parameters else _TYPES[opencl_type(each, nest.place)]
            for name, each in nest.types.items()
        }
        self._arrays = [each for each in nest.arrays.values() if not each.is_private]
        self._element_types = {
            each.name: np.dtype(_TYPES[opencl_type(each.element, nest.place)]) for each in self._arrays
        }

    @property
    def source(self) -> str:
        """The kernels in OpenCL C, as they are before anything is coarsened."""
        return self._program.text

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of what a call takes: the function's parameters, then what else it finds.

        A record's members, of which each is an argument, are named with `_` for `->` and `.`.
        """
        return self._program.arguments

    def __call__(
        self,
        queue: pyopencl.CommandQueue,
        *arguments: object,
        wait_for: Sequence[pyopencl.Event] | None = None,
        **named: object,
    ) -> pyopencl.Event:
        """Launch the function's kernels, one after the other; it does not wait for them.

        Args:
            queue: a queue of the program's context.
            arguments: in the order of `arguments`: numbers, and for arrays a `pyopencl.Buffer`, or an array of
                PyOpenCL's, whose elements lie in C's order.
            wait_for: events before the first launch.
            named: arguments by their names.

        Returns:
            The event of the last launch.

        Raises:
            InvalidInputError: one argument too few or too many, a buffer that is too small or given twice, a
                number that is too large.
        """
        given = self._given(arguments, named)
        numbers = {name: self._whole(name, given[name]) for name in self._program.nest.parameters}
        if (last := max((each.evaluate(numbers) for each in self._program.ends), default=0)) > self._most:
            raise InvalidInputError(f"a loop counts to {last}, too far for the kernels' whole numbers")
        buffers = self._buffers(given, numbers)
        values: dict[str, Any] = {**{name: type_(given[name]) for name, type_ in self._types.items()}, **buffers}
        # Imported late, as all that loads islpy.
        from coarsen.loops.launches import each_launch

        event, waiting = None, wait_for
        sizes = {**numbers, **self._program.macros}
        with self._launching:
            for launch, global_size, local_size, steps in each_launch(self._program.launches, sizes):
                if min(global_size) < 1:
                    continue
                whole = tuple(-(-extent // own) * own for extent, own in zip(global_size, local_size, strict=True))
                inner = {**values, **{name: self._whole_type(value) for name, value in steps.items()}}
                kernel = self._kernels[launch.kernel.kernel.name]
                passed = [inner[name] for name in launch.kernel.arguments]
                event = kernel(queue, whole, local_size, *passed, wait_for=waiting)
                # A queue may run what it is given in any order.
                waiting = [event]
        return event if event is not None else pyopencl.enqueue_marker(queue, wait_for=wait_for)

    @cached_property
    def _kernels(self) -> dict[str, Any]:
        """The kernels, each built at the first call in a program of its own.

        Behind others in one program Intel's compiler gets some wrong. A tuned file is of the whole source.
        """
        # Imported late, as all that loads islpy.
        from coarsen.loops.kernel_text import opencl_text

        found = {}
        for each in self._program.kernels:
            text = self.source if self._tuned is not None else opencl_text([each], self._program.macros)
            program = Program(self._context, text, tune=self._policy_of(each), tuned=self._tuned)
            found[each.kernel.name] = getattr(program.build(options=["-cl-std=CL1.2"]), each.kernel.name)
        return found

    def _policy_of(self, text: KernelText) -> TuneChoice | Policy:
        """Return what decides about a kernel: about the number of its lanes, too, where that may be another."""
        kernel, mode = text.kernel, mode_of(self._tune)
        is_split = kernel.split is not None and len(kernel.dimensions) == 1
        has_lanes = is_split and not self._program.has_own_lanes(kernel)
        if not has_lanes or self._tuned is not None or mode is None:
            return self._tune
        by_macros = partial(_by_lanes, text, self._program.macros, self._whole_type)
        if mode[0] is Otherwise.LEAVE:
            return Remembered(mode[1], by_macros=by_macros)
        # Imported late: a program that remembers measures nothing.
        from coarsen.drop_in.search import SearchNow

        return SearchNow(mode[1], by_macros=by_macros)

    def _given(self, arguments: Sequence[object], named: Mapping[str, object]) -> dict[str, Any]:
        names = self.arguments
        if len(arguments) > len(names):
            raise InvalidInputError(f"{len(names)} arguments, not {len(arguments)}: {', '.join(names)}")
        by_place = dict(zip(names, arguments, strict=False))
        if twice := [name for name in by_place if name in named]:
            raise InvalidInputError(f"the argument {twice[0]} is given twice")
        given = {**by_place, **named}
        if missing := [name for name in names if name not in given]:
            raise InvalidInputError(f"the argument {missing[0]} is missing; there are {', '.join(names)}")
        if unknown := [name for name in given if name not in names]:
            raise InvalidInputError(f"there is no argument {unknown[0]}; there are {', '.join(names)}")
        return given

    def _whole(self, name: str, value: float) -> int:
        try:
            number = int(value)
        except (TypeError, ValueError, OverflowError):
            raise InvalidInputError(f"{name} is not a whole number") from None
        if number != value or not -self._most - 1 <= number <= self._most:
            raise InvalidInputError(f"{name} = {value} is not a whole number of the kernels' type")
        return number

    def _buffers(self, given: Mapping[str, Any], numbers: Mapping[str, int]) -> dict[str, pyopencl.MemoryObject]:
        """The buffers of arrays, those that the function makes itself among them."""
        found: dict[str, pyopencl.MemoryObject] = {}
        counts = self._program.elements_at(numbers)
        for name, elements in counts.items():
            if elements > self._most:
                too_many = f"{name} has {elements} elements, too many for sizes of the type int"
                raise InvalidInputError(f"{too_many}: make them long in C")
        for array in self._arrays:
            needed = counts[array.name] * self._element_types[array.name].itemsize
            if array.is_local:
                # One for each call: OpenCL frees it after the launches.
                found[array.name] = pyopencl.Buffer(self._context, pyopencl.mem_flags.READ_WRITE, max(needed, 1))
                continue
            passed = given[array.name]
            is_array = hasattr(passed, "base_data")
            buffer = passed.base_data if is_array else passed
            if not isinstance(buffer, pyopencl.MemoryObject) or (is_array and passed.offset):
                raise InvalidInputError(
                    f"{array.name} is neither a buffer nor an array that starts where one does"
                )
            if is_array and passed.dtype != self._element_types[array.name]:
                raise InvalidInputError(
                    f"{array.name} is of {passed.dtype}, not {self._element_types[array.name]}"
                )
            if buffer.size < needed:
                raise InvalidInputError(f"{array.name} has {buffer.size} bytes, but the loops access {needed}")
            found[array.name] = buffer
        for one, other in self._program.apart:
            if found[one] == found[other]:
                raise InvalidInputError(f"{one} and {other} are one buffer; the kernels need two")
        return found
