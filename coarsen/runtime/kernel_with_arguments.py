"""A kernel object that knows which arguments are set, for itself and for the variants that run in its place."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakValueDictionary

import pyopencl

from coarsen.runtime.arguments import PLAIN, Argument, SetArguments, SortedArguments, set_all, set_sorted
from coarsen.runtime.enqueue import Target
from coarsen.runtime.launched_kernels import LaunchedKernels
from coarsen.runtime.launches import KernelLaunches, LaunchedVariant


class KernelWithArguments(pyopencl.Kernel):
    """The original kernel, whose arguments are set as PyOpenCL does and noted for its variants.

    A variant never runs with others: where it isn't known what is set, the original runs.
    """

    # The program that the kernel comes from; PyOpenCL's annotation is of its inner class.
    program: Any = None
    # The variant whose kernel object has the arguments that are set.
    _up_to_date: LaunchedVariant | None = None
    # True for a clone whose original kernel was not given the arguments yet.
    _lacks_arguments = False
    # True once the original kernel may have arguments that aren't noted: of a call, or of a setter that failed.
    _has_unnoted = False
    # True once others may have set arguments of the original kernel by its address.
    _is_exposed = False
    _types: tuple[Any, ...] | None = None

    def __init__(self, program: pyopencl.Program, launches: KernelLaunches) -> None:
        super().__init__(launches.raw_program, launches.name)
        self.program = program
        self._launches = launches
        self._variants = LaunchedKernels(launches)
        self._set = SetArguments(launches.argument_count)

    def get_info(self, param_name: pyopencl.kernel_info) -> object:
        """As `pyopencl.Kernel.get_info`; the program is the coarsened one."""
        return self.program if param_name == pyopencl.kernel_info.PROGRAM else super().get_info(param_name)

    @property
    def int_ptr(self) -> int:
        """As `pyopencl.Kernel.int_ptr`.

        Whoever has it may set arguments that are seen nowhere else, so `enqueue` and clones run the original from
        now on.
        """
        self._is_exposed = True
        address = int(super().int_ptr)
        _EXPOSED[address] = self
        return address

    @classmethod
    def from_int_ptr(cls, int_ptr_value: int, retain: bool = True) -> pyopencl.Kernel:
        """As `pyopencl.Kernel.from_int_ptr`; our own kernel object of that address, where there is one."""
        plain: pyopencl.Kernel = PLAIN.from_int_ptr(int_ptr_value, retain)
        return _EXPOSED.get(int_ptr_value, plain)

    @property
    def _source(self) -> str | None:
        """The source, which PyOpenCL looks at to capture a call."""
        source: str | None = self.program._source
        return source

    def set_arg(self, arg_index: int, arg: Argument) -> None:
        """As `pyopencl.Kernel.set_arg`."""
        self._set_and_note(PLAIN.set_arg, (arg_index, arg), (arg_index, arg))

    def _set_arg_multi(self, indices_and_values: tuple[Argument, ...]) -> None:
        """As PyOpenCL's setter of this name, which host code that others generate calls too."""
        self._set_and_note(set_all, (indices_and_values[::2], indices_and_values[1::2]), indices_and_values)

    def _set_arg_buf_multi(self, indices_and_values: tuple[Argument, ...]) -> None:
        self._set_and_note(PLAIN._set_arg_buf_multi, (indices_and_values,), indices_and_values)

    def _set_arg_buf_pack_multi(self, entries: tuple[Argument, ...]) -> None:
        self._set_and_note(PLAIN._set_arg_buf_pack_multi, (entries,), entries, packed=True)

    def _set_arg_buf(self, index: int, value: Argument, /) -> None:
        self._set_and_note(PLAIN._set_arg_buf, (index, value), (index, value))

    def _set_arg_svm(self, index: int, value: Argument, /) -> None:
        self._set_and_note(PLAIN._set_arg_svm, (index, value), (index, value))

    def _set_arg_null(self, index: int, /) -> None:
        self._set_and_note(PLAIN._set_arg_null, (index,), (index, None))

    def set_arg_types(self, arg_types: Sequence[Any]) -> None:
        """As `pyopencl.Kernel.set_arg_types`."""
        types = tuple(arg_types)
        super().set_arg_types(types)
        self._types = types
        self._variants.set_argument_types(types)

    def set_scalar_arg_dtypes(self, arg_types: Sequence[Any]) -> None:
        """As `pyopencl.Kernel.set_scalar_arg_dtypes`."""
        self.set_arg_types(arg_types)

    def _set_and_note(
        self,
        setter: Callable[..., None],
        arguments: tuple[Argument, ...],
        noted: Sequence[Argument],
        packed: bool = False,
    ) -> None:
        """Set arguments as PyOpenCL does, for the original kernel, and note them for the variants."""
        called, self._up_to_date = self._up_to_date, None
        try:
            setter(self, *arguments)
        except BaseException:
            self._has_unnoted = True
            self._set.forget()
            raise
        if not self._launches.is_coarsened:
            return
        try:
            (self._set.note_packed if packed else self._set.note_flat)(noted)
        except (BufferError, TypeError, ValueError, struct.error):
            # PyOpenCL has taken it; what it is can't be told, so no variant may run with it.
            self._has_unnoted = True
            self._set.forget()
            return
        if called is not None and not self._set.are_complete:
            # The others are those of a call, which the kernel object of its variant still has.
            setter(self._variants.kernels[called], *arguments)
            self._up_to_date = called

    def _set_for_call(self, args: tuple[Argument, ...], given: SortedArguments) -> None:
        """Set the arguments of a call for the original kernel; `given` are the same, sorted.

        They are noted until `_end_call`.
        """
        self._lacks_arguments = False
        self._has_unnoted = True
        self._up_to_date = None
        try:
            set_sorted(self, given)
        except BaseException:
            self._set.forget()
            raise
        try:
            self._set.note_all(args)
        except (BufferError, TypeError, ValueError, struct.error):
            # PyOpenCL has taken them; what they are can't be told, so no variant may run with them later.
            self._set.forget()

    def _end_call(self) -> None:
        """Forget the arguments of a call, which hold no longer than it takes."""
        self._has_unnoted = True
        self._set.forget_values()

    def _handed_over(self, target: Target | None) -> Target | None:
        """Give the arguments that were set to the target, and return it; None if they aren't all known."""
        if self._lacks_arguments:
            self._lacks_arguments = False
            set_all(self, *self._set.values())
        if target is None or target.launched is None or self._up_to_date is target.launched:
            return target
        if not self._set.are_complete:
            return None
        set_all(target.kernel, *self._set.values())
        self._up_to_date = target.launched
        return target

    def _set_added(self, target: Target) -> None:
        """Set the arguments after the kernel's own."""
        if target.added:
            first = self._launches.argument_count
            set_all(target.kernel, range(first, first + len(target.added)), target.added)

    def _local_bytes(self) -> int:
        local_memory = self._set.local_memory
        return sum(local.size for local in local_memory.values()) if local_memory else 0


# Kernel objects whose address was given away, while they are there.
_EXPOSED: WeakValueDictionary[int, KernelWithArguments] = WeakValueDictionary()
