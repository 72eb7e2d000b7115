"""The results of `coarsen evaluate`, ready to be printed, drawn or written as JSON."""

from __future__ import annotations

from dataclasses import dataclass, replace

from coarsen.cli.evaluate.data import EvaluationData, kernel_count
from coarsen.cli.output import counted
from coarsen.models.evaluation.evaluation import Evaluation, Plan, Progress, evaluate


@dataclass(frozen=True)
class Report:
    """An evaluation, and how it came about.

    `further` counts the examples learned from besides, and their kernels; `shares_kernels` where some of these
    are of families that the data has, too.
    """

    plan: Plan
    evaluation: Evaluation
    further: tuple[int, int]
    shares_kernels: bool = False

    @classmethod
    def of(cls, data: EvaluationData, plan: Plan, progress: Progress) -> Report:
        """Evaluate. Raises as `evaluate` does."""
        plan = replace(plan, published=data.published)
        found = evaluate(data.data, data.further, plan, progress)
        shared = {each.family for each in data.data} & {each.family for each in data.further}
        return cls(plan, found, (len(data.further), kernel_count(data.further)), bool(shared))

    @property
    def measured_devices(self) -> tuple[str, ...]:
        """The devices whose curves are known."""
        return tuple(device for device in self.evaluation.devices if self.evaluation.is_measured(device))

    @property
    def other_devices(self) -> tuple[str, ...]:
        """The devices of which the best factors alone are known."""
        return tuple(device for device in self.evaluation.devices if not self.evaluation.is_measured(device))

    @property
    def protocol(self) -> str:
        """Say in one sentence what was learned from."""
        if self.plan.unseen:
            kernels = counted(self.further[1], "kernel" if self.shares_kernels else "other kernel")
            further = f"{counted(self.further[0], 'curve')} of {kernels}"
            but = ", but never those of the predicted kernel and its family" if self.shares_kernels else ""
            return f"Nothing of this data was learned from; {further} were{but}."
        return "Each kernel was predicted by models that had not seen it or its family on any device."
