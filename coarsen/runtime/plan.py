"""Which coarsening each kernel of a program gets, and its coarsened variants, made when first needed.

A kernel has one variant for what was asked for and one for each smaller factor that some launch's sizes
called for; each is a program of a single kernel, coarsened from the source once and built for the context
once.
"""

from __future__ import annotations

import logging
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import pyopencl

from coarsen.errors import CoarsenError, DeviceError, RefusalError
from coarsen.runtime.build_options import options_of_coarsened
from coarsen.runtime.building import build_uncached
from coarsen.runtime.devices import describe_device
from coarsen.runtime.toolchain import CoarsenedKernel, Toolchain
from coarsen.transform.configuration import Coarsening, Configuration, configuration

_log = logging.getLogger("coarsen")

Form = Literal["opencl_c", "spirv"]
ORIGINAL: Configuration = ()


@dataclass(frozen=True, slots=True)
class Code:
    """A coarsened kernel as the device is given it, OpenCL C or SPIR-V, and its build options."""

    text: str | bytes
    options: tuple[str, ...]


class CoarseningPlan:
    """The plan of one built program.

    `requested` is the configuration asked for, None where it is to be predicted for the context's device;
    `options` are the build options one by one, `devices` those to build for (None: all of the context's);
    `kernels` are the names of those to coarsen.
    """

    def __init__(
        self,
        context: pyopencl.Context,
        source: str,
        options: Sequence[str],
        devices: Sequence[pyopencl.Device] | None,
        requested: Configuration | None,
        kernels: Sequence[str],
        form: Form,
        toolchain: Toolchain,
    ) -> None:
        self._context = context
        self._source = source
        self._options = tuple(options)
        self._devices = devices
        self._requested = requested
        self._kernels = frozenset(kernels)
        self._form = form
        self._toolchain = toolchain
        self._codes: dict[tuple[str, Configuration], Code] = {}
        self._programs: dict[tuple[str, Configuration], pyopencl.Program] = {}
        self._refused: set[str] = set()
        self._predicted: dict[tuple[str, tuple[int, ...] | None], Configuration] = {}
        self._said: set[Hashable] = set()

    def chosen(self, kernel: str, local_size: tuple[int, ...] | None = None) -> Configuration:
        """What the kernel is coarsened by where the sizes allow; ORIGINAL for one that stays as it is.

        `local_size` is that of the launch, None where it is left to the implementation; a predicted factor is for
        one local size.
        """
        if kernel not in self._kernels or kernel in self._refused:
            return ORIGINAL
        if self._requested is not None:
            return self._requested
        launch = kernel, local_size
        if launch not in self._predicted:
            self._predicted[launch] = self._predict(kernel, local_size)
        return self._predicted[launch]

    def coarsen_requested(self, kernel: str) -> None:
        """Coarsens the kernel as asked for, now; raises RefusalError, and leaves it original, where that
        can't be.
        """
        if not self._requested:
            return
        try:
            self._coarsen(kernel, self._requested)
        except RefusalError:
            self._refused.add(kernel)
            raise

    def variant(self, kernel: str, wanted: Configuration) -> pyopencl.Kernel | None:
        """A new kernel object of the coarsened variant; None, said once, where the kernel refuses this
        configuration.

        Raises DeviceError where the device doesn't build it.
        """
        key = (kernel, wanted)
        try:
            if key not in self._programs:
                self._programs[key] = self._build(kernel, self._coarsen(kernel, wanted))
        except RefusalError as refusal:
            self.say_once((key, refusal.code), f"kernel {kernel} stays as it is: {refusal}")
            return None
        return pyopencl.Kernel(self._programs[key], kernel)

    def say_once(self, occasion: Hashable, message: str) -> None:
        """Logs a warning, the first time that something happens."""
        if occasion not in self._said:
            self._said.add(occasion)
            _log.warning(message)

    def _predict(self, kernel: str, local_size: tuple[int, ...] | None) -> Configuration:
        try:
            predicted = self._toolchain.predict(
                self._source,
                device=describe_device(self._context.devices[0]).index,
                kernel=kernel,
                options=self._options,
                local_size=local_size,
            )
            if predicted.device_note:
                self.say_once(predicted.device_note, f"predicted factors: {predicted.device_note}")
            decided = configuration([Coarsening(predicted.factor, predicted.dimension)])
            if decided:
                self._coarsen(kernel, decided)
        except DeviceError as error:
            self.say_once(str(error), f"kernels stay as they are: {error}")
            return ORIGINAL
        except CoarsenError as error:
            # Nobody asked for a factor here: whatever stands against one, the program works as it did.
            self.say_once((kernel, str(error)), f"kernel {kernel} stays as it is: {error}")
            return ORIGINAL
        return decided

    def _coarsen(self, kernel: str, wanted: Configuration) -> Code:
        key = (kernel, wanted)
        if key not in self._codes:
            coarsened = self._toolchain.coarsen(
                self._source,
                kernel=kernel,
                factor=tuple(entry.factor for entry in wanted),
                dim=tuple(entry.dimension for entry in wanted),
                stride=tuple(entry.stride for entry in wanted),
                options=self._options,
            )
            self._codes[key] = self._code_of(coarsened)
        return self._codes[key]

    def _code_of(self, coarsened: CoarsenedKernel) -> Code:
        options = options_of_coarsened(self._options)
        if self._form == "spirv":
            return Code(coarsened.spirv, tuple(option for option in options if option != "-cl-kernel-arg-info"))
        return Code(coarsened.opencl_c, (*options, coarsened.opencl_c_standard))

    def _build(self, kernel: str, code: Code) -> pyopencl.Program:
        try:
            return build_uncached(self._context, code.text, code.options, self._devices)
        except pyopencl.Error as error:
            raise DeviceError(f"the device does not build the coarsened kernel {kernel}: {error}") from error
