"""The evaluation of launches: what is learned from, what is judged, and how, of which METHOD.md tells.

nested    kernels of the data, by trees and decisions that never saw their families; of them the calibration set
unseen    all cases of the data, by a model of other data
device    nested, on a device that nothing was learned from
curve     nested, by models of growing shares of the kernels
without   nested, by models without a group of inputs
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from coarsen.models.calibration_set import is_calibration
from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS
from coarsen.models.launch.case import LaunchCase
from coarsen.models.launch.device import launch_device
from coarsen.models.launch.evaluation import Asked, Judgement, ask, judge
from coarsen.models.launch.folds import family_folds, mechanism_folds
from coarsen.models.launch.growing import TreeSettings
from coarsen.models.launch.model import LaunchModel
from coarsen.models.launch.nested import judge_nested
from coarsen.models.launch.training import Progress, judged

FAMILIES = "families held out"
FAMILIES_OF_CALIBRATION = f"{FAMILIES}, the calibration set"
SHARES = (0.25, 0.5, 0.75)
ABLATIONS = ("analytic", "plan", "kernel", "code", "accesses", "gathers")


@dataclass(frozen=True)
class Material:
    """The cases to fit on and to judge, the settings of the trees and the seed."""

    fitted_on: tuple[LaunchCase, ...]
    judged: tuple[LaunchCase, ...]
    settings: TreeSettings
    seed: int = 0


def unseen(model: LaunchModel, cases: Iterable[LaunchCase]) -> Judgement:
    """Judge a model on cases that it never saw."""
    asked: list[Asked] = [ask(model, case, launch_device(DEVICE_DESCRIPTORS[case.device])) for case in cases]
    return judge(asked)


def nested(material: Material, progress: Progress) -> Judgement:
    """Judge each kernel by trees that never saw its family."""
    folds = family_folds(material.fitted_on, material.judged)
    return judge_nested(list(judged(folds, material.settings, material.seed, progress)))


def of_calibration_set(judgement: Judgement) -> Judgement:
    """Return what concerns the calibration set: kernels whose launches were measured nearly exhaustively."""
    return judgement.only(is_calibration)


def by_mechanism(material: Material, progress: Progress) -> Judgement:
    """Judge each kernel by trees that never saw its mechanism."""
    folds = mechanism_folds(material.fitted_on, material.judged)
    return judge_nested(list(judged(folds, material.settings, material.seed, progress)))


def studies(material: Material, progress: Progress) -> Iterator[tuple[str, Judgement]]:
    """Yield the judgement of each study, with its name."""
    judgement = nested(material, progress)
    yield FAMILIES, judgement
    yield FAMILIES_OF_CALIBRATION, of_calibration_set(judgement)
    yield "mechanisms held out", by_mechanism(material, progress)
    for device in dict.fromkeys(case.device for case in material.judged):
        others = tuple(case for case in material.fitted_on if case.device != device)
        own = tuple(case for case in material.judged if case.device == device)
        if others:
            yield (
                f"learned from other devices: {device}",
                nested(replace(material, fitted_on=others, judged=own), progress),
            )
    for share in SHARES:
        yield f"{share:.0%} of the kernels", nested(with_share(material, share), progress)
    for group in ABLATIONS:
        settings = replace(material.settings, without=frozenset({group}))
        yield f"without {group} inputs", nested(replace(material, settings=settings), progress)


def with_share(material: Material, share: float) -> Material:
    """Return the same with a share of the kernels to fit on, the same ones on every device."""
    kernels = sorted({case.kernel for case in material.fitted_on}, key=_shuffled)
    kept = frozenset(kernels[: max(2, round(share * len(kernels)))])
    return replace(material, fitted_on=tuple(case for case in material.fitted_on if case.kernel in kept))


def _shuffled(kernel: str) -> str:
    return hashlib.sha256(kernel.encode()).hexdigest()
