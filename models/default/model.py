"""The default model: from a kernel's features and a device's descriptor to a curve, a factor and the reasons.

features ─▶ forest ─▶ error model ─▶ joint distribution over factors, adjusted to the device ─▶ utilities ─▶ factor
features ─▶ distance to the training kernels ─▶ too far: factor 1
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from coarsen.features import FeatureTable, MechanismTable
from coarsen.models.default.adjustment import Adjustment
from coarsen.models.default.error_model import ErrorModel
from coarsen.models.default.explanation import feature_effects, influences
from coarsen.models.default.inputs import COARSENED, Array, Rows, input_rows, kernel_point
from coarsen.models.default.joint import CurveDistribution
from coarsen.models.default.known_kernels import known_kernels
from coarsen.models.default.novelty import Neighbourhood
from coarsen.models.default.prediction import CurvePrediction, FactorPrediction, Influence
from coarsen.models.default.step_errors import StepErrors
from coarsen.models.device_descriptors import DeviceDescriptor
from coarsen.models.model_files import DEFAULT
from coarsen.models.trees.flat_forest import FlatForest

NAME = DEFAULT

# Digits behind the point of a distance; more would be noise.
_MOST_DIGITS = 6


@dataclass(frozen=True)
class DefaultModel:
    """A fitted model of all devices.

    Args:
        forest: its trees.
        errors: how wrong they are; `steps` how wrong they are about a step to the double.
        neighbourhood: the kernels that they were grown on.
        medians: the training rows' median input at each factor, (F, i).
        adjustments: for the devices of which only best factors are known, by name.
        card: the model card as it is stored.
    """

    forest: FlatForest
    errors: ErrorModel
    steps: StepErrors
    neighbourhood: Neighbourhood
    medians: Rows
    adjustments: Mapping[str, Adjustment]
    card: Mapping[str, object] = field(default_factory=dict, compare=False)

    def curve(self, rows: Rows, device: DeviceDescriptor) -> CurveDistribution:
        """Return the distribution of a curve on a device.

        Args:
            rows: the inputs at the factors 2 to 32, shape (F, i).
            device: which may be one that the model knows nothing of but its descriptor.
        """
        adjustment = self.adjustment(device.name)
        mean, between = self.forest.predict(rows)
        return self.errors.distribution(mean, between, device).adjusted(adjustment.scale, adjustment.slope)

    def adjustment(self, device: str) -> Adjustment:
        """Return how the curve is adjusted to a device; not at all where its own curves were learned from."""
        return self.adjustments.get(device, Adjustment())

    def predict(
        self, table: FeatureTable, mechanism: MechanismTable, descriptor: DeviceDescriptor
    ) -> CurvePrediction:
        """Return what coarsening does to a kernel on a device, and the factor to choose.

        Args:
            table: the kernel's features at the factors 1 to 32, along the dimension that is to be coarsened.
            mechanism: its mechanism features there, for one launch; factors that do not divide its local size,
                where that is known, are not chosen.
            descriptor: the device.

        Returns:
            The speed-up at each factor with its uncertainty, the choice, and why.

        Raises:
            InvalidInputError: a table lacks one of the factors.
        """
        rows = input_rows(table, mechanism, descriptor)
        full = self.curve(rows, descriptor)
        possible = full.limited_to(possible_factors(mechanism))
        point = kernel_point(table, mechanism)
        neighbours = self.neighbourhood.nearest(point)
        best = possible.best()
        explained = _explained(possible, best)
        too_far = neighbours[0].distance > self.neighbourhood.limit
        return CurvePrediction(
            model=NAME,
            kernel=table.kernel,
            device=descriptor.name,
            dimension=table.dimension,
            factor=1 if too_far else best,
            abstained=too_far,
            reason=self._reason(point, neighbours[0].distance) if too_far else "",
            curve=self._factors(full, possible.factors),
            step_probability={step: self.steps.probability(full, step) for step in full.steps()},
            explained_factor=explained,
            influences=self._influences(rows, table, mechanism, descriptor.name, explained),
            nearest=neighbours,
            limit=self.neighbourhood.limit,
            training_kernel=self._known(table.identity, descriptor.name),
        )

    def _known(self, identity: str, device: str) -> str | None:
        """The training kernel of this identity; those of best factors were learned for their devices alone."""
        data = self.card.get("data")
        found = known_kernels(data if isinstance(data, dict) else {})
        kernel, devices = found.get(identity, (None, ()))
        return kernel if not devices or device in devices else None

    def _influences(
        self, rows: Rows, table: FeatureTable, mechanism: MechanismTable, device: str, factor: int
    ) -> tuple[Influence, ...]:
        index = COARSENED.index(factor)
        effects = feature_effects(self.forest, rows[index], self.medians[index])
        return influences(table, mechanism, factor, effects * self.adjustment(device).scale)

    def _factors(self, curve: CurveDistribution, possible: tuple[int, ...]) -> tuple[FactorPrediction, ...]:
        low, high = self.errors.bounds(curve)
        utilities = curve.utilities()
        return tuple(
            FactorPrediction(
                factor=factor,
                log_speedup=float(curve.mean[index]),
                low=float(low[index]),
                high=float(high[index]),
                utility=float(utilities[index]),
                possible=factor in possible,
            )
            for index, factor in enumerate(curve.factors)
        )

    def _reason(self, point: Array, distance: float) -> str:
        strange = ", ".join(name.replace("_", " ") for name in self.neighbourhood.strangest(point))
        told, limit = _told_apart(distance, self.neighbourhood.limit)
        return (
            f"the nearest training kernel is at a distance of {told}, more than {limit}; "
            f"it differs most in: {strange}"
        )


def _told_apart(first: float, second: float) -> tuple[str, str]:
    """Both numbers with two digits behind the point, or as many more as it takes to see which is larger."""
    digits = 2
    while digits < _MOST_DIGITS and f"{first:.{digits}f}" == f"{second:.{digits}f}":
        digits += 1
    return f"{first:.{digits}f}", f"{second:.{digits}f}"


def possible_factors(mechanism: MechanismTable) -> tuple[int, ...]:
    """Return the factors above 1 that divide the launch's local size along the coarsened dimension.

    Where that size is not known, all may do, but none along a dimension that the kernel doesn't use.
    """
    size = mechanism.local_size[mechanism.dimension]
    if mechanism.local_size_is_assumed and size > 1:
        return COARSENED
    return tuple(factor for factor in COARSENED if size % factor == 0)


def _explained(possible: CurveDistribution, best: int) -> int:
    """The factor whose prediction is explained: the chosen one, or the most tempting one where that is 1."""
    if best > 1 or not possible.factors:
        return max(best, 2)
    return possible.factors[int(possible.utilities().argmax())]
