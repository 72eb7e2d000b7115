"""The whole line from a source to a coarsened kernel, every stage labelled.

    lower ─▶ lay out ─▶ distinct ─▶ clean up ─▶ guard ─▶ (analyse ─▶ replicate ─▶ normalise) for each coarsening
          ─▶ tile ─▶ widen ─▶ lengthen ─▶ ir.Kernel

After each stage that writes IR, LLVM parses and verifies it. All that is found out on the way is in the result,
`CoarsenedKernel`; an observer only watches: it sees each stage's text and time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from coarsen.analysis.barriers import ways_by_barriers
from coarsen.analysis.distinct_arguments import ArgumentPairs
from coarsen.analysis.legality import groups_matter, needs_whole_groups
from coarsen.backend.llvm_module import write_llvm_ir
from coarsen.backend.opencl_c.writer import DEFAULT_STANDARD, OpenClC, standard_of, write_opencl_c
from coarsen.backend.ptx import write_ptx
from coarsen.backend.spirv import write_spirv
from coarsen.base.limits import refusing_deep_nesting
from coarsen.cost.banks import ANY_DEVICE
from coarsen.cost.pads import PadCost, tile_pad
from coarsen.errors import RefusalError
from coarsen.frontend.normal_form import normalised, renormalised
from coarsen.ir.added_arguments import AddedArgument
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.origin import Role
from coarsen.ir.graph.printer import module_text
from coarsen.ir.kernel import Kernel
from coarsen.transform.accumulators.accumulators import Accumulator, keep_accumulators
from coarsen.transform.added_arguments import local_memory_arguments
from coarsen.transform.coarsen import REQUIRED, analyse, check_copied_length, coarsened_module
from coarsen.transform.distinct import DistinctMemory, mark_distinct
from coarsen.transform.guard import guarded, guards_of
from coarsen.transform.layouts.elements import ArrayNote, RewrittenArrays
from coarsen.transform.layouts.lay_out import LaidArray, lay_out
from coarsen.transform.layouts.pad import pad_arrays
from coarsen.transform.long_indices import lengthen_indices
from coarsen.transform.placement.place import PlacedArray, place_arrays
from coarsen.transform.placement.tiled_loops import TiledLoops, tile_loops
from coarsen.transform.regions.plan import RegionPlan
from coarsen.transform.regions.plan_regions import plan_regions
from coarsen.transform.simplify import forward_stores, merge_guards
from coarsen.transform.value_numbering.shared_values import share_values
from coarsen.transform.wide_accesses import WideAccesses, widen
from coarsen.variant.coarsening import DIMENSIONS, Coarsening, Configuration, Level
from coarsen.variant.data_plan import ArrayPlan
from coarsen.variant.pads import NO_PAD
from coarsen.variant.placement import GLOBAL, PlacedArgument
from coarsen.variant.transforms import NO_TILE, DeviceKind, Transforms
from coarsen.variant.variant import LocalSize, Variant

_OF_SOURCE = ("lower", "layout", "distinct", "clean-up", "guard")
STAGES = (*_OF_SOURCE, "analyse", "replicate", "normalise", "tile", "widen", "lengthen", "write")


@dataclass
class Observer:
    """Watches runs of the pipeline.

    `print_after` names the stages whose IR goes to `show`; `seconds` adds up the time of each stage.
    """

    print_after: frozenset[str] = frozenset()
    show: Callable[[str], None] = print
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time one stage."""
        start = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

    def made(self, stage: str, make: Callable[[], Kernel]) -> Kernel:
        """Time one stage, show the kernel that it makes if that was asked for, and return it."""
        with self.stage(stage):
            kernel = make()
        self.written(stage, kernel.graph)
        return kernel

    def written(self, stage: str, module: Module) -> None:
        """Show a stage's IR if that was asked for."""
        if stage in self.print_after:
            self.show(f"; after {stage}\n{module_text(module)}")


def laid_out(kernel: Kernel, plans: Sequence[ArrayPlan], observer: Observer | None = None) -> LaidOutKernel:
    """Rewrite a lowered kernel for arrays that lie otherwise, before it is coarsened: layouts, pads, then places.

    Args:
        kernel: as the front end gives it.
        plans: at most one for each array; with none the kernel stays as it is.
        observer: sees the stage.

    Raises:
        InvalidInputError, RefusalError: as `lay_out`, `pad_arrays` and `place_arrays` of `coarsen.transform` do.
    """
    observer = observer or Observer()
    laid = LaidOutKernel(kernel, kernel)
    with observer.stage("layout"):
        for rewrite, is_its in _REWRITES:
            chosen = [plan for plan in plans if is_its(plan)]
            laid = _rewritten(laid, rewrite(laid.kernel, chosen)) if chosen else laid
        if not plans:
            return laid
    observer.written("layout", laid.kernel.graph)
    return laid


# For other layouts and orders of arguments' arrays, with pads in local ones, with arrays in other memory.
_REWRITES: tuple[
    tuple[Callable[[Kernel, Sequence[ArrayPlan]], RewrittenArrays], Callable[[ArrayPlan], bool]], ...
] = (
    (lay_out, lambda plan: plan.moves_fields),
    (pad_arrays, lambda plan: plan.pad != NO_PAD),
    (place_arrays, lambda plan: plan.place is not GLOBAL),
)


def _rewritten(laid: LaidOutKernel, made: RewrittenArrays) -> LaidOutKernel:
    added = (*laid.kernel.added_arguments, *made.added_arguments)
    return replace(
        laid,
        kernel=_in_normal_form(made.module, laid.kernel.name, added),
        done=(*laid.done, *made.arrays),
        assumptions=(*laid.assumptions, *made.assumptions),
    )


def _in_normal_form(module: Module, kernel: str, added: tuple[AddedArgument, ...]) -> Kernel:
    """Return a kernel brought into normal form, with the arguments that were added to it."""
    return Kernel(kernel, normalised(module), added)


def for_distinct_memory(kernel: Kernel, observer: Observer | None = None) -> tuple[Kernel, DistinctMemory]:
    """Rewrite a lowered kernel for arguments that point to distinct memory, before it is coarsened.

    Args:
        kernel: as the front end gives it, or laid out.
        observer: sees the stage.

    Returns:
        The kernel, what loops accumulate in memory in registers, and what was done and taken for granted.
    """
    observer = observer or Observer()
    with observer.stage("distinct"):
        module = kernel.editable_graph()
        found = mark_distinct(module, kernel)
        kernel = _in_normal_form(module, kernel.name, kernel.added_arguments)
        kept: tuple[Accumulator, ...] = ()
        while found.is_known:
            module = kernel.editable_graph()
            accumulators = keep_accumulators(module, kernel)
            if all(each.left is not None for each in accumulators):
                found = replace(found, accumulators=(*kept, *accumulators))
                break
            kept += tuple(each for each in accumulators if each.left is None)
            kernel = _in_normal_form(module, kernel.name, kernel.added_arguments)
    observer.written("distinct", kernel.graph)
    return kernel, found


def cleaned_up(kernel: Kernel, observer: Observer | None = None) -> Kernel:
    """Make one branch of equal conditions of a lowered kernel, and take stored values in the place of loads.

    Args:
        kernel: as the front end gives it, or rewritten.
        observer: sees the stage.

    Returns:
        The kernel in normal form; itself where there is nothing to do.
    """
    observer = observer or Observer()
    before = kernel
    with observer.stage("clean-up"):
        while (module := merge_guards(kernel) or forward_stores(kernel)) is not None:
            kernel = _in_normal_form(module, kernel.name, kernel.added_arguments)
    if kernel is not before:
        observer.written("clean-up", kernel.graph)
    return kernel


def run_pipeline(
    kernel: Kernel | LaidOutKernel,
    variant: Variant,
    observer: Observer | None = None,
    *,
    counts_clean_up: bool = False,
) -> CoarsenedKernel:
    """Lay a lowered kernel's arrays out, coarsen it by one coarsening after the other, and return what was done.

    Args:
        kernel: lowered with the variant's macros; its arrays are laid out as the variant says, unless they are
            laid out already.
        variant: by what to coarsen it, and how.
        observer: sees stages.
        counts_clean_up: whether to count what the clean-up removes, which takes LLVM a while.

    Raises:
        InvalidInputError: an array is not there, or its order does not fit its shape.
        RefusalError: the kernel can't be coarsened or laid out so.
    """
    observer = observer or Observer()
    laid = kernel if isinstance(kernel, LaidOutKernel) else laid_out(kernel, variant.arrays, observer)
    kernel = laid.kernel
    check_copied_length(kernel, variant.coarsenings)
    cleaned = 0 if counts_clean_up and variant.transforms.clean_up else None
    coarsened = CoarsenedKernel(kernel, kernel, laid.done, laid.assumptions, variant, cleaned=cleaned)
    if variant.is_coarsened and variant.transforms.distinct:
        kernel, found = for_distinct_memory(kernel, observer)
        assumptions = (*laid.assumptions, *found.assumptions())
        coarsened = replace(coarsened, kernel=kernel, distinct=found, assumptions=assumptions)
    if variant.is_coarsened and variant.transforms.clean_up:
        coarsened = replace(coarsened, kernel=cleaned_up(coarsened.kernel, observer))
    coarsened = replace(coarsened, prepared=coarsened.kernel)
    if variant.transforms.is_tiled and variant.local_size:
        coarsened = replace(coarsened, kernel=_demanding(coarsened.kernel, variant.local_size))
    with observer.stage("guard"):
        if variant.any_size:
            coarsened = replace(coarsened, kernel=_guarded(coarsened.kernel, variant.coarsenings))
    if variant.any_size:
        observer.written("guard", coarsened.kernel.graph)
    with refusing_deep_nesting():
        for coarsening in variant.coarsenings:
            coarsened = _coarsened_once(coarsened, coarsening, observer)
    if variant.transforms.is_tiled:
        coarsened = _tiled(coarsened, variant.transforms, observer)
    wide = variant.is_coarsened and variant.transforms.wide_accesses
    if wide:
        coarsened = _widened(coarsened, observer)
    return _lengthened(coarsened, observer) if variant.transforms.long_indices else coarsened


def _guarded(kernel: Kernel, chosen: Configuration) -> Kernel:
    """Return the kernel with a guard along each coarsened dimension."""
    for coarsening in chosen:
        # What can't be coarsened at all is refused for that, and not for what a guard needs besides.
        analyse(kernel, coarsening.dimension, coarsening.level)
    for dimension, level in guards_of(chosen):
        added = (*kernel.added_arguments, AddedArgument("global-size", dimension))
        kernel = _in_normal_form(guarded(kernel, dimension, level), kernel.name, added)
    return kernel


def _coarsened_once(before: CoarsenedKernel, coarsening: Coarsening, observer: Observer) -> CoarsenedKernel:
    kernel, transforms = before.kernel, before.variant.transforms
    with observer.stage("analyse"):
        analysed = analyse(kernel, coarsening.dimension, coarsening.level)
        plan = plan_regions(analysed.divergence, analysed.regions, transforms)
    with observer.stage("replicate"):
        replicated = coarsened_module(analysed, coarsening, plan)
    observer.written("replicate", replicated)
    cleaned = before.cleaned
    if cleaned is not None:
        cleaned += _length_in_normal_form(module_text(replicated), kernel.name)
    with observer.stage("normalise"):
        if transforms.clean_up:
            share_values(replicated, kernel.name, is_distinct=before.is_distinct)
        added = (*kernel.added_arguments, *local_memory_arguments(kernel, analysed.divergence, coarsening.factor))
        coarsened = _in_normal_form(replicated, kernel.name, added)
    observer.written("normalise", coarsened.graph)
    if cleaned is not None:
        cleaned -= coarsened.length
    return replace(
        before,
        kernel=coarsened,
        plans=(*before.plans, plan),
        assumptions=(*before.assumptions, *analysed.assumptions()),
        cleaned=cleaned,
    )


def _length_in_normal_form(assembly: str, kernel: str) -> int:
    """Return the number of a kernel's instructions once LLVM has brought it into normal form."""
    with renormalised(assembly) as module:
        return sum(1 for block in module.get_function(kernel).blocks for _ in block.instructions)


def _demanding(kernel: Kernel, local_size: LocalSize) -> Kernel:
    """Return the kernel that demands the local size of a launch, unless it demands one already."""
    if kernel.required_work_group_size is not None:
        return kernel
    module = kernel.editable_graph()
    extents = (*local_size, 1, 1)[:DIMENSIONS]
    module.function(kernel.name).attach(REQUIRED, module.add_node(f"i32 {extent}" for extent in extents))
    return _in_normal_form(module, kernel.name, kernel.added_arguments)


def _tiled(coarsened: CoarsenedKernel, transforms: Transforms, observer: Observer) -> CoarsenedKernel:
    """Return the kernel with tiles inside of its loops."""
    kernel, variant = coarsened.kernel, coarsened.variant
    if variant.any_size and variant.local_size:
        # With a guard of work-items, the local size is that of the coarsened launch.
        kernel = _demanding(kernel, variant.local_size)
    if standard_of(kernel) != DEFAULT_STANDARD:
        reason = "how much a work-group reads is not known: in OpenCL C 2.0 the last groups may be smaller"
        raise RefusalError("place-extent-unknown", reason)
    is_for_cpu = transforms.device_kind is DeviceKind.CPU
    with observer.stage("tile"):
        tiles = tile_loops(
            kernel,
            transforms.tile.trips,
            lambda module: _in_normal_form(module, kernel.name, kernel.added_arguments),
            # Those of CPUs lie in memory that has no banks.
            None if is_for_cpu else partial(tile_pad, device=ANY_DEVICE),
            transforms.tile.arrays,
        )
    observer.written("tile", tiles.kernel.graph)
    assumptions = (*coarsened.assumptions, *tiles.assumptions())
    return replace(coarsened, kernel=tiles.kernel, tiles=tiles, assumptions=assumptions)


def offered_tiles(kernel: Kernel, variant: Variant, transforms: Transforms) -> TiledLoops:
    """Return the tiles that inner loops would get in a variant of a kernel, one that merges nothing included.

    Args:
        kernel: lowered.
        variant: with the launch's local size.
        transforms: the tile, and the kind of device.

    Raises:
        RefusalError: no loop would get one; the kernel can't be coarsened so.
    """
    plain = replace(variant.transforms, tile=NO_TILE, wide_accesses=False)
    demanding = _demanding(kernel, variant.local_size)
    coarsened = run_pipeline(demanding, replace(variant, transforms=plain))
    tiles = _tiled(coarsened, transforms, Observer()).tiles
    assert tiles is not None
    return tiles


def _widened(coarsened: CoarsenedKernel, observer: Observer) -> CoarsenedKernel:
    """Return the kernel with accesses to neighbouring addresses merged."""
    kernel = coarsened.kernel
    with observer.stage("widen"):
        module, merged = widen(kernel)
        wide = _in_normal_form(module, kernel.name, kernel.added_arguments)
    observer.written("widen", wide.graph)
    assumptions = (*coarsened.assumptions, *merged.assumptions())
    return replace(coarsened, kernel=wide, assumptions=assumptions, wide_accesses=merged)


def _lengthened(coarsened: CoarsenedKernel, observer: Observer) -> CoarsenedKernel:
    """Return the kernel with long indices."""
    kernel = coarsened.kernel
    with observer.stage("lengthen"):
        made = lengthen_indices(kernel)
        if made is None:
            return replace(coarsened, long_indices=0)
        long = _in_normal_form(made[0], kernel.name, kernel.added_arguments)
    observer.written("lengthen", long.graph)
    return replace(coarsened, kernel=long, long_indices=made[1])


# A coarsened kernel: what a launch of it must know, and its text in each form, written when it is asked for.

_AS_WRITTEN = Variant()


@dataclass(frozen=True)
class LaidOutKernel:
    """A kernel, the arrays that lie otherwise in it than in its source, and what was taken for granted.

    Attributes:
        kernel: rewritten.
        lowered: before that.
        done: what was done to each array, in the order in which it was: moved, padded, placed.
        assumptions: in words.
    """

    kernel: Kernel
    lowered: Kernel
    done: tuple[ArrayNote, ...] = ()
    assumptions: tuple[str, ...] = ()

    @property
    def arrays(self) -> tuple[LaidArray, ...]:
        """The arrays of arguments whose layout or order was asked for, so that the host packs them."""
        return tuple(each for each in self.done if isinstance(each, LaidArray))

    @property
    def placed(self) -> tuple[PlacedArray, ...]:
        """The arrays of arguments that are read from another memory, and what a launch has to keep to for that."""
        return tuple(each for each in self.done if isinstance(each, PlacedArray))

    @property
    def sentences(self) -> tuple[str, ...]:
        """Return what the host has to do, and what was done, in words."""
        return tuple(each.sentence for each in self.done)


@dataclass(frozen=True)
class CoarsenedKernel(LaidOutKernel):
    """A coarsened kernel, in whichever form it is asked for.

    How a launch of it is made of the original's, of global size G and local size L, along each coarsened
    dimension, with the factor F and the stride S (`coarsen.Program` does all of this itself):

    - work-items: G / F and L / F, which F must divide; S must divide L / F;
    - work-groups: G / F and L; F must divide G / L, the number of work-groups;
    - for any size, work-items: at least ceil(G / (F·S))·S, and any local size, or with a tile the variant's;
    - for any size, work-groups: ceil(G / L / F)·L, and L.

    After the original's arguments come `added_arguments`: the extents of an array that lies otherwise and whose
    shape was not given (`ulong`, in elements), G of a dimension for one that is guarded (`ulong`, in work-items),
    and local memory of the size of that which is passed for another argument.

    Attributes:
        kernel: the coarsened kernel.
        lowered: before it was coarsened, its arrays laid out.
        done: what was done to arrays, as in a `LaidOutKernel`.
        assumptions: what was taken for granted, in words, with the place in the source.
        variant: by what it was coarsened, and how.
        plans: what was done to the divergent regions, one plan for each coarsening.
        cleaned: instructions that the clean-up of replicas removed, not that before replication; None where it was
            turned off, or that was not asked for.
        wide_accesses: the accesses that were merged; None where that was not asked for.
        distinct: what was gained by arguments that point to distinct memory; None where that was not asked for.
        tiles: the tiles inside of loops; None where that was not asked for.
        long_indices: how many indices are computed in 64 bits; None where that was not asked for.
        prepared: the kernel that replicas were made of, with sums in registers and after the first clean-up; None
            before that is known.
        pads: what was done to the rows of local arrays, and what that does to bank conflicts.
    """

    variant: Variant = _AS_WRITTEN
    plans: tuple[RegionPlan, ...] = ()
    cleaned: int | None = None
    wide_accesses: WideAccesses | None = None
    distinct: DistinctMemory | None = None
    long_indices: int | None = None
    tiles: TiledLoops | None = None
    prepared: Kernel | None = None
    pads: tuple[PadCost, ...] = ()

    @property
    def configuration(self) -> Configuration:
        """The coarsenings."""
        return self.variant.coarsenings

    @cached_property
    def needs_whole_groups(self) -> bool:
        """It matters to the original how a launch groups its work-items along merged dimensions."""
        merged = (entry.dimension for entry in self.configuration if entry.level is Level.ITEM)
        return any(needs_whole_groups(self.lowered, dimension) for dimension in merged)

    @cached_property
    def groups_matter(self) -> bool:
        """It matters along any dimension; where not, the original too may have another local size."""
        return groups_matter(self.lowered)

    @property
    def is_distinct(self) -> bool:
        """Return True if the kernel takes for granted that its arguments point to distinct memory."""
        return self.distinct is not None and self.distinct.is_known

    @property
    def parted(self) -> frozenset[str]:
        """The blocks of the kernel that follow where not all replicas go one way: slow paths begin there."""
        return frozenset(block.name for block in self.kernel.blocks if block.origin.role is Role.DIVERGED)

    @property
    def objects_below(self) -> int | None:
        """The size in bytes that every memory object of a launch must stay below; None if any will do."""
        return None if self.wide_accesses is None else self.wide_accesses.objects_below

    @property
    def apart(self) -> ArgumentPairs:
        """Pairs of the original's arguments, by index, that must not lead to the same memory in a launch."""
        pairs = {*(self.distinct.apart if self.distinct else ()), *(self.tiles.apart if self.tiles else ())}
        return tuple(sorted(pairs))

    @property
    def placed_arguments(self) -> tuple[PlacedArgument, ...]:
        """Return what a launch keeps to for arrays that are read from another memory, by index."""
        names = self.kernel.argument_names
        return tuple(each.of_arguments(names) for each in self.placed)

    @cached_property
    def ways_by_barriers(self) -> int:
        """The number of ways through the kernel that differ in the barriers on them."""
        return ways_by_barriers(self.kernel)

    @property
    def added_arguments(self) -> tuple[AddedArgument, ...]:
        """Return what a launch passes after the kernel's own arguments, in this order."""
        return self.kernel.added_arguments

    @cached_property
    def _source(self) -> OpenClC:
        return write_opencl_c(self.kernel)

    @property
    def opencl_c(self) -> str:
        """OpenCL C source that holds this kernel alone. Raises RefusalError if it can't be written as such."""
        return self._source.text

    @property
    def opencl_c_standard(self) -> str:
        """The build option that the source needs: `-cl-std=CL1.2`, or `-cl-std=CL2.0` for generic pointers."""
        return self._source.standard

    @cached_property
    def spirv_standard(self) -> str:
        """The standard that a driver may want named when it builds the SPIR-V module, as `opencl_c_standard`."""
        return standard_of(self.kernel)

    @cached_property
    def llvm_ir(self) -> str:
        """LLVM IR text for the `spir64` target."""
        return write_llvm_ir(self.kernel)

    @cached_property
    def spirv(self) -> bytes:
        """A SPIR-V module (physical 64-bit addressing, kernel execution model)."""
        return write_spirv(self.kernel)

    def ptx(self, architecture: str = "sm_75") -> str:
        """PTX for an NVIDIA architecture.

        Args:
            architecture: such as `sm_90`.

        Raises:
            RefusalError: the kernel calls a builtin that PTX has no counterpart of.
        """
        return write_ptx(self.kernel, architecture)
