"""The protocols through which others say how a launch is to be carried out, and see how each was.

    program that is built       ─▶ Policy.known_variants(LaunchRequest) ─▶ built with it
    launch that isn't known yet ─▶ Policy.choose(LaunchRequest)         ─▶ Decision, or None: there is none
    every launch                ─▶ LaunchObserver.launched(kernel, original, divided)

Before a launch such an observer may ask to read its buffers.

A decision is a wish. What doesn't fit a launch is weakened as a requested factor is: to a smaller factor, to the
launch's own local size, to the original kernel; but where it is exact, to the original kernel at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import pyopencl

from coarsen.errors import InvalidInputError
from coarsen.runtime.arguments import Argument
from coarsen.runtime.launch import DividedLaunch, OriginalLaunch, OwnLaunch, PassedSizes, Sizes
from coarsen.runtime.text_cache.store import CacheFolder
from coarsen.variant.coarsening import Configuration
from coarsen.variant.transforms import Transforms
from coarsen.variant.variant import Variant

if TYPE_CHECKING:
    from coarsen.runtime.toolchain import Toolchain


# A program may set an event only after the launch that waits for it: nobody may wait for ever.
PATIENCE = 10.0
# From then on: whoever launches much before anything runs must not wait so long each time.
IMPATIENCE = 0.05


class LaunchRequest(NamedTuple):
    """A launch as a program asks for it: what a policy decides about, and observers see.

    Args:
        source: OpenCL C.
        options: the build options, one by one.
        kernel: the kernel's name.
        launch: sizes and device.
        transforms: those that the program allows, for the kind of its device.
        queue: where the launch goes, where all that it waits for is over and its arguments may be read; else None.
        arguments: the kernel's arguments in their order, numbers maybe as the bytes that are passed; None where
            they aren't known.
        offset: of the first work-item, in work-items; None for none.
        cache_dir: of what is found out about the source, as `pyopencl.Program.build` takes it.
        toolchain: coarsens and predicts for the program; None where it isn't known.
    """

    source: str
    options: tuple[str, ...]
    kernel: str
    launch: OriginalLaunch
    transforms: Transforms
    queue: pyopencl.CommandQueue | None = None
    arguments: tuple[Argument, ...] | None = None
    offset: Sizes | None = None
    cache_dir: CacheFolder = None
    toolchain: Toolchain | None = None


class Decision(NamedTuple):
    """The way in which a launch is to be carried out.

    Args:
        variant: its coarsenings, none for the original kernel; its transforms, apart from the kind of device; its
            local size, that of the launch before coarsening, empty for the program's own; its macros, where `own`
            is there. `any_size` is decided by the launch, unless it is set.
        reason: why, in one phrase, for people; empty where the program knows.
        is_exact: whether the original kernel runs where the launch or the device don't allow exactly this variant:
            what was measured says nothing of others.
        is_programs: whether the coarsenings alone were chosen, and the rest is as the program says.
        own: what it is launched with in the place of what the program passes; None where that is the program's.
        otherwise: decides, by a reason, where this can't be launched; None where the driver is to say so.
    """

    variant: Variant
    reason: str
    is_exact: bool = False
    is_programs: bool = False
    own: OwnLaunch | None = None
    otherwise: Callable[[str], Decision] | None = None


class LaunchRefusedError(InvalidInputError):
    """A launch that nothing may carry out: what it asks for could be meant for two kernels."""


# Numbers that a decision depends on, None for those without a value.
Numbers: TypeAlias = tuple[float | None, ...]


class KernelFile:
    """What a tuned file says of the launches of one kernel.

    Attributes:
        looks_at_arguments: whether a version is searched for, of which what is passed is read.
    """

    looks_at_arguments = False

    def numbers(self, arguments: tuple[Argument, ...]) -> Numbers:
        """Return the numbers of arguments that a decision depends on: launches with others are other launches."""
        raise NotImplementedError

    def sizes(self, numbers: Numbers) -> PassedSizes:
        """Return the sizes of a launch with these numbers; raises InvalidInputError where the file has none."""
        raise NotImplementedError

    def explain(self, values: Mapping[str, float]) -> Any:  # noqa: ANN401 (a `TunedExplanation`)
        """Return what is chosen for numbers by name, and why; raises InvalidInputError for other names."""
        raise NotImplementedError


class Policy:
    """Decides how launches are to be carried out.

    Attributes:
        looks_at_arguments: whether it may read what a launch is given: all that the launch waits for is waited for
            then.
    """

    looks_at_arguments = False

    def file_of(self, kernel: str) -> KernelFile | None:
        """Return the tuned file that a kernel is decided about by; None where there is none."""
        return None

    def requested(self, kernel: str) -> Configuration | None:
        """Return what is asked for of a kernel, whatever its launch; None where launches decide."""
        return None

    def known_variants(self, request: LaunchRequest) -> Iterable[Variant]:
        """Return variants that launches of a kernel may call for, as far as they are known before any is made.

        The sizes of the request don't count, only its kernel and its device.
        """
        return ()

    def choose(self, request: LaunchRequest) -> Decision | None:
        """Return the variant for a launch; None where another policy is to decide.

        Asked once for a program's launches of one kernel, device, sizes and local memory; once more where that was
        without arguments, and they are there now. A CoarsenError or an error of PyOpenCL's is said once, and the
        kernel stays as it is; but a LaunchRefusedError ends the launch.
        """
        raise NotImplementedError


class LaunchObserver(Protocol):
    """Sees launches."""

    def launched(self, kernel: str, original: OriginalLaunch, divided: DividedLaunch) -> None:
        """See a launch that was made: what was asked for, and how it was carried out."""
        ...
