"""Policies that guess, and policies one after the other."""

from __future__ import annotations

import logging
from collections.abc import Hashable, Iterable

from coarsen.devices.discovery import describe_device
from coarsen.errors import CoarsenError, DeviceError
from coarsen.runtime.advice import GUESS, Decision, KernelFile, LaunchRequest, Policy
from coarsen.variant.coarsening import Coarsening, Configuration, configuration
from coarsen.variant.variant import Variant

_log = logging.getLogger("coarsen")


class FirstOf(Policy):
    """Decides as the first of several policies that does."""

    def __init__(self, *policies: Policy) -> None:
        self._policies = policies

        self.looks_at_arguments = any(policy.looks_at_arguments for policy in policies)

    def file_of(self, kernel: str) -> KernelFile | None:
        """Return the first tuned file that one of them has for a kernel."""
        return next(filter(None, (policy.file_of(kernel) for policy in self._policies)), None)

    def requested(self, kernel: str) -> Configuration | None:
        """Return what the first of them that is asked for something is asked for."""
        asked = (policy.requested(kernel) for policy in self._policies)
        return next((each for each in asked if each is not None), None)

    def known_variants(self, request: LaunchRequest) -> Iterable[Variant]:
        """Return what any of them knows."""
        return [variant for policy in self._policies for variant in policy.known_variants(request)]

    def choose(self, request: LaunchRequest) -> Decision | None:
        """Return the first decision; None where none of them has one."""
        decisions = (policy.choose(request) for policy in self._policies)
        return next((decision for decision in decisions if decision is not None), None)


class Predicted(Policy):
    """Decides by the factor that is predicted for a launch's device and local size: a guess."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Decision | CoarsenError] = {}
        self._said: set[str] = set()

    def choose(self, request: LaunchRequest) -> Decision:
        """Return the factor, or that the kernel stays as it is where the device is not known.

        Raises:
            CoarsenError: nothing can be predicted for the kernel.
        """
        launch = request.launch
        key = request.source, request.options, request.kernel, launch.local_size, launch.device.int_ptr
        if key not in self._known:
            try:
                self._known[key] = self._predicted(request)
            except CoarsenError as error:
                self._known[key] = error
        found = self._known[key]
        if isinstance(found, CoarsenError):
            raise found
        return found

    def _predicted(self, request: LaunchRequest) -> Decision:
        assert request.toolchain is not None, "a program's launches have its toolchain"
        try:
            device = describe_device(request.launch.device).index
            predicted = request.toolchain.predict(
                request.source, request.options, request.kernel, device, request.launch.local_size
            )
        except DeviceError as error:
            self._say(f"kernels stay as they are: {error}")
            return Decision(Variant(), str(error), is_programs=True)
        decided = configuration([Coarsening(predicted.factor, predicted.dimension)])
        return Decision(Variant(coarsenings=decided), GUESS, is_programs=True)

    def _say(self, message: str) -> None:
        """Log a warning, once."""
        if message not in self._said:
            self._said.add(message)
            _log.warning(message)
