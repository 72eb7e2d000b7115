"""From a kernel's times to what the criteria need: choices, what must be timed again, results.

Study ─▶ plan: choices for held-out inputs, the tree of all ─▶ pairs ─▶ timed again ─▶ KernelResult
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from coarsen.models.inputs.acceptance import BEST_OF_ALL, BEST_OF_TRIED, KernelResult
from coarsen.models.inputs.entrants import Settings, StageOne, every_version, left_by
from coarsen.models.inputs.evaluation import Choices, hold_out_largest, leave_groups_out, outcome
from coarsen.models.inputs.regret_tree import RegretTree, regret_tree
from coarsen.models.inputs.shipping import Shipped, shipped
from coarsen.models.inputs.times import InputPoint, VersionTimes
from coarsen.models.trees.arrays import Array


@dataclass(frozen=True, slots=True)
class Study:
    """A kernel's times on one device, and how it is judged.

    Attributes:
        kernel: its name.
        times: of the versions on all inputs.
        settings: the kernel's and the device's.
        stage_one: says, in each fold, which versions a search would have left; None where the times are those of
            such versions alone.
        size_of: what inputs are ordered by where the largest are held out; None for the default version's time.
        is_control: whether the input must not matter.
    """

    kernel: str
    times: VersionTimes
    settings: Settings
    stage_one: StageOne | None = None
    size_of: Callable[[InputPoint], float] | None = None
    is_control: bool = False

    @property
    def reference(self) -> str:
        """Return what the fastest version may be called: a search may have missed the best one."""
        return BEST_OF_TRIED if self.stage_one is None else BEST_OF_ALL


@dataclass(frozen=True, slots=True)
class Plan:
    """Choices that are made, and not judged yet.

    Attributes:
        study: the times that they were made by.
        left_out: for each group of inputs by all the others.
        largest: for the largest inputs by all smaller ones.
        tree: of all inputs; it is what is shipped.
        shipped: the versions that it can answer.
    """

    study: Study
    left_out: Choices
    largest: Choices
    tree: RegretTree
    shipped: Shipped

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Return the inputs and versions that must be timed again, in ascending order."""
        return tuple(sorted({*self.left_out.pairs, *self.largest.pairs}))


def plan(study: Study) -> Plan:
    """Make all choices of a study.

    Raises:
        InvalidInputError: there are less than two groups of inputs.
    """
    times, settings = study.times, study.settings
    stage_one = study.stage_one or every_version
    tree, all_of_it = of_all_inputs(study)
    return Plan(
        study=study,
        left_out=leave_groups_out(times, settings, stage_one),
        largest=hold_out_largest(times, settings, study.size_of or _by_default_time(times), stage_one),
        tree=tree,
        shipped=all_of_it,
    )


def of_all_inputs(study: Study) -> tuple[RegretTree, Shipped]:
    """Return the tree of all inputs, and what is shipped of it."""
    times, settings = study.times, study.settings
    left = times.of_versions(left_by(times, study.stage_one or every_version))
    tree = regret_tree(left, settings.margin, settings.supplied, settings.most)
    return tree, shipped(tree, left)


def _by_default_time(times: VersionTimes) -> Callable[[InputPoint], float]:
    """Return the size of an input as the seconds of the default version on it."""
    seconds = times.seconds[:, times.default].tolist()
    by_name = {point.name: own for point, own in zip(times.inputs, seconds, strict=True)}
    return lambda point: by_name[point.name]


def judged(made: Plan, again: Array) -> KernelResult:
    """Return what came of the choices.

    Args:
        made: the choices.
        again: the second times, shaped as the first; NaN where nothing was timed again.

    Raises:
        InvalidInputError: something that was chosen was not timed again.
    """
    study = made.study
    margin = study.settings.margin
    return KernelResult(
        outcome=outcome(study.kernel, study.times, made.left_out, again, margin),
        extrapolated=outcome(study.kernel, study.times, made.largest, again, margin),
        versions=len(made.shipped.versions),
        is_adaptive=made.tree.is_adaptive,
        has_contents=bool(study.settings.supplied & set(study.times.feature_names)),
        is_control=study.is_control,
        reference=study.reference,
    )
