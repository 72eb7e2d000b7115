"""The whole line from a source to a coarsened kernel, every stage labelled.

    lower ─▶ (analyse ─▶ replicate ─▶ normalise) for each dimension ─▶ ir.Kernel, ready for a back end

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
from coarsen.transform.clean_up import clean_up
from coarsen.transform.coarsen import added_arguments, analyse, coarsened_assembly
from coarsen.transform.configuration import Coarsening, configuration
from coarsen.transform.region_plan import RegionPlan, plan_regions
from coarsen.transform.transforms import DEFAULT, Transforms

STAGES = ("lower", "analyse", "replicate", "normalise", "write")


@dataclass
class Observer:
    """Watches a run of the pipeline.

    `print_after` names the stages whose IR goes to `show`; `seconds` collects the time of each stage;
    `assumptions` collects, in words, what was taken for granted; `plans` what is done to the divergent regions,
    one for each coarsening that is carried out.
    """

    print_after: frozenset[str] = frozenset()
    show: Callable[[str], None] = print
    seconds: dict[str, float] = field(default_factory=dict)
    assumptions: list[str] = field(default_factory=list)
    plans: list[RegionPlan] = field(default_factory=list)

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
) -> Kernel:
    """Lower a kernel and coarsen it.

    Args:
        source: OpenCL C or LLVM IR text, or a path of a `.cl`, `.ll` or `.bc` file.
        coarsenings: at most one per dimension; factors of 1 are allowed.
        kernel: the kernel's name; may be left out where there is just one.
        options: OpenCL build options as PyOpenCL takes them.
        observer: sees stages.
        transforms: which may be used besides replication.

    Raises:
        InvalidInputError, RefusalError: as the stages do.
    """
    observer = observer or Observer()
    with observer.stage("lower"):
        lowered = lower(source, kernel, options)
    observer.written("lower", lambda: module_text(lowered))
    return coarsen_kernel(lowered, coarsenings, observer, transforms)


def coarsen_kernel(
    kernel: Kernel,
    coarsenings: Iterable[Coarsening],
    observer: Observer | None = None,
    transforms: Transforms = DEFAULT,
) -> Kernel:
    """Coarsen a lowered kernel, one coarsening after the other. Raises as `lower_and_coarsen` does."""
    observer = observer or Observer()
    for coarsening in configuration(coarsenings):
        kernel = _coarsen_once(kernel, coarsening, observer, transforms)
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
    with observer.stage("normalise"), renormalised(assembly) as module:
        if transforms.clean_up:
            clean_up(module)
        coarsened = read_kernel(module, kernel.name)
    observer.written("normalise", lambda: module_text(coarsened))
    return replace(coarsened, added_arguments=(*kernel.added_arguments, *added_arguments(analysed, coarsening)))
