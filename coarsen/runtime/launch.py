"""The launch contract: from the sizes of an original launch to those of its coarsened kernel.

A kernel coarsened by factor F with stride S along dimension d does the work of F work-items of one work-group
in one; at the level of work-groups, that of F work-groups:

    original    global G,    local L        work-items: F divides G and L, S divides L/F
    coarsened   global G/F,  local L/F
    coarsened   global G/F,  local L        work-groups: F divides G/L

Where the sizes don't divide, the largest smaller factor that does is taken (with the same stride), down to
factor 1, which is the original kernel; a guarded kernel (`guarded_launch.py`) keeps the factor. A launch is never
wrong, at worst it isn't coarsened.
"""

from __future__ import annotations

import enum
import math
import operator
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from coarsen.variant.coarsening import Coarsening, Configuration, Level
from coarsen.variant.transforms import DEFAULT, Transforms

if TYPE_CHECKING:
    import pyopencl

    from coarsen.dispatch.launch_sizes import SequenceSizes
    from coarsen.variant.data_plan import ArrayPlan
    from coarsen.variant.variant import Definitions, PassedArgument, Variant


class Hindrance(enum.Enum):
    """The kind of reason for which a launch isn't what was asked for; what is said once is said once for each."""

    SIZES = enum.auto()
    STRIDES = enum.auto()
    WORK_GROUP_SIZE = enum.auto()
    LOCAL_MEMORY = enum.auto()


class DividedLaunch(NamedTuple):
    """The way a launch is carried out.

    `coarsenings` are those of the kernel to launch, none where nothing is merged (the sizes are then the
    caller's, or, where it is `regrouped`, with another local size); `guarded` says whether it is the variant for
    any size. `note` says in one line why it isn't what was asked for, None where it is, and where there is nothing
    to merge; `hindrance` is the kind of that reason. Where a policy chose, `transforms` are those of the variant
    and `reason` says why; else None. `arrays` are the array plans that the variant is for; `own` is there where
    it is launched with other sizes or macros than the program's.
    """

    global_size: Sizes
    local_size: Sizes | None
    coarsenings: Configuration
    note: str | None = None
    guarded: bool = False
    hindrance: Hindrance | None = None
    regrouped: bool = False
    transforms: Transforms | None = None
    reason: str | None = None
    arrays: tuple[ArrayPlan, ...] = ()
    own: OwnLaunch | None = None

    @property
    def is_rewritten(self) -> bool:
        """Return True unless it is the original kernel that is launched."""
        return bool(self.coarsenings) or (self.transforms or DEFAULT).without_merging != DEFAULT

    @property
    def steps(self) -> SequenceVersion | None:
        """Return the version of several launches that is launched; None where it is one launch."""
        return None if self.own is None else self.own.steps


def divide_launch(
    global_size: Sizes,
    local_size: Sizes | None,
    coarsenings: Sequence[Coarsening],
    limits: LaunchLimits,
    groups_matter: bool = False,
) -> DividedLaunch:
    """Return the launch that does the work of the original launch with a coarsened kernel, by factors that divide.

    `global_size` and `local_size` (None: left to the implementation) are the original's, in work-items, one to
    three dimensions; `coarsenings` what is asked for, at most one per dimension and level. Where the local size is
    open it stays open for work-items at stride 1, unless the kernel looks at its work-groups (`groups_matter`);
    else one is chosen within `limits`, those of the device and of the original kernel.
    """
    wanted = tuple(coarsening for coarsening in coarsenings if coarsening.factor > 1)
    if not wanted or not is_plain(global_size, local_size):
        return DividedLaunch(global_size, local_size, ())
    if local_size is None and (groups_matter or any(entry.level is Level.GROUP for entry in wanted)):
        chosen = local_size_of_original(global_size, wanted, limits)
        if chosen is None:
            return _no_group_holds(global_size, wanted)
        divided = _divided(global_size, chosen, wanted)
        return divided if divided.coarsenings else divided._replace(local_size=None)
    if local_size is not None:
        return _divided(global_size, local_size, wanted)
    return _divided_openly(global_size, wanted, limits)


def _divided(global_size: Sizes, local_size: Sizes, wanted: Configuration) -> DividedLaunch:
    fitted = (_fit(coarsening, global_size, local_size) for coarsening in wanted)
    used = tuple(coarsening for coarsening in fitted if coarsening is not None)
    items = tuple(coarsening for coarsening in used if coarsening.level is Level.ITEM)
    is_lone = all(_is_lone_group(coarsening, global_size, local_size) for coarsening in wanted)
    note = None if is_lone else _note(global_size, local_size, wanted, used)
    divided = DividedLaunch(_quotients(global_size, used), _quotients(local_size, items), used)
    return divided if note is None else divided._replace(note=note, hindrance=Hindrance.SIZES)


def _is_lone_group(coarsening: Coarsening, global_size: Sizes, local_size: Sizes) -> bool:
    """Return True if there is one work-group along the dimension, and so none to merge it with."""
    dimension = coarsening.dimension
    is_there = coarsening.level is Level.GROUP and dimension < len(global_size)
    return is_there and global_size[dimension] == local_size[dimension]


def _divided_openly(global_size: Sizes, wanted: Configuration, limits: LaunchLimits) -> DividedLaunch:
    """For work-items of kernels that any local size suits: only strides need one."""
    fitted = (_fit_open(coarsening, global_size, limits) for coarsening in wanted)
    used = tuple(coarsening for coarsening in fitted if coarsening is not None)
    divided, local_size = _quotients(global_size, used), None
    if any(coarsening.stride > 1 for coarsening in used):
        local_size = local_size_of_coarsened(divided, used, limits)
        if local_size is None:
            return _no_group_holds(global_size, wanted)
    note = _note(global_size, None, wanted, used)
    return DividedLaunch(divided, local_size, used, note, hindrance=None if note is None else Hindrance.SIZES)


def _fit(coarsening: Coarsening, global_size: Sizes, local_size: Sizes) -> Coarsening | None:
    """Return the coarsening with the largest factor up to its own that divides the sizes; None if only 1 does."""
    dimension = coarsening.dimension
    if dimension >= len(global_size):
        return None
    if coarsening.level is Level.GROUP:
        return _largest(coarsening, global_size[dimension] // local_size[dimension])
    # The local size divides the global size, so a factor that divides the first divides the second.
    return _largest(coarsening, local_size[dimension])


def _fit_open(coarsening: Coarsening, global_size: Sizes, limits: LaunchLimits) -> Coarsening | None:
    """As `_fit`; a local size that the stride divides must exist: the smallest is the stride itself."""
    dimension = coarsening.dimension
    if dimension >= len(global_size) or coarsening.stride > limits.max_work_item_sizes[dimension]:
        return None
    return _largest(coarsening, global_size[dimension])


def _largest(coarsening: Coarsening, extent: int) -> Coarsening | None:
    for factor in range(min(coarsening.factor, extent), 1, -1):
        if extent % factor == 0 and (extent // factor) % coarsening.stride == 0:
            return replace(coarsening, factor=factor)
    return None


def merged_sizes(local_size: Sizes, coarsenings: Configuration) -> Sizes:
    """Return the local size of a coarsened launch; the original's where it does not divide.

    Args:
        local_size: the original's, in work-items.
        coarsenings: of work-items, and of work-groups, which leave it as it is.
    """
    items = tuple(entry for entry in coarsenings if entry.level is Level.ITEM)
    if any(entry.dimension >= len(local_size) or local_size[entry.dimension] % entry.factor for entry in items):
        return local_size
    return _quotients(local_size, items)


def unmerged_size(launch: DividedLaunch) -> Sizes | None:
    """Return the local size of a divided launch's original; None where the driver chooses it."""
    if launch.local_size is None or launch.guarded:
        return launch.local_size
    sizes = list(launch.local_size)
    for entry in launch.coarsenings:
        if entry.level is Level.ITEM:
            sizes[entry.dimension] *= entry.factor
    return tuple(sizes)


def _quotients(sizes: Sizes, coarsenings: Configuration) -> Sizes:
    divided = list(sizes)
    for coarsening in coarsenings:
        divided[coarsening.dimension] //= coarsening.factor
    return tuple(divided)


def _no_group_holds(global_size: Sizes, wanted: Configuration) -> DividedLaunch:
    note = f"no work-group holds the strides of {names_of(wanted)}"
    return DividedLaunch(global_size, None, (), note, hindrance=Hindrance.STRIDES)


def _note(global_size: Sizes, local_size: Sizes | None, wanted: Configuration, used: Configuration) -> str | None:
    if wanted == used:
        return None
    sizes = f"global size {global_size}, local size {local_size or 'open'}"
    return f"{sizes} does not divide by {names_of(wanted)}: launched with {names_of(used)}"


def names_of(coarsenings: Configuration) -> str:
    """Return a configuration in words."""
    return ", ".join(str(coarsening) for coarsening in coarsenings) or "the original kernel"


# Sizes of launches: what a device takes, and whether every work-group of a launch is whole.

Sizes: TypeAlias = tuple[int, ...]
# The global size and the local size of a launch; None leaves this to the driver.
PassedSizes: TypeAlias = tuple[Sizes, Sizes | None]

# Of an NDRange.
MOST_DIMENSIONS = 3
# Of a launch whose sizes nobody has passed: with one each nanosecond they take three days.
MOST_WORK_ITEMS = 2**48


class LaunchLimits(NamedTuple):
    """The limits of a device: work-items per work-group, in all and per dimension; the bits of an id."""

    max_work_group_size: int
    max_work_item_sizes: Sizes
    address_bits: int = 64


def is_plain(global_size: Sizes, local_size: Sizes | None) -> bool:
    """Return True if there is work and every work-group is whole; False also for what OpenCL rejects."""
    if not has_work(global_size, local_size):
        return False
    return local_size is None or all(
        whole % part == 0 for whole, part in zip(global_size, local_size, strict=True)
    )


def has_work(global_size: Sizes, local_size: Sizes | None) -> bool:
    """Return True if all sizes are positive, and there are as many of one kind as of the other, up to three."""
    if min(global_size, default=0) < 1 or len(global_size) > MOST_DIMENSIONS:
        return False
    return local_size is None or (len(local_size) == len(global_size) and min(local_size) >= 1)


def fits(local_size: Sizes, limits: LaunchLimits) -> bool:
    """Return True if a work-group of this size is within the limits."""
    is_small = math.prod(local_size) <= limits.max_work_group_size
    return is_small and all(
        size <= most for size, most in zip(local_size, limits.max_work_item_sizes, strict=False)
    )


def plain_sizes(
    global_size: Sequence[int], local_size: Sequence[int] | None, g_times_l: bool
) -> tuple[Sizes, Sizes | None]:
    """Return both sizes as tuples, the global one in work-items; raises TypeError where they are no whole numbers.

    With `g_times_l`, as PyOpenCL has it, the global size is given in work-groups.
    """
    whole = tuple(map(operator.index, global_size))
    if local_size is None:
        return whole, None
    local = tuple(map(operator.index, local_size))
    if g_times_l:
        dimensions = max(len(whole), len(local))
        whole += (1,) * (dimensions - len(whole))
        local += (1,) * (dimensions - len(local))
        whole = tuple(groups * size for groups, size in zip(whole, local, strict=True))
    return whole, local


def plain_offset(
    global_offset: Sequence[int] | None, local_size: Sequence[int] | None, g_times_l: bool
) -> Sequence[int] | None:
    """Return the offset in work-items; with `g_times_l`, as PyOpenCL has it, it is given in work-groups."""
    if global_offset is None or local_size is None or not g_times_l:
        return global_offset
    offset, local = tuple(global_offset), tuple(local_size)
    local += (1,) * (len(offset) - len(local))
    return tuple(groups * size for groups, size in zip(offset, local, strict=False))


# A launch as the program asks for it.


class OriginalLaunch(NamedTuple):
    """A launch of the original kernel: sizes in work-items (local None: left to the implementation), and the
    bytes of local memory that its arguments give a work-group.

    `numbers` are those of its arguments that a policy decides by, and last whether it has an offset.
    """

    device: pyopencl.Device
    global_size: Sizes
    local_size: Sizes | None
    local_bytes: int = 0
    numbers: tuple[float | None, ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class SequenceVersion:
    """A version of several launches.

    Args:
        kernels: one object for each launch, as it is written, which tells what it needs, and of whose programs
            others are made.
        passed: the arguments of each.
        coarsened: of each the launches of its kernel (`KernelLaunches`), and the variant by which it is carried
            out; None where it stays as it is written.
        unused: kernel objects, with scratch, that nobody uses at present.
    """

    kernels: tuple[pyopencl.Kernel, ...]
    passed: tuple[tuple[PassedArgument, ...], ...]
    coarsened: tuple[tuple[Any, Variant] | None, ...]
    unused: deque[Any] = field(default_factory=deque)


class OwnLaunch(NamedTuple):
    """What a version is launched with in the place of what the program passes.

    Args:
        launch: its sizes, before anything is merged, and its local memory.
        definitions: its macros, in the place of the program's.
        local_memory: bytes of arguments that are local memory, by index; of several launches the caller's.
        steps: the launches that it takes where these are several; `launch` has then the sizes of the last.
        sizes: of each of these.
    """

    launch: OriginalLaunch
    definitions: Definitions = ()
    local_memory: tuple[tuple[int, int], ...] = ()
    steps: SequenceVersion | None = None
    sizes: SequenceSizes | None = None

    def __hash__(self) -> int:
        # The sizes hold local memory by index, in dictionaries.
        return hash(self[:-1])


def required_local_size(kernel: pyopencl.Kernel, device: pyopencl.Device, dimensions: int = 3) -> Sizes | None:
    """Return a kernel's `reqd_work_group_size`, cut to a launch's dimensions; None where it has none."""
    # Imported late: sizes are divided without it.
    import pyopencl

    required = kernel.get_work_group_info(pyopencl.kernel_work_group_info.COMPILE_WORK_GROUP_SIZE, device)
    return tuple(int(size) for size in required[:dimensions]) if any(required) else None


def limits_of(device: pyopencl.Device, kernel: pyopencl.Kernel) -> LaunchLimits:
    """Return the limits of a device and a kernel on it."""
    # Imported late: sizes are divided without it.
    import pyopencl

    items = int(kernel.get_work_group_info(pyopencl.kernel_work_group_info.WORK_GROUP_SIZE, device))
    most = min(items, int(device.max_work_group_size))
    return LaunchLimits(most, tuple(device.max_work_item_sizes), int(device.address_bits))


# The local size of a coarsened launch whose caller leaves it to the driver.
#
# Work-items at a stride above 1 need a coarsened local size that the stride divides; whole work-groups, and
# kernels that look at theirs, need one that the original launch could have had: it divides the original global
# size and is within the limits of the original kernel.

# Larger work-groups gain nothing more.
PREFERRED_WORK_GROUP_SIZE = 256


def local_size_of_coarsened(global_size: Sizes, coarsenings: Configuration, limits: LaunchLimits) -> Sizes | None:
    """Return a coarsened local size that divides the coarsened global size and that every stride divides.

    None where there is none. Starts at the strides and grows, dimension 0 first, to the preferred size.
    """
    strides = [1] * len(global_size)
    for coarsening in coarsenings:
        strides[coarsening.dimension] = coarsening.stride
    return _grown(global_size, strides, [1] * len(global_size), PREFERRED_WORK_GROUP_SIZE, limits)


def local_size_of_original(global_size: Sizes, wanted: Configuration, limits: LaunchLimits) -> Sizes | None:
    """Return a local size for the original launch that lets it be coarsened; None where its limits allow none.

    It divides the global size; F·S divides it where work-items are merged (for the largest F that can), and F
    divides the number of work-groups where these are, if that can be.
    """
    units, groups, preferred = [1] * len(global_size), [1] * len(global_size), PREFERRED_WORK_GROUP_SIZE
    for coarsening in wanted:
        dimension = coarsening.dimension
        if dimension >= len(global_size):
            continue
        if coarsening.level is Level.GROUP:
            groups[dimension] = coarsening.factor
        else:
            factor = _dividing_factor(coarsening, global_size[dimension])
            units[dimension] = factor * coarsening.stride if factor > 1 else 1
            preferred *= factor
    return _grown(global_size, units, groups, preferred, limits)


def _dividing_factor(coarsening: Coarsening, extent: int) -> int:
    factors = range(min(coarsening.factor, extent), 1, -1)
    return next((factor for factor in factors if extent % (factor * coarsening.stride) == 0), 1)


def _grown(
    global_size: Sizes, units: Sequence[int], groups: Sequence[int], preferred: int, limits: LaunchLimits
) -> Sizes | None:
    """Return a local size of multiples of `units`, as large as is allowed, dimension 0 first.

    None if they are too large.

    It divides the global size, so that the number of work-groups is a multiple of `groups` if that can be.
    """
    allowed = limits.max_work_item_sizes
    if math.prod(units) > limits.max_work_group_size or any(u > a for u, a in zip(units, allowed, strict=False)):
        return None
    budget = min(preferred, limits.max_work_group_size)
    local = list(units)
    for dimension, (extent, unit) in enumerate(zip(global_size, units, strict=True)):
        others = math.prod(local) // unit
        local[dimension] = _best(extent, unit, groups[dimension], min(budget // others, allowed[dimension]))
    return tuple(local)


def _best(extent: int, unit: int, groups: int, most: int) -> int:
    """Return the largest multiple of `unit` that divides the extent and leaves enough work-groups to merge."""

    def rank(size: int) -> tuple[bool, bool, int]:
        count = extent // size
        return count % groups == 0, count >= groups, size

    sizes = [size for size in range(unit, most + 1, unit) if extent % size == 0]
    return max(sizes, key=rank, default=unit)


def problem_of_launch(
    kernel: pyopencl.Kernel, launch: OriginalLaunch, is_coarsened: bool = False, any_groups: bool = False
) -> str:
    """Say why a launch of a kernel as it is written can't work; empty where it can.

    It is said once for many launches, so it has no numbers of one alone.

    Args:
        kernel: the kernel.
        launch: its sizes and local memory.
        is_coarsened: whether a variant is launched, whose sizes were looked at already.
        any_groups: whether a local size need not divide the global size.
    """
    # Imported late: sizes are divided without it.
    from pyopencl import kernel_work_group_info

    device, whole, local = launch.device, launch.global_size, launch.local_size
    own = kernel.get_work_group_info(kernel_work_group_info.LOCAL_MEM_SIZE, device)
    available = int(device.local_mem_size)
    if int(own) + launch.local_bytes > available:
        return f"its work-groups need more local memory than the device's {available} bytes"
    if is_coarsened:
        return ""
    if not has_work(whole, local):
        return "its global and local sizes don't go together"
    limits = limits_of(device, kernel)
    if local is not None and not fits(local, limits):
        most = limits.max_work_group_size
        return f"its work-groups are too large for the device, which takes {most} work-items of it"
    required = required_local_size(kernel, device, len(whole))
    if local is not None and required not in (None, local):
        return f"its kernel requires the local size {required}"
    return "" if any_groups or is_plain(whole, local) else "its local size doesn't divide its global size"


def problem_of_sequence(own: OwnLaunch, any_groups: bool) -> str:
    """Say why several launches can't work on a device; empty where they can, as `problem_of_launch`."""
    # Imported late: most launches are one.
    from coarsen.variant.variant import Source

    version, sizes, device = own.steps, own.sizes, own.launch.device
    assert version is not None and sizes is not None, "of several launches"
    if max(sizes.scratch, default=0) > device.max_mem_alloc_size:
        return "its scratch buffers are too large for the device"
    # Those that are alike in all turns of a loop are one object.
    different = {(place, id(each)): each for place, each in zip(sizes.order, sizes.launches, strict=True)}
    for (place, _), each in different.items():
        kernel, passed = version.kernels[place], version.passed[place]
        memory = {**dict(own.local_memory), **each.local_memory}
        places = [argument.index for argument in passed if argument.source is Source.CALLER]
        local_bytes = sum(memory.get(index, 0) for index in places)
        launch = OriginalLaunch(device, each.global_size or (), each.local_size, local_bytes)
        step = version.coarsened[place]
        launched = None if step is None else step[0].exactly(launch, step[1])[1]
        # One that takes something for granted may yet run as it is written.
        is_coarsened = launched is not None and not launched.is_conditional
        if problem := problem_of_launch(kernel, launch, is_coarsened, any_groups):
            return problem
    return ""
