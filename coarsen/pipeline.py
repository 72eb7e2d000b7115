"""The whole line from a source to a coarsened kernel, every stage labelled.

    lower ─▶ guard (for any size) ─▶ (analyse ─▶ replicate ─▶ normalise) for each coarsening ─▶ ir.Kernel

After each stage that writes IR, LLVM parses and verifies it. An observer sees each stage's text and time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from coarsen.frontend.device_macros import PORTABLE, DeviceMacros
from coarsen.frontend.lower import lower
from coarsen.frontend.normal_form import renormalised
from coarsen.ir.graph.printer import module_text as graph_text
from coarsen.ir.kernel import Kernel
from coarsen.ir.printer import module_text
from coarsen.ir.reader import read_kernel
from coarsen.limits import refusing_deep_nesting
from coarsen.transform.clean_up import clean_up
from coarsen.transform.coarsen import added_arguments, analyse, coarsened_assembly
from coarsen.transform.copied_length import check_copied_length
from coarsen.transform.guard import guard_argument, guarded, guards_of
from coarsen.transform.plan_regions import plan_regions
from coarsen.transform.region_plan import RegionPlan
from coarsen.transform.wide_accesses import WideAccesses, widen
from coarsen.variant.coarsening import Coarsening, Configuration
from coarsen.variant.transforms import DEFAULT, Transforms
from coarsen.variant.variant import Variant

STAGES = ("lower", "guard", "analyse", "replicate", "normalise", "widen", "write")


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

    def written(self, stage: str, text: Callable[[], str]) -> None:
        """Show a stage's IR if that was asked for."""
        if stage in self.print_after:
            self.show(f"; after {stage}\n{text()}")


@dataclass(frozen=True)
class Coarsened:
    """A coarsened kernel and what was done to it.

    Attributes:
        kernel: the coarsened kernel.
        plans: what was done to the divergent regions, one plan for each coarsening that was carried out.
        assumptions: what was taken for granted, in words.
        wide_accesses: the accesses that were merged; None where that was not asked for.
    """

    kernel: Kernel
    plans: tuple[RegionPlan, ...] = ()
    assumptions: tuple[str, ...] = ()
    wide_accesses: WideAccesses | None = None


def lower_and_coarsen(
    source: str | Path,
    coarsenings: Iterable[Coarsening],
    kernel: str | None = None,
    options: str | Sequence[str] = (),
    observer: Observer | None = None,
    transforms: Transforms = DEFAULT,
    any_size: bool = False,
    macros: DeviceMacros = PORTABLE,
) -> Kernel:
    """Lower a kernel and coarsen it.

    Args:
        source: OpenCL C or LLVM IR text, or a path of a `.cl`, `.ll` or `.bc` file.
        coarsenings: at most one per dimension; factors of 1 are allowed.
        kernel: the kernel's name; may be left out where there is just one.
        options: OpenCL build options as PyOpenCL takes them.
        observer: sees stages.
        transforms: which may be used besides replication.
        any_size: guard the kernel first, so that its launches need not divide (`transform/guard.py`).
        macros: what the source may find out about its device.

    Raises:
        InvalidInputError, RefusalError: as the stages do.
    """
    observer = observer or Observer()
    lowered = lower_observed(source, kernel, options, observer, macros)
    return coarsen_kernel(lowered, coarsenings, observer, transforms, any_size)


def lower_observed(
    source: str | Path,
    kernel: str | None,
    options: str | Sequence[str],
    observer: Observer,
    macros: DeviceMacros = PORTABLE,
) -> Kernel:
    """Lower a kernel, as the first stage of the line. Arguments and errors are those of `lower_and_coarsen`."""
    with observer.stage("lower"):
        lowered = lower(source, kernel, options, macros)
    observer.written("lower", lambda: module_text(lowered))
    return lowered


def coarsen_kernel(
    kernel: Kernel,
    coarsenings: Iterable[Coarsening],
    observer: Observer | None = None,
    transforms: Transforms = DEFAULT,
    any_size: bool = False,
) -> Kernel:
    """Coarsen a lowered kernel and return it alone. Raises as `lower_and_coarsen` does."""
    variant = Variant(coarsenings=tuple(coarsenings), transforms=transforms, any_size=any_size)
    return carry_out(kernel, variant, observer).kernel


def carry_out(kernel: Kernel, variant: Variant, observer: Observer | None = None) -> Coarsened:
    """Coarsen a lowered kernel, one coarsening after the other, and return it with what was done to it.

    Args:
        kernel: lowered with the variant's macros.
        variant: by what to coarsen it, and how.
        observer: sees stages.

    Raises:
        RefusalError: the kernel can't be coarsened so.
    """
    observer = observer or Observer()
    check_copied_length(kernel, variant.coarsenings)
    with observer.stage("guard"):
        if variant.any_size:
            kernel = _guarded(kernel, variant.coarsenings)
    if variant.any_size:
        observer.written("guard", lambda: module_text(kernel))
    coarsened = Coarsened(kernel)
    with refusing_deep_nesting():
        for coarsening in variant.coarsenings:
            coarsened = _coarsened_once(coarsened, coarsening, observer, variant.transforms)
    wide = variant.is_coarsened and variant.transforms.wide_accesses
    return _widened(coarsened, observer) if wide else coarsened


def _guarded(kernel: Kernel, chosen: Configuration) -> Kernel:
    """The kernel with a guard along each coarsened dimension."""
    for coarsening in chosen:
        # What can't be coarsened is refused with its place in the source, which the guarded kernel has lost.
        analyse(kernel, coarsening.dimension, coarsening.level)
    for dimension, level in guards_of(chosen):
        with renormalised(graph_text(guarded(kernel, dimension, level))) as module:
            read = read_kernel(module, kernel.name)
        kernel = replace(read, added_arguments=(*kernel.added_arguments, guard_argument(dimension)))
    return kernel


def _coarsened_once(
    before: Coarsened, coarsening: Coarsening, observer: Observer, transforms: Transforms
) -> Coarsened:
    kernel = before.kernel
    with observer.stage("analyse"):
        analysed = analyse(kernel, coarsening.dimension, coarsening.level)
        plan = plan_regions(analysed.divergence, analysed.regions, transforms)
    with observer.stage("replicate"):
        assembly = coarsened_assembly(analysed, coarsening, plan)
    observer.written("replicate", lambda: assembly)
    with observer.stage("normalise"):
        if transforms.clean_up:
            assembly = clean_up(assembly, kernel.name)
        with renormalised(assembly) as module:
            coarsened = read_kernel(module, kernel.name)
    observer.written("normalise", lambda: module_text(coarsened))
    added = (*kernel.added_arguments, *added_arguments(analysed, coarsening))
    return Coarsened(
        replace(coarsened, added_arguments=added),
        (*before.plans, plan),
        (*before.assumptions, *analysed.assumptions()),
    )


def _widened(coarsened: Coarsened, observer: Observer) -> Coarsened:
    """The kernel with accesses to neighbouring addresses merged."""
    kernel = coarsened.kernel
    with observer.stage("widen"):
        widened = widen(kernel)
        with renormalised(graph_text(widened.module)) as module:
            wide = replace(read_kernel(module, kernel.name), added_arguments=kernel.added_arguments)
    observer.written("widen", lambda: module_text(wide))
    assumptions = (*coarsened.assumptions, *widened.merged.assumptions())
    return replace(coarsened, kernel=wide, assumptions=assumptions, wide_accesses=widened.merged)
