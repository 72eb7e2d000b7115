"""A kernel object of which a call's arguments are set for what is launched, and not for the object itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import ref

import numpy as np
import pyopencl

from coarsen.errors import InvalidInputError
from coarsen.runtime.arguments import Argument
from coarsen.runtime.kernel import Kernel
from coarsen.runtime.tuned_arguments import Arguments

_NONE: frozenset[int] = frozenset()


class SetApartKernel(Kernel):
    """A kernel object for one thread whose calls may launch another.

    `pyopencl.enqueue_nd_range_kernel` launches the kernel as it is written, with what `set_args` set; the
    arguments of a call hold for that call alone.
    """

    # Where the arguments of a call were the last that were given, and only the version that was launched has them:
    # the indices of those set since; else None.
    _set_again: frozenset[int] | None = None
    # True where the user has set something that holds for this object alone: the program makes another one then.
    is_set_apart = False
    # True for types of arguments that PyOpenCL makes of them by itself.
    _is_plain = False

    @property
    def program(self) -> Any:  # noqa: ANN401 (as PyOpenCL has it)
        """The program that the kernel comes from; None once that is gone."""
        return self._program_reference()

    @program.setter
    def program(self, program: Any) -> None:  # noqa: ANN401 (as above)
        # A program keeps a kernel for each thread, which must not keep the program.
        self._program_reference = ref(program)

    def _set_and_note(
        self,
        setter: Callable[..., None],
        arguments: tuple[Argument, ...],
        noted: Sequence[Argument],
        packed: bool = False,
    ) -> None:
        super()._set_and_note(setter, arguments, noted, packed)
        self.is_set_apart = True
        if self._set_again is not None:
            set_again = self._set_again.union(noted[:: 3 if packed else 2])
            self._set_again = None if len(set_again) == self._launches.argument_count else set_again

    def set_arg_types(self, arg_types: Sequence[Any]) -> None:
        """As `pyopencl.Kernel.set_arg_types`; with other types than those of numbers, it runs as it is written."""
        super().set_arg_types(arg_types)
        self.is_set_apart = True
        self._is_plain = not all(map(_is_type_of_numbers, arg_types))

    def _check_set(self) -> None:
        if self._set_again is not None:
            raise InvalidInputError(
                f"the arguments of kernel {self._launches.name} were given with a call, and hold for that alone: "
                "set_args before enqueue_nd_range_kernel and clone"
            )

    def _typed(self, args: Arguments) -> Arguments:
        """Return the arguments, numbers made of the types that were set for them."""
        if self._types is None:
            return args
        pairs = zip(self._types, args, strict=False)
        return tuple(value if kind is None else np.dtype(kind).type(value) for kind, value in pairs)

    def _note_call(self, kernel: pyopencl.Kernel | None) -> None:
        """Note that the arguments of a call were set for a kernel object; None: for several."""
        self._set_again = None if kernel is self else _NONE


def _is_type_of_numbers(kind: Any) -> bool:  # noqa: ANN401 (whatever NumPy takes as a type)
    if kind is None:
        return True
    try:
        return issubclass(np.dtype(kind).type, np.number)
    except TypeError:
        return False
