"""A coarsened kernel: what a launch of it must know, and its text in each form, written when it is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from coarsen.analysis.barriers import ways_by_barriers
from coarsen.analysis.distinct_arguments import ArgumentPairs
from coarsen.analysis.legality import groups_matter, needs_whole_groups
from coarsen.backend.llvm_module import write_llvm_ir
from coarsen.backend.opencl_c.writer import OpenClC, standard_of, write_opencl_c
from coarsen.backend.ptx import write_ptx
from coarsen.backend.spirv import write_spirv
from coarsen.cost.pads import PadCost
from coarsen.ir.added_arguments import AddedArgument
from coarsen.ir.graph.origin import Role
from coarsen.ir.kernel import Kernel
from coarsen.transform.distinct import DistinctMemory
from coarsen.transform.layouts.elements import ArrayNote
from coarsen.transform.layouts.lay_out import LaidArray
from coarsen.transform.placement.place import PlacedArray
from coarsen.transform.regions.plan import RegionPlan
from coarsen.transform.wide_accesses import WideAccesses
from coarsen.variant.coarsening import Configuration, Level
from coarsen.variant.placement import PlacedArgument
from coarsen.variant.variant import Variant

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
    - for any size, work-items: at least ceil(G / (F·S))·S, and any local size;
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
        cleaned: instructions that the clean-up removed; None where it was turned off, or that was not asked for.
        wide_accesses: the accesses that were merged; None where that was not asked for.
        distinct: what was gained by arguments that point to distinct memory; None where that was not asked for.
        kept: the kernel before it was coarsened, its sums in registers; None where that was not asked for.
        pads: what was done to the rows of local arrays, and what that does to bank conflicts.
    """

    variant: Variant = _AS_WRITTEN
    plans: tuple[RegionPlan, ...] = ()
    cleaned: int | None = None
    wide_accesses: WideAccesses | None = None
    distinct: DistinctMemory | None = None
    kept: Kernel | None = None
    pads: tuple[PadCost, ...] = ()

    @property
    def configuration(self) -> Configuration:
        """The coarsenings."""
        return self.variant.coarsenings

    @cached_property
    def needs_whole_groups(self) -> bool:
        """Whether it matters to the original how a launch groups its work-items along merged dimensions."""
        merged = (entry.dimension for entry in self.configuration if entry.level is Level.ITEM)
        return any(needs_whole_groups(self.lowered, dimension) for dimension in merged)

    @cached_property
    def groups_matter(self) -> bool:
        """Whether it matters along any dimension; where not, the original too may have another local size."""
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
        return () if self.distinct is None else self.distinct.apart

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
