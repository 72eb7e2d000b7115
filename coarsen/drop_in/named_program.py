"""The name `pyopencl.Program`, given for a while to a class whose programs from source are coarsened.

PyOpenCL's own modules, and programs that nobody wrote for this tool, find the class by this name. What is from
binaries, SPIR-V or a raw program is PyOpenCL's own, and so are the programs of this package.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

import pyopencl

from coarsen.base.bug_report import words_of
from coarsen.devices.building import PlainProgram
from coarsen.drop_in.program import Program as DropIn
from coarsen.drop_in.program import kernel_of, source_of
from coarsen.errors import CoarsenError
from coarsen.runtime.advice import LaunchObserver, Policy
from coarsen.runtime.code import BuildOptions
from coarsen.runtime.pyopencl_names import launch_ours_through_pyopencl, names_as_before
from coarsen.runtime.text_cache.store import CacheFolder

_log = logging.getLogger("coarsen")

# Returns what sees the launches of a program, by its source.
ObserverOf = Callable[[str], LaunchObserver]


@contextmanager
def programs_are_coarsened(policy: Policy, observer_of: ObserverOf) -> Iterator[None]:
    """Coarsen the programs that are made from source by the name `pyopencl.Program` while the context lasts.

    `pyopencl.Kernel` and `pyopencl.enqueue_nd_range_kernel` know them from the start, so that a program may take
    these names before it makes one.

    Args:
        policy: decides how launches are carried out.
        observer_of: makes what sees them.
    """
    names = vars(pyopencl)
    before = names["Program"]
    with names_as_before():
        launch_ours_through_pyopencl(kernel_of)
        names["Program"] = _class_of_programs(policy, observer_of)
        try:
            yield
        finally:
            names["Program"] = before


def _class_of_programs(policy: Policy, observer_of: ObserverOf) -> type[DropIn]:
    """Return a class that stands for PyOpenCL's wherever a class can."""
    process = os.getpid()

    class ClassOfPrograms(type):
        def __call__(cls, *arguments: Any, **named: Any) -> Any:  # noqa: ANN401 (whatever PyOpenCL takes)
            is_ours = source_of(*arguments) is not None and os.getpid() == process
            if cls is not Program or is_ours:
                return super().__call__(*arguments, **named)
            return PlainProgram(*arguments, **named)

        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, PlainProgram) if cls is Program else super().__instancecheck__(instance)

        def __subclasscheck__(cls, subclass: type) -> bool:
            return issubclass(subclass, PlainProgram) if cls is Program else super().__subclasscheck__(subclass)

    class Program(DropIn, metaclass=ClassOfPrograms):
        __doc__ = PlainProgram.__doc__

        def __init__(
            self,
            context: Any,  # noqa: ANN401 (PyOpenCL's own; classes derived from it pass it on)
            source: str | bytes | Sequence[pyopencl.Device] | None = None,
            binaries: Sequence[bytes] | None = None,
        ) -> None:
            text = source_of(context, source, binaries)
            observer = None if text is None else observer_of(text)
            super().__init__(context, source, binaries, tune=policy, observer=observer)

        def build(
            self,
            options: BuildOptions = None,
            devices: Sequence[pyopencl.Device] | None = None,
            cache_dir: CacheFolder = None,
        ) -> Self:
            try:
                return super().build(options, devices, cache_dir)
            except CoarsenError as error:
                # PyOpenCL has built it.
                _log.warning("a program is not coarsened: %s", words_of(error))
                self._text = self._plan = None
                return self

    Program.__qualname__, Program.__module__ = PlainProgram.__qualname__, PlainProgram.__module__
    return Program
