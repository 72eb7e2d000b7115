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
from coarsen.ir.kernel import Kernel
from coarsen.pipeline import Coarsened
from coarsen.transform.distinct import DistinctMemory
from coarsen.transform.layouts.lay_out import LaidArray
from coarsen.transform.placement.place import PlacedArray
from coarsen.transform.regions.plan import RegionPlan
from coarsen.transform.wide_accesses import WideAccesses
from coarsen.variant.coarsening import Configuration, Level
from coarsen.variant.placement import PlacedArgument


@dataclass(frozen=True)
class CoarsenedKernel:
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

    `needs_whole_groups` says whether it matters to the original kernel how a launch groups its work-items, along
    dimensions along which they are merged; where it does not, any local size will do. `groups_matter` says so for
    all dimensions and more carefully: where it is False, the original kernel too may have another local size.

    `assumptions` says in words what was taken for granted; `plans` what was done to the divergent regions, one for
    each coarsening; `wide_accesses` which accesses were merged, None where that was not asked for; `arrays` which
    arguments' arrays were asked to lie otherwise than in the source, so that the host packs them; `pads`
    what was done to the rows of local arrays, and what that does to bank conflicts; `placed` which are read from
    other memory, and what a launch has to keep to for that; `distinct` what was gained by arguments that point to
    distinct memory, None where that was not asked for.
    """

    kernel: Kernel
    configuration: Configuration
    assumptions: tuple[str, ...]
    needs_whole_groups: bool = True
    plans: tuple[RegionPlan, ...] = ()
    wide_accesses: WideAccesses | None = None
    groups_matter: bool = True
    arrays: tuple[LaidArray, ...] = ()
    distinct: DistinctMemory | None = None
    pads: tuple[PadCost, ...] = ()
    placed: tuple[PlacedArray, ...] = ()

    @classmethod
    def of(cls, coarsened: Coarsened) -> CoarsenedKernel:
        """Return the kernel that the pipeline has coarsened, with what its launches must know."""
        chosen, lowered = coarsened.variant.coarsenings, coarsened.lowered
        merged = (entry.dimension for entry in chosen if entry.level is Level.ITEM)
        return cls(
            coarsened.kernel,
            chosen,
            coarsened.assumptions,
            any(needs_whole_groups(lowered, dimension) for dimension in merged),
            coarsened.plans,
            coarsened.wide_accesses,
            groups_matter(lowered),
            coarsened.arrays,
            distinct=coarsened.distinct,
            placed=coarsened.placed,
        )

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
        """Return what a launch keeps to for arrays that are read from another memory: `placed`, by index."""
        names = [argument.name for argument in self.kernel.arguments]
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
