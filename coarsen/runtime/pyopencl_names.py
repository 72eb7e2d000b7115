"""PyOpenCL's `Kernel` and `enqueue_nd_range_kernel` for kernels of a `coarsen.Program`.

Both are code outside of Python that knows nothing of coarsened kernels, so the names in the module `pyopencl` are
given to functions of this module when the first `coarsen.Program` is made. What isn't ours goes on to what the
name was before. A name that was taken earlier (`from pyopencl import Kernel`) still means PyOpenCL's own, and runs
the original.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from inspect import isfunction
from typing import Any

import pyopencl

from coarsen.runtime.arguments import PLAIN
from coarsen.runtime.kernel import Kernel

# Returns our kernel of a program by its name; None for a program that isn't ours.
KernelOf = Callable[[Any, str], Kernel | None]


@cache
def launch_ours_through_pyopencl(kernel_of: KernelOf) -> None:
    """Let `pyopencl.Kernel` make, and `pyopencl.enqueue_nd_range_kernel` launch, kernels of ours; done once."""
    names = vars(pyopencl)
    names["Kernel"] = _class_of_kernels(names["Kernel"], kernel_of)
    names["enqueue_nd_range_kernel"] = _launch(names["enqueue_nd_range_kernel"])


def _launch(of_others: Callable[..., pyopencl.Event]) -> Callable[..., pyopencl.Event]:
    def enqueue_nd_range_kernel(
        queue: pyopencl.CommandQueue,
        kernel: pyopencl.Kernel,
        *args: Any,  # noqa: ANN401 (PyOpenCL's own)
        **options: Any,  # noqa: ANN401
    ) -> pyopencl.Event:
        if isinstance(kernel, Kernel):
            return kernel.enqueue(queue, *args, **options)
        return of_others(queue, kernel, *args, **options)

    enqueue_nd_range_kernel.__doc__ = of_others.__doc__
    return enqueue_nd_range_kernel


def _of_either(ours: Callable[..., Any], of_others: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that is called as the class's: `pyopencl.Kernel.set_arg(kernel, 0, value)`."""

    @wraps(of_others, updated=())
    def method(kernel: Any, *args: Any, **options: Any) -> Any:  # noqa: ANN401 (PyOpenCL's own)
        return (ours if isinstance(kernel, Kernel) else of_others)(kernel, *args, **options)

    return method


def _own_member(name: str) -> object:
    """Return what our kernels have in place of PyOpenCL's; None if nothing."""
    ours = (each for each in Kernel.__mro__ if each not in PLAIN.__mro__)
    return next((vars(each)[name] for each in ours if name in vars(each)), None)


def _class_of_kernels(plain: Any, kernel_of: KernelOf) -> Any:  # noqa: ANN401 (its metaclass admits no subclass)
    """Return a class that stands for PyOpenCL's `plain` wherever a class can, and makes kernels of ours too."""

    class ClassOfKernels(type):
        def __new__(cls, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> Any:  # noqa: ANN401
            if not bases:
                return super().__new__(cls, name, bases, members)
            # A class derived from it is derived from PyOpenCL's.
            own = tuple(plain if isinstance(base, ClassOfKernels) else base for base in bases)
            return type(plain)(name, own, members)

        def __call__(cls, program: Any, name: str, /) -> Any:  # noqa: ANN401
            ours = kernel_of(program, name)
            return plain(program, name) if ours is None else ours

        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, plain)

        def __subclasscheck__(cls, subclass: type) -> bool:
            return subclass is cls or issubclass(subclass, plain)

        def __getattribute__(cls, name: str) -> Any:  # noqa: ANN401
            own = _own_member(name)
            return _of_either(own, getattr(plain, name)) if isfunction(own) else getattr(plain, name)

        def __setattr__(cls, name: str, value: Any) -> None:  # noqa: ANN401
            setattr(plain, name, value)

        def __dir__(cls) -> list[str]:
            return dir(plain)

        def __eq__(cls, other: object) -> bool:
            return other is cls or other is plain

        def __hash__(cls) -> int:
            return hash(plain)

    return ClassOfKernels("Kernel", (), {})
