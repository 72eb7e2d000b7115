"""The methods that can be evaluated, by name, and how each is to be fitted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from coarsen.errors import InvalidInputError
from coarsen.models.evaluation.method import Method
from coarsen.models.evaluation.simple_methods import Never, Unique
from coarsen.near_names import did_you_mean

if TYPE_CHECKING:
    from coarsen.models.cascade.step_classifier import Progress


@dataclass(frozen=True)
class Entrant:
    """A method in the evaluation.

    Args:
        name: by which `Plan.methods` names it.
        description: for a reader of the table.
        make: makes an unfitted one; None for those that are no predictors, since they look at the answer or at a
            table.
        is_random: whether the seed matters.
    """

    name: str
    description: str
    make: Callable[[], Method] | None
    is_random: bool = False


def cascade_entrant(progress: Progress | None = None) -> Entrant:
    """Return the cascade as an entrant; `progress` is told how far its training is."""

    def make() -> Method:
        # Imported late: it loads PyTorch.
        from coarsen.models.cascade.training import Cascade

        return Cascade() if progress is None else Cascade(progress)

    return Entrant("cascade", "the published model, of one device", make, is_random=True)


NEVER, UNIQUE, ORACLE, PUBLISHED = "never", "unique", "oracle", "published"
ENTRANTS: Mapping[str, Entrant] = MappingProxyType(
    {
        entrant.name: entrant
        for entrant in (
            Entrant(NEVER, "no coarsening", Never),
            Entrant(UNIQUE, "one factor for all kernels, the best for those it learned from", Unique),
            Entrant(PUBLISHED, "what the authors of table 5 predicted", None),
            cascade_entrant(),
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
