"""`coarsen apply --features work --factor`: the work of a variant, counted from the plan of the transforms."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from coarsen.cli.apply.features_work import WorkOfKernel
from coarsen.cli.output import print_line, print_table
from coarsen.cost.planned_work.counting import PlanCosts
from coarsen.cost.planned_work.planned_kernel import PlannedKernel
from coarsen.cost.work_counts import InstructionClass, LaunchSizes, WorkCounts
from coarsen.cost.work_functions import launched_sizes
from coarsen.errors import InvalidInputError
from coarsen.variant.variant import Variant


@dataclass(frozen=True, slots=True)
class PlannedWork:
    """The work of a configuration beside the original's, and what its plan adds."""

    variant: Variant
    launch: LaunchSizes
    original: WorkCounts
    planned: WorkCounts
    costs: PlanCosts


def check_planned_options(asked: Variant | None, *, has_work: bool, global_size: str | None) -> None:
    """Raise InvalidInputError for a configuration without `work` or without the sizes of the launch."""
    if asked is None:
        return
    if not has_work:
        raise InvalidInputError("--factor goes with --features work")
    if global_size is None:
        raise InvalidInputError("--factor needs --global-size too: work is that of a launch")


def planned_work(work: WorkOfKernel, variant: Variant | None) -> PlannedWork | None:
    """Return the work of the configuration that was asked for, None where none was.

    Args:
        work: of the kernel, with the sizes of its launch.
        variant: the configuration, checked by `check_planned_options`.

    Raises:
        RefusalError: the kernel can't be coarsened so.
    """
    if variant is None or work.launch is None:
        return None
    planned = PlannedKernel(work.kernel)
    return PlannedWork(
        variant,
        launched_sizes(variant, work.launch),
        planned.work(Variant(), work.launch, work.arguments),
        planned.work(variant, work.launch, work.arguments),
        planned.plan_costs(variant, work.launch, work.arguments),
    )


def planned_as_data(found: PlannedWork) -> dict[str, object]:
    """Return the work of a configuration as JSON."""
    return {
        "planned_work": {
            "configuration": str(found.variant),
            "global_size": list(found.launch.global_size),
            "local_size": list(found.launch.local_size),
            "values": {words: planned for words, _, planned in _rows(found)},
            "original": {words: original for words, original, _ in _rows(found)},
            "accesses": [dataclasses.asdict(access) for access in found.planned.accesses],
            "plan": dataclasses.asdict(found.costs),
        }
    }


def print_planned(found: PlannedWork) -> None:
    """Print the work of a configuration beside the original's, and what its plan adds."""
    print_line()
    print_line(f"{found.variant}: the work of a coarsened work-item, from the plan")
    print_line()
    rows = [[words, f"{original:.6g}", f"{planned:.6g}"] for words, original, planned in _rows(found)]
    print_table(["work", "original", "planned"], rows, numbers=["original", "planned"])
    print_line()
    costs = dataclasses.asdict(found.costs)
    print_table(
        ["plan", "value"],
        [[name.replace("_", " "), f"{value:.6g}"] for name, value in costs.items()],
        numbers=["value"],
    )


def _rows(found: PlannedWork) -> Iterator[tuple[str, float, float]]:
    both = (found.original, found.planned)
    for kind in InstructionClass:
        original, planned = (work.instructions.get(kind, 0.0) for work in both)
        if original or planned:
            yield kind.value, original, planned
    for words, store in (("loads", False), ("stores", True)):
        original, planned = (sum(a.count for a in work.accesses if a.store == store) for work in both)
        yield words, original, planned
    yield "barriers", found.original.barriers, found.planned.barriers
    yield "dependent operations", found.original.chain_operations, found.planned.chain_operations
    yield "dependent accesses", found.original.chain_accesses, found.planned.chain_accesses
    yield "live words", found.original.live_words, found.planned.live_words
    yield "local bytes of a group", found.original.local_bytes, found.planned.local_bytes
