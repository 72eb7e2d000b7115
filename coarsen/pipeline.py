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

from coarsen.frontend.lower import lower
from coarsen.frontend.normal_form import renormalised
from coarsen.ir.kernel import Kernel
from coarsen.ir.printer import module_text
from coarsen.ir.reader import read_kernel
from coarsen.limits import refusing_deep_nesting
from coarsen.transform.clean_up import clean_up
from coarsen.transform.coarsen import added_arguments, analyse, coarsened_assembly
from coarsen.transform.configuration import Coarsening, Configuration, configuration
from coarsen.transform.copied_length import check_copied_length
from coarsen.transform.guard import guard_argument, guarded_assembly, guards_of
from coarsen.transform.plan_regions import plan_regions
from coarsen.transform.region_plan import RegionPlan
from coarsen.transform.transforms import DEFAULT, Transforms
from coarsen.transform.wide_accesses import WideAccesses, widen

STAGES = ("lower", "guard", "analyse", "replicate", "normalise", "widen", "write")


@dataclass
class Observer:
    """Watches a run of the pipeline.

    `print_after` names the stages whose IR goes to `show`; `seconds` collects the time of each stage;
    `assumptions` collects, in words, what was taken for granted; `plans` what is done to the divergent regions,
    one for each coarsening that is carried out; `wide_accesses` what was merged, if that was asked for.
    """

    print_after: frozenset[str] = frozenset()
    show: Callable[[str], None] = print
    seconds: dict[str, float] = field(default_factory=dict)
    assumptions: list[str] = field(default_factory=list)
    plans: list[RegionPlan] = field(default_factory=list)
    wide_accesses: WideAccesses | None = None

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


def lower_and_coarsen(
    source: str | Path,
    coarsenings: Iterable[Coarsening],
    kernel: str | None = None,
    options: str | Sequence[str] = (),
    observer: Observer | None = None,
    transforms: Transforms = DEFAULT,
    any_size: bool = False,
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

    Raises:
        InvalidInputError, RefusalError: as the stages do.
    """
    observer = observer or Observer()
    lowered = lower_observed(source, kernel, options, observer)
    return coarsen_kernel(lowered, coarsenings, observer, transforms, any_size)


def lower_observed(
    source: str | Path, kernel: str | None, options: str | Sequence[str], observer: Observer
) -> Kernel:
    """Lower a kernel, as the first stage of the line. Arguments and errors are those of `lower_and_coarsen`."""
    with observer.stage("lower"):
        lowered = lower(source, kernel, options)
    observer.written("lower", lambda: module_text(lowered))
    return lowered


def coarsen_kernel(
    kernel: Kernel,
    coarsenings: Iterable[Coarsening],
    observer: Observer | None = None,
    transforms: Transforms = DEFAULT,
    any_size: bool = False,
) -> Kernel:
    """Coarsen a lowered kernel, one coarsening after the other. Raises as `lower_and_coarsen` does."""
    observer = observer or Observer()
    chosen = configuration(coarsenings)
    check_copied_length(kernel, chosen)
    with observer.stage("guard"):
        if any_size:
            kernel = _guarded(kernel, chosen)
    if any_size:
        observer.written("guard", lambda: module_text(kernel))
    with refusing_deep_nesting():
        for coarsening in chosen:
            kernel = _coarsen_once(kernel, coarsening, observer, transforms)
    return _widened(kernel, observer) if chosen and transforms.wide_accesses else kernel


def _guarded(kernel: Kernel, chosen: Configuration) -> Kernel:
    """The kernel with a guard along each coarsened dimension."""
    for coarsening in chosen:
        # What can't be coarsened is refused with its place in the source, which the guarded kernel has lost.
        analyse(kernel, coarsening.dimension, coarsening.level)
    for dimension, level in guards_of(chosen):
        with renormalised(guarded_assembly(kernel, dimension, level)) as module:
            guarded = read_kernel(module, kernel.name)
        kernel = replace(guarded, added_arguments=(*kernel.added_arguments, guard_argument(dimension)))
    return kernel


def _coarsen_once(kernel: Kernel, coarsening: Coarsening, observer: Observer, transforms: Transforms) -> Kernel:
    with observer.stage("analyse"):
        analysed = analyse(kernel, coarsening.dimension, coarsening.level)
        plan = plan_regions(analysed.divergence, analysed.regions, transforms)
    observer.assumptions.extend(analysed.assumptions())
    observer.plans.append(plan)
    with observer.stage("replicate"):
        assembly = coarsened_assembly(analysed, coarsening, plan)
    observer.written("replicate", lambda: assembly)
    with observer.stage("normalise"):
        if transforms.clean_up:
            assembly = clean_up(assembly, kernel.name)
        with renormalised(assembly) as module:
            coarsened = read_kernel(module, kernel.name)
    observer.written("normalise", lambda: module_text(coarsened))
    return replace(coarsened, added_arguments=(*kernel.added_arguments, *added_arguments(analysed, coarsening)))


def _widened(kernel: Kernel, observer: Observer) -> Kernel:
    """The kernel with accesses to neighbouring addresses merged."""
    with observer.stage("widen"):
        widened = widen(kernel)
        with renormalised(widened.assembly) as module:
            wide = replace(read_kernel(module, kernel.name), added_arguments=kernel.added_arguments)
    observer.wide_accesses = widened.merged
    observer.assumptions.extend(widened.merged.assumptions())
    observer.written("widen", lambda: module_text(wide))
    return wide
