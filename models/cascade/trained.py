"""A device's model as it is stored: fitted on all of its kernels, with its leave-one-out evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from coarsen.models.best_factors import CITATION
from coarsen.models.cascade.model import CascadeModel
from coarsen.models.cascade.network_training import Progress, unobserved
from coarsen.models.cascade.training import fit_cascade
from coarsen.models.evaluation.entrants import cascade_entrant
from coarsen.models.evaluation.evaluation import Evaluation, Plan, evaluate
from coarsen.models.examples import Example

# The cascade, and what to compare it with.
METHODS = ("cascade", "unique", "never", "published")
EVALUATION_SEEDS = 20


@dataclass(frozen=True)
class TrainedModel:
    """A model fitted on all of its device's kernels with one seed, and the evaluation with several.

    `sources` says in words where the examples are from, `measured` how many of them have runtimes.
    """

    model: CascadeModel
    evaluation: Evaluation
    kernels: tuple[str, ...]
    seed: int
    sources: tuple[str, ...]
    measured: int = 0


def train_device(
    examples: Sequence[Example],
    seed: int = 0,
    published: Mapping[str, int] | None = None,
    evaluation_seeds: int = EVALUATION_SEEDS,
    sources: Sequence[str] = (CITATION,),
    progress: Progress = unobserved,
) -> TrainedModel:
    """Train a device's model on all examples, and evaluate the method by leaving one family out.

    Args:
        examples: the kernels of one device along one dimension, of at least two families.
        seed: of the networks' first weights.
        published: the factors that others predicted by kernel, for comparison.
        evaluation_seeds: how many seeds the evaluation is repeated with.
        sources: where the examples are from, in words; those of table 5 if left out.
        progress: told how far the training is, that of the evaluation included.

    Raises:
        InvalidInputError: see `fit_cascades`; a kernel is there twice.
    """
    fitted = fit_cascade(examples, seed, lambda done, total: progress(done, 2 * total))
    identities = {example.table.identity: example.kernel for example in examples}
    model = replace(fitted, kernels={identity: kernel for identity, kernel in identities.items() if identity})
    methods = METHODS if published else METHODS[:-1]
    factors = {(kernel, model.name): factor for kernel, factor in (published or {}).items()}
    held_out = cascade_entrant(lambda done, total: progress(total + done, 2 * total))
    plan = Plan(methods, evaluation_seeds, model.dimension, published=factors, added=(held_out,))
    kernels = tuple(example.kernel for example in examples)
    measured = sum(bool(example.speedup) for example in examples)
    return TrainedModel(model, evaluate(examples, (), plan), kernels, seed, tuple(sources), measured)


def chosen_factors(evaluation: Evaluation, method: str) -> Mapping[str, Mapping[int, int]]:
    """By kernel: the factors that a method chose with the kernel held out, and with how many seeds each."""
    counts: dict[str, dict[int, int]] = {}
    for outcome in evaluation.outcomes[method]:
        kernel = counts.setdefault(outcome.example.kernel, {})
        kernel[outcome.choice.factor] = kernel.get(outcome.choice.factor, 0) + 1
    return {kernel: dict(sorted(factors.items())) for kernel, factors in counts.items()}
