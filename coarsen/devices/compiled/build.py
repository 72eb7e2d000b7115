"""Programs that a device's compiler is given, and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProgramText:
    """A program to compile for its facts.

    Args:
        kernel: the name of the kernel that is looked at.
        source: OpenCL C.
        options: build options, one by one.
        local_size: of the launch, in work-items; empty where it isn't known.
    """

    kernel: str
    source: str
    options: tuple[str, ...] = ()
    local_size: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Build:
    """A built program.

    Args:
        program: what was built.
        kernels: the names of all its kernels.
        log: the build log.
        output: what the driver printed while it compiled.
        binary: the program's binary; empty where the driver gives none.
        capability: NVIDIA's compute capability of the device; None of others.
    """

    program: ProgramText
    kernels: tuple[str, ...]
    log: str
    output: str
    binary: bytes
    capability: tuple[int, int] | None = None

    @property
    def is_of_one_kernel(self) -> bool:
        """Return True if the log can speak of no other kernel."""
        return len(self.kernels) == 1
