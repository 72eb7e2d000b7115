"""A kernel that is launched with its original sizes and runs coarsened."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias, TypedDict

import pyopencl
from pyopencl._cl import enqueue_nd_range_kernel as enqueue_plainly

from coarsen.runtime.arguments import PLAIN, Argument, SetArguments, set_all
from coarsen.runtime.launch import DividedLaunch
from coarsen.runtime.launches import KernelLaunches, LaunchedVariant, added_types, added_values
from coarsen.runtime.sizes import plain_offset, plain_sizes

Sizes: TypeAlias = Sequence[int]


# Whatever PyOpenCL takes as the events to wait for; its annotations leave some out.
WaitList: TypeAlias = Any

# PyOpenCL's own launch, by position: the names differ between a kernel's call and this function.
_ENQUEUE: Any = enqueue_plainly


class LaunchOptions(TypedDict):
    """The keyword arguments of a launch, as a kernel's call has them."""

    global_offset: Any
    g_times_l: bool
    allow_empty_ndrange: bool
    wait_for: WaitList


class _Variants:
    """The coarsened kernel objects of one `Kernel`; others may use them once it is gone."""

    __slots__ = ("_launches", "_types", "kernels")

    def __init__(self, launches: KernelLaunches) -> None:
        self._launches = launches
        self._types: tuple[Any, ...] | None = None
        self.kernels: dict[LaunchedVariant, pyopencl.Kernel] = {}

    def __del__(self) -> None:
        if self._types is None:
            for launched, kernel in self.kernels.items():
                launched.unused.append(kernel)

    def get(self, launched: LaunchedVariant) -> pyopencl.Kernel | None:
        """Return the kernel object of a variant; None if the kernel refuses it. Raises DeviceError."""
        known = self.kernels.get(launched)
        if known is None:
            known = self._launches.kernel(launched)
            if known is not None:
                self.kernels[launched] = known
                self._set_types(launched, known)
        return known

    def set_argument_types(self, types: Sequence[Any]) -> None:
        """As `pyopencl.Kernel.set_arg_types`, for all variants, those of later too."""
        self._types = tuple(types)
        for launched, kernel in self.kernels.items():
            self._set_types(launched, kernel)

    def _set_types(self, launched: LaunchedVariant, kernel: pyopencl.Kernel) -> None:
        if self._types is not None:
            kernel.set_arg_types((*self._types, *added_types(launched.added)))


class _Target(NamedTuple):
    """A variant to launch: its kernel object, its sizes, its arguments after the kernel's own."""

    kernel: pyopencl.Kernel
    launched: LaunchedVariant
    launch: DividedLaunch
    added: tuple[Argument, ...]


class Kernel(pyopencl.Kernel):
    """The drop-in for `pyopencl.Kernel`, with the same calls.

    It is itself the original kernel, so whatever takes a `pyopencl.Kernel` works. Calling it,
    `pyopencl.enqueue_nd_range_kernel` and `coarsen.enqueue_nd_range_kernel` launch a coarsened variant.

    Arguments are set for the original kernel as PyOpenCL does, and for a variant by the launch. A variant never
    runs with others: where it isn't known what is set, the original runs.
    """

    # The program that the kernel comes from; PyOpenCL's annotation is of its inner class.
    program: Any = None

    def __init__(self, program: pyopencl.Program, launches: KernelLaunches) -> None:
        super().__init__(program, launches.name)
        self.program = program
        self._launches = launches
        self._variants = _Variants(launches)
        self._set = SetArguments(launches.argument_count)
        # The variant whose kernel object has the arguments that are set.
        self._up_to_date: LaunchedVariant | None = None
        # True for a clone whose original kernel was not given the arguments yet: they may be gone by then.
        self._lacks_arguments = False
        # True once others may have set arguments of the original kernel by its address.
        self._is_exposed = False
        self._types: tuple[Any, ...] | None = None

    # PyOpenCL's annotation names the sizes otherwise than its code does.
    def __call__(  # type: ignore[override]
        self,
        queue: pyopencl.CommandQueue,
        global_size: Sizes,
        local_size: Sizes | None,
        *args: Argument,
        global_offset: Sizes | None = None,
        g_times_l: bool = False,
        allow_empty_ndrange: bool = False,
        wait_for: WaitList = None,
        **by_name: Argument,
    ) -> pyopencl.Event:
        """As `pyopencl.Kernel.__call__`: sets the arguments and launches; sizes and offset are the original's.

        Arguments may be named, as PyOpenCL names them: `arg0`, `arg1` and so on.
        """
        options: LaunchOptions = {
            "global_offset": global_offset,
            "g_times_l": g_times_l,
            "allow_empty_ndrange": allow_empty_ndrange,
            "wait_for": wait_for,
        }
        args = _positional(args, by_name) if by_name else args
        sizes = _in_tuples(global_size, local_size)
        passed = self._launches.argument_count if self._types is None else len(self._types)
        if by_name or len(args) != passed:
            # PyOpenCL says what is wrong.
            return self._call_original(queue, sizes, args, options, by_name)
        self._set_for_call(args)
        target = self._target(queue.device, *sizes, g_times_l)
        if self._types is not None:
            return self._call_typed(target, queue, sizes, args, options)
        if target is None:
            return _enqueue_original(queue, self, sizes, options)
        values = (*args, *target.added)
        set_all(target.kernel, range(len(values)), values)
        self._up_to_date = target.launched
        return _enqueue(queue, target, sizes[1], options)

    def enqueue(
        self,
        queue: pyopencl.CommandQueue,
        global_work_size: Sizes,
        local_work_size: Sizes | None,
        global_work_offset: Sizes | None = None,
        wait_for: WaitList = None,
        g_times_l: bool = False,
        allow_empty_ndrange: bool = False,
    ) -> pyopencl.Event:
        """Launch with the arguments set before (`set_args`, `set_arg`), as `pyopencl.enqueue_nd_range_kernel`."""
        options: LaunchOptions = {
            "global_offset": global_work_offset,
            "g_times_l": g_times_l,
            "allow_empty_ndrange": allow_empty_ndrange,
            "wait_for": wait_for,
        }
        sizes = _in_tuples(global_work_size, local_work_size)
        target = None if self._is_exposed else self._target(queue.device, *sizes, g_times_l)
        if not self._hand_over(target) or target is None:
            return _enqueue_original(queue, self, sizes, options)
        if target.added:
            first = self._launches.argument_count
            set_all(target.kernel, range(first, first + len(target.added)), target.added)
        return _enqueue(queue, target, sizes[1], options)

    def divided(
        self, device: pyopencl.Device, global_size: Sizes, local_size: Sizes | None, g_times_l: bool = False
    ) -> DividedLaunch:
        """Return how a launch of these (original) sizes is carried out on `device`, and why.

        Where work-groups are merged, the local memory that was last set as an argument counts.
        """
        whole, local = plain_sizes(global_size, local_size, g_times_l)
        return self._launches.choose(device, whole, local, self._local_bytes())

    def clone(self) -> pyopencl.Kernel:
        """As `pyopencl.Kernel.clone`: a kernel object of its own, with the same arguments set."""
        if self._is_exposed or not self._launches.is_coarsened:
            return super().clone()
        copy = Kernel(self.program, self._launches)
        copy._set = self._set.copy()
        copy._lacks_arguments = True
        return copy

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
        return int(super().int_ptr)

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
        self._up_to_date = None
        try:
            setter(self, *arguments)
        except BaseException:
            self._set.forget()
            raise
        if not self._launches.is_coarsened:
            return
        try:
            (self._set.note_packed if packed else self._set.note_flat)(noted)
        except (BufferError, TypeError, ValueError, struct.error):
            # PyOpenCL has taken it; what it is can't be told, so no variant may run with it.
            self._set.forget()

    def _set_for_call(self, args: tuple[Argument, ...]) -> None:
        """Set the arguments of a call for the original kernel."""
        self._lacks_arguments = False
        if self._types is not None:
            self.set_args(*args)
            return
        self._up_to_date = None
        try:
            set_all(self, range(len(args)), args)
        except BaseException:
            self._set.forget()
            raise
        try:
            self._set.note_all(args)
        except (BufferError, TypeError, ValueError, struct.error):
            # PyOpenCL has taken them; what they are can't be told, so no variant may run with them later.
            self._set.forget()

    def _call_original(
        self,
        queue: pyopencl.CommandQueue,
        sizes: tuple[Any, Any],
        args: tuple[Argument, ...],
        options: LaunchOptions,
        by_name: dict[str, Argument],
    ) -> pyopencl.Event:
        """PyOpenCL's own call."""
        self._lacks_arguments = False
        return super().__call__(queue, *sizes, *args, **options, **by_name)

    def _call_typed(
        self,
        target: _Target | None,
        queue: pyopencl.CommandQueue,
        sizes: tuple[Any, Any],
        args: tuple[Argument, ...],
        options: LaunchOptions,
    ) -> pyopencl.Event:
        """A call of a kernel whose arguments have types: PyOpenCL converts them, and waits for arrays."""
        if target is None:
            return self._call_original(queue, sizes, args, options, {})
        offset: Any = plain_offset(options["global_offset"], sizes[1], options["g_times_l"])
        changed: LaunchOptions = {**options, "global_offset": offset, "g_times_l": False}
        coarsened: tuple[Any, Any] = target.launch.global_size, target.launch.local_size
        # Its values are those of the call from now on, also if it fails half-way.
        self._up_to_date = None
        return target.kernel(queue, *coarsened, *args, *target.added, **changed)

    def _target(
        self, device: pyopencl.Device, global_size: Sizes, local_size: Sizes | None, g_times_l: bool
    ) -> _Target | None:
        """Return the variant to launch; None: the original kernel, as the caller says."""
        try:
            whole, local = plain_sizes(global_size, local_size, g_times_l)
        except TypeError:
            # Sizes that aren't sequences of integers: PyOpenCL says so.
            return None
        launch = self._launches.choose(device, whole, local, self._local_bytes())
        launched = self._launches.variant_of(launch)
        kernel = None if launched is None else self._variants.get(launched)
        if launched is None or kernel is None:
            return None
        if not launched.added:
            return _Target(kernel, launched, launch, ())
        added = added_values(launched.added, self._launches.argument_count, whole, self._set.local_memory)
        return None if added is None else _Target(kernel, launched, launch, added)

    def _local_bytes(self) -> int:
        local_memory = self._set.local_memory
        return sum(local.size for local in local_memory.values()) if local_memory else 0

    def _hand_over(self, target: _Target | None) -> bool:
        """Give the arguments that were set to the target; return False if they aren't all known."""
        if self._lacks_arguments:
            self._lacks_arguments = False
            set_all(self, *self._set.values())
        if target is None or not self._set.are_complete:
            return False
        if self._up_to_date is not target.launched:
            set_all(target.kernel, *self._set.values())
            self._up_to_date = target.launched
        return True


def enqueue_nd_range_kernel(
    queue: pyopencl.CommandQueue,
    kernel: pyopencl.Kernel,
    global_work_size: Sizes,
    local_work_size: Sizes | None,
    global_work_offset: Sizes | None = None,
    wait_for: WaitList = None,
    g_times_l: bool = False,
    allow_empty_ndrange: bool = False,
) -> pyopencl.Event:
    """As `pyopencl.enqueue_nd_range_kernel`, for kernels of a `coarsen.Program` too.

    Args:
        queue: where to launch.
        kernel: one of a `coarsen.Program`, or any other.
        global_work_size: of the original kernel, in work-items, one to three numbers.
        local_work_size: of the original kernel, in work-items; None leaves it to the driver.
        global_work_offset: as PyOpenCL takes it.
        wait_for: events to wait for.
        g_times_l: whether the global size is given in work-groups.
        allow_empty_ndrange: whether a size of 0 is no error.

    Returns:
        The event of the launch.
    """
    sizes: tuple[Any, Any] = global_work_size, local_work_size
    options: tuple[Any, ...] = global_work_offset, wait_for, g_times_l, allow_empty_ndrange
    if isinstance(kernel, Kernel):
        return kernel.enqueue(queue, *sizes, *options)
    event: pyopencl.Event = _ENQUEUE(queue, kernel, *sizes, *options)
    return event


def _enqueue(
    queue: pyopencl.CommandQueue, target: _Target, local_size: Sizes | None, options: LaunchOptions
) -> pyopencl.Event:
    """Launch a variant that has its arguments. The sizes are multiplied already."""
    launch = target.launch
    offset = plain_offset(options["global_offset"], local_size, options["g_times_l"])
    event: pyopencl.Event = _ENQUEUE(
        queue,
        target.kernel,
        launch.global_size,
        launch.local_size,
        offset,
        options["wait_for"],
        False,
        options["allow_empty_ndrange"],
    )
    return event


def _enqueue_original(
    queue: pyopencl.CommandQueue, kernel: pyopencl.Kernel, sizes: tuple[Any, Any], options: LaunchOptions
) -> pyopencl.Event:
    event: pyopencl.Event = _ENQUEUE(
        queue,
        kernel,
        *sizes,
        options["global_offset"],
        options["wait_for"],
        options["g_times_l"],
        options["allow_empty_ndrange"],
    )
    return event


def _positional(args: tuple[Argument, ...], by_name: dict[str, Argument]) -> tuple[Argument, ...]:
    """Return all arguments in their order; those taken out of `by_name` are named `arg0`, `arg1` and so on."""
    while (name := f"arg{len(args)}") in by_name:
        args = (*args, by_name.pop(name))
    return args


def _in_tuples(global_size: Sizes, local_size: Sizes | None) -> tuple[Any, Any]:
    """Return sizes that can be read twice, which an iterator's can't; PyOpenCL refuses what is no sequence."""
    return _tuple(global_size), _tuple(local_size)


def _tuple(sizes: Any) -> Any:  # noqa: ANN401 (whatever the caller passes)
    if sizes is None or isinstance(sizes, tuple):
        return sizes
    try:
        return tuple(sizes)
    except TypeError:
        return sizes
