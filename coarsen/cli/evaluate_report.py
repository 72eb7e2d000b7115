"""What `coarsen evaluate` found, ready to be printed, drawn or written as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from coarsen.cli.evaluate_data import EvaluationData, kernel_count
from coarsen.cli.output import counted
from coarsen.models.evaluation.calibration import Calibration, calibration, forecasts
from coarsen.models.evaluation.evaluation import Evaluation, Plan, Progress, evaluate


@dataclass(frozen=True)
class Report:
    """An evaluation, and how it came about. `further` counts the examples learned from besides, and their
    kernels."""

    plan: Plan
    evaluation: Evaluation
    further: tuple[int, int]

    @classmethod
    def of(cls, data: EvaluationData, plan: Plan, progress: Progress) -> Report:
        """Evaluate. Raises as `evaluate` does."""
        plan = replace(plan, published=data.published)
        found = evaluate(data.data, data.further, plan, progress)
        return cls(plan, found, (len(data.further), kernel_count(data.further)))

    @property
    def measured_devices(self) -> tuple[str, ...]:
        """The devices whose curves are known."""
        return tuple(device for device in self.evaluation.devices if self.evaluation.is_measured(device))

    @property
    def other_devices(self) -> tuple[str, ...]:
        """The devices of which the best factors alone are known."""
        return tuple(device for device in self.evaluation.devices if not self.evaluation.is_measured(device))

    def calibrations(self) -> Mapping[str, Calibration]:
        """By method, over all measured devices; of those methods that give probabilities."""
        found = self.evaluation.on(*self.measured_devices).items()
        made = {name: calibration(forecasts(outcomes)) for name, outcomes in found}
        return {name: each for name, each in made.items() if each is not None}

    @property
    def protocol(self) -> str:
        """In one sentence, what was learned from."""
        further = f"{counted(self.further[0], 'curve')} of {counted(self.further[1], 'other kernel')}"
        if self.plan.unseen:
            return f"Nothing of this data was learned from; {further} were."
        besides = f" The default model also learned from {further}." if self.further[0] else ""
        return f"Each kernel was predicted by models that had not seen it or its family on any device.{besides}"
