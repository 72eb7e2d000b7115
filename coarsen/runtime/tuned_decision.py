"""A launch of a tuned kernel as it is asked for, and the way it is carried out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

import pyopencl

from coarsen.dispatch.launch_sequence import SequenceSizes
from coarsen.runtime.arguments import Argument
from coarsen.runtime.launch import DividedLaunch
from coarsen.runtime.launches import LaunchedVariant
from coarsen.runtime.sizes import PassedSizes, Sizes
from coarsen.runtime.tuned_versions import BuiltSequence, BuiltVersion

NO_MEMORY: Mapping[int, pyopencl.LocalMemory] = MappingProxyType({})
NO_FEATURES: Mapping[str, float] = MappingProxyType({})


class Asked(NamedTuple):
    """A launch as it is asked for.

    `device` is that of its queue, `arguments` are the kernel's own. `passed` are its sizes, for the default
    version, None where they are to be those of the file; `supplied` are features that the caller supplies;
    `has_offset` says that the first work-item isn't the one at 0. `local_places` are the indices of arguments that
    are local memory.
    """

    device: pyopencl.Device
    arguments: tuple[Argument, ...]
    passed: PassedSizes | None
    supplied: Mapping[str, float] = NO_FEATURES
    has_offset: bool = False
    local_places: tuple[int, ...] = ()


class Decision(NamedTuple):
    """The way one launch is carried out.

    `version` is what is launched, None for the program's own kernel as it is written, with `global_size` and
    `local_size` as it is given to the driver. `asked` are the sizes that were passed, else the default version's;
    `launched` is the coarsened variant, None for a version as it is written; `added` are the arguments after the
    kernel's own, `local_memory` is passed in place of the caller's, by index. `divided` is how the launch was
    weighed, None where that was simple.
    """

    version: BuiltVersion | None
    global_size: Sizes
    local_size: Sizes | None
    asked: PassedSizes
    divided: DividedLaunch | None
    launched: LaunchedVariant | None = None
    added: tuple[Argument, ...] = ()
    local_memory: Mapping[int, pyopencl.LocalMemory] = NO_MEMORY

    def shown(self) -> DividedLaunch:
        """Return this as observers are shown it."""
        if self.divided is not None:
            return self.divided
        variant = None if self.launched is None else self.launched.variant
        merged, transforms = ((), None) if variant is None else (variant.coarsenings, variant.transforms)
        return DividedLaunch(self.global_size, self.local_size, merged, transforms=transforms)


class SequenceDecision(NamedTuple):
    """The way a launch is carried out by several, which run as they are written.

    `asked` are the sizes that were passed, else the default version's. `otherwise` decides, for a reason, what is
    launched where these can't be.
    """

    version: BuiltSequence
    sizes: SequenceSizes
    asked: PassedSizes
    otherwise: Callable[[str], Decision]

    def shown(self) -> DividedLaunch:
        """Return this as observers are shown it: the last of the launches."""
        last = self.sizes.launches[-1]
        reason = (
            f"{len(self.sizes.launches)} launches, as the tuned file chooses: {', '.join(self.version.kernels)}"
        )
        return DividedLaunch(last.global_size or (), last.local_size, (), reason=reason)


AnyDecision: TypeAlias = Decision | SequenceDecision
