"""The choices of a plan as JSON, and back: the times that they were made by are not among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from coarsen.dispatch.tree import tree_from_json, tree_to_json
from coarsen.errors import InvalidInputError
from coarsen.models.inputs.entrants import Entrant
from coarsen.models.inputs.evaluation import Choices
from coarsen.models.inputs.growing import TreeSettings
from coarsen.models.inputs.judging import Plan, Study
from coarsen.models.inputs.regret_tree import RegretTree
from coarsen.models.inputs.settling import Settled
from coarsen.models.inputs.shipping import Shipped

Source = TypeVar("Source")
Made = TypeVar("Made")


def plan_to_json(plan: Plan) -> dict[str, Any]:
    """Return the choices as JSON takes them; `plan_from_json` reads them back."""
    versions, shipped = plan.study.times.versions, plan.shipped
    without = shipped.tree_without_supplied
    return {
        "left_out": _choices_to_json(plan.left_out),
        "largest": _choices_to_json(plan.largest),
        "tree": _settled_to_json(plan.tree.settled),
        "without_supplied": _or_none(_settled_to_json, plan.tree.without_supplied),
        "shipped": {
            "versions": [versions.index(version) for version in shipped.versions],
            "default": shipped.default,
            "tree": tree_to_json(shipped.tree),
            "without_supplied": None if without is None else tree_to_json(without),
        },
    }


def plan_from_json(study: Study, value: Mapping[str, Any]) -> Plan:
    """Return the plan of a study whose choices were written.

    Args:
        study: the one that they were made for.
        value: what `plan_to_json` gave.

    Raises:
        InvalidInputError: it is something else.
    """
    try:
        without, shipped = value["without_supplied"], value["shipped"]
        return Plan(
            study=study,
            left_out=_choices_from_json(value["left_out"]),
            largest=_choices_from_json(value["largest"]),
            tree=RegretTree(_settled_from_json(value["tree"]), _or_none(_settled_from_json, without)),
            shipped=Shipped(
                versions=tuple(study.times.versions[number] for number in shipped["versions"]),
                default=int(shipped["default"]),
                tree=tree_from_json(shipped["tree"]),
                tree_without_supplied=_or_none(tree_from_json, shipped["without_supplied"]),
            ),
        )
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise InvalidInputError(f"a plan that is kept can't be read: {error}; name another file") from None


def _or_none(work: Callable[[Source], Made], value: Source | None) -> Made | None:
    return None if value is None else work(value)


def _choices_to_json(choices: Choices) -> dict[str, Any]:
    return {
        "rows": list(choices.rows),
        "versions": {entrant.value: list(own) for entrant, own in choices.versions.items()},
        "failed": {entrant.value: list(own) for entrant, own in choices.failed.items()},
        "unbuilt": list(choices.unbuilt),
        "leaves": list(choices.leaves),
    }


def _choices_from_json(value: Mapping[str, Any]) -> Choices:
    return Choices(
        rows=tuple(value["rows"]),
        versions={Entrant(name): tuple(own) for name, own in value["versions"].items()},
        failed={Entrant(name): tuple(own) for name, own in value["failed"].items()},
        unbuilt=tuple(value["unbuilt"]),
        leaves=tuple(value["leaves"]),
    )


def _settled_to_json(settled: Settled) -> dict[str, Any]:
    settings = settled.settings
    return {
        "tree": tree_to_json(settled.tree),
        "settings": None if settings is None else [settings.least_inputs, settings.pruning],
        "regret": settled.regret,
        "regret_of_fixed": settled.regret_of_fixed,
    }


def _settled_from_json(value: Mapping[str, Any]) -> Settled:
    settings = value["settings"]
    return Settled(
        tree=tree_from_json(value["tree"]),
        settings=None if settings is None else TreeSettings(int(settings[0]), float(settings[1])),
        regret=float(value["regret"]),
        regret_of_fixed=float(value["regret_of_fixed"]),
    )
