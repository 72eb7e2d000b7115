"""The methods that can be evaluated, by name, and how each is to be fitted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from coarsen.errors import InvalidInputError
from coarsen.models.analytic.method import analytic
from coarsen.models.cascade.settings import VARIANTS, CascadeSettings
from coarsen.models.evaluation.method import Method
from coarsen.models.evaluation.simple_methods import Never, Unique
from coarsen.near_names import did_you_mean

if TYPE_CHECKING:
    from coarsen.models.cascade.network_training import Progress


@dataclass(frozen=True)
class Entrant:
    """A method in the evaluation.

    Args:
        name: by which `Plan.methods` names it.
        description: for a reader of the table.
        make: makes an unfitted one; None for those that are no predictors, since they look at the answer or at a
            table.
        is_random: whether the seed matters.
        pools: whether it can use what was measured on any device, so that further training data is of use to it.
        reads_work: whether it needs the work of the coarsened kernels, `Example.work`.
    """

    name: str
    description: str
    make: Callable[[], Method] | None
    is_random: bool = False
    pools: bool = False
    reads_work: bool = False


def cascade_entrant(
    name: str, settings: CascadeSettings, description: str, progress: Progress | None = None
) -> Entrant:
    """Return a cascade with these settings as an entrant; `progress` is told how far its training is."""

    def make() -> Method:
        # Imported late: it loads PyTorch.
        from coarsen.models.cascade.method import Cascade

        return Cascade(settings, name) if progress is None else Cascade(settings, name, progress)

    return Entrant(name, description, make, is_random=True)


def _default() -> Method:
    # Imported late: it loads scikit-learn.
    from coarsen.models.default.method import Default

    return Default()


_CASCADES = {
    "cascade": "the published model, of one device",
    "cascade-seven": "the same with seven components, as the paper prints them",
    "cascade-per-factor": "the same with a network for each factor",
    "cascade-first": "a network for each factor, on version 1 of the features",
}
NEVER, UNIQUE, ORACLE, PUBLISHED = "never", "unique", "oracle", "published"
ENTRANTS: Mapping[str, Entrant] = MappingProxyType(
    {
        entrant.name: entrant
        for entrant in (
            Entrant(NEVER, "no coarsening", Never),
            Entrant(UNIQUE, "one factor for all kernels, the best for those it learned from", Unique),
            Entrant(PUBLISHED, "what the authors of table 5 predicted", None),
            *(cascade_entrant(name, settings, _CASCADES[name]) for name, settings in VARIANTS.items()),
            Entrant("default", "the default model", _default, is_random=True, pools=True),
            Entrant("analytic", "the analytic models, which learn nothing", analytic, reads_work=True),
            Entrant(ORACLE, "the best factor, known afterwards", None),
        )
    }
)
"""The methods of an evaluation, by name."""


def entrant(name: str) -> Entrant:
    """Return the entrant of this name.

    Raises InvalidInputError where there is none; the message lists the names.
    """
    if name not in ENTRANTS:
        raise InvalidInputError(
            f"no method '{name}'{did_you_mean(name, ENTRANTS)}; there are {', '.join(ENTRANTS)}"
        )
    return ENTRANTS[name]
