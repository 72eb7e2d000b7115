"""The results of `coarsen evaluate`, as JSON."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from coarsen.cli.evaluate.report import Report
from coarsen.models.evaluation.calibration import calibrations
from coarsen.models.evaluation.evaluation import Evaluation
from coarsen.models.evaluation.scores import Outcome, oracle_log_speedup


def as_data(report: Report) -> dict[str, Any]:
    """Return the plan, the scores on each device and on all measured ones, what was chosen, calibration."""
    found, measured = report.evaluation, report.measured_devices
    return {
        "methods": list(found.outcomes),
        "dimension": report.plan.dimension,
        "unseen": report.plan.unseen,
        "seeds": report.plan.seeds,
        "further_training": {"curves": report.further[0], "kernels": report.further[1]},
        "devices": {device: _device(found, device, device in measured) for device in found.devices},
        "all_measured": {name: asdict(score) for name, score in found.speedup_scores(*measured).items()},
        "calibration": {name: asdict(each) for name, each in calibrations(report.evaluation).items()},
    }


def _device(found: Evaluation, device: str, measured: bool) -> dict[str, Any]:
    outcomes = found.on(device)
    examples = {outcome.example.kernel: outcome.example for each in outcomes.values() for outcome in each}
    speedups = {name: asdict(score) for name, score in found.speedup_scores(device).items()} if measured else {}
    return {
        "measured": measured,
        "speedups": speedups,
        "hits": {name: asdict(score) for name, score in found.hit_scores(device).items()},
        "kernels": [
            {
                "kernel": kernel,
                "family": example.family,
                "best_factor": example.best_factor,
                "best_speedup": math.exp(oracle_log_speedup(example)) if example.speedup else None,
                "speedup": {str(factor): value for factor, value in example.speedup.items()},
                "choices": {
                    name: [_choice(outcome) for outcome in each if outcome.example.kernel == kernel]
                    for name, each in outcomes.items()
                },
            }
            for kernel, example in examples.items()
        ],
    }


def _choice(outcome: Outcome) -> dict[str, Any]:
    """Return the choice at one seed; without a speed-up where the best factor alone is known."""
    return {
        "seed": outcome.seed,
        "factor": outcome.choice.factor,
        "ran": outcome.ran if outcome.is_measured else None,
        "speedup": math.exp(outcome.log_speedup) if outcome.is_measured else None,
        "abstained": outcome.choice.abstained,
        "step_probability": {str(factor): p for factor, p in outcome.choice.step_probability.items()},
    }
