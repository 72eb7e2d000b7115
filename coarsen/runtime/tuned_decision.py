"""The way one launch of a tuned kernel is carried out."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import pyopencl

from coarsen.runtime.arguments import Argument
from coarsen.runtime.launch import DividedLaunch
from coarsen.runtime.launches import LaunchedVariant
from coarsen.runtime.sizes import Sizes
from coarsen.runtime.tuned_versions import BuiltVersion

PassedSizes = tuple[Sizes, Sizes | None]
NO_MEMORY: Mapping[int, pyopencl.LocalMemory] = MappingProxyType({})


class Decision(NamedTuple):
    """The way a launch is carried out.

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
