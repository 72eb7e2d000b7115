"""What is compared: ways to choose a version, all fitted to the same inputs."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass

from coarsen.models.inputs.chooser import Chooser
from coarsen.models.inputs.fixed import FixedVersion, fixed_best
from coarsen.models.inputs.majority import majority
from coarsen.models.inputs.nearest import NearestInput, nearest_input
from coarsen.models.inputs.paper_trees import PaperTrees, paper_trees
from coarsen.models.inputs.portfolio import MOST_VERSIONS
from coarsen.models.inputs.regret_tree import RegretTree, regret_tree
from coarsen.models.inputs.times import VersionTimes


class Entrant(enum.StrEnum):
    """A way to choose a version, in the order of tables."""

    DEFAULT = "default"
    FIXED = "fixed best"
    FIXED_OF_ALL = "fixed best of all versions"
    MAJORITY = "majority"
    NEAREST = "nearest"
    PAPER = "paper"
    TREE = "regret tree"
    TREE_WITHOUT_SUPPLIED = "regret tree without supplied features"
    BEST = "best version"


# Returns the numbers of the versions to go on with, of times of the inputs that may be learned from.
StageOne = Callable[[VersionTimes], Sequence[int]]


def every_version(times: VersionTimes) -> range:
    """Return all versions: the first stage of times that are what a search has left."""
    return range(len(times.versions))


@dataclass(frozen=True, slots=True)
class Settings:
    """What is known of a kernel and a device before anything is fitted.

    Attributes:
        margin: what counts as noise, as a share of the time.
        supplied: names of the features that the caller must supply at a launch.
        most: how many versions may be built, with the default one.
    """

    margin: float
    supplied: Set[str] = frozenset()
    most: int = MOST_VERSIONS


@dataclass(frozen=True, slots=True)
class Fitted:
    """The entrants of one fold; equal ones have equal representations, to the byte.

    Attributes:
        columns: the numbers of the versions that the first stage left, among all; the entrants count within them.
        default: the number of the default version among all; `fixed_of_all` of the fixed best of all versions.
        fixed: that of the versions left, as `majority`, `nearest`, `paper`, `tree` and `without_supplied` are.
    """

    columns: tuple[int, ...]
    default: int
    fixed_of_all: int
    fixed: FixedVersion
    majority: FixedVersion
    nearest: NearestInput
    paper: PaperTrees
    tree: RegretTree
    without_supplied: RegretTree

    def chosen(self, features: Mapping[str, float]) -> dict[Entrant, int]:
        """Return the version, among all, that each entrant chooses for an input."""
        choosers: dict[Entrant, Chooser] = {
            Entrant.FIXED: self.fixed,
            Entrant.MAJORITY: self.majority,
            Entrant.NEAREST: self.nearest,
            Entrant.PAPER: self.paper,
            Entrant.TREE: self.tree,
            Entrant.TREE_WITHOUT_SUPPLIED: self.without_supplied,
        }
        own = {entrant: self.columns[chooser.version(features)] for entrant, chooser in choosers.items()}
        return {Entrant.DEFAULT: self.default, Entrant.FIXED_OF_ALL: self.fixed_of_all, **own}


def left_by(times: VersionTimes, stage_one: StageOne) -> tuple[int, ...]:
    """Return the versions to choose from: what the first stage leaves without wrong results, and the default."""
    return tuple(sorted({*stage_one(times), times.default} & {*times.never_wrong}))


def fitted(times: VersionTimes, settings: Settings, stage_one: StageOne = every_version) -> Fitted:
    """Fit all entrants.

    Args:
        times: of all versions on the inputs that may be learned from.
        settings: the kernel's and the device's.
        stage_one: says which of the versions a search would have left; those with wrong results on one of the
            inputs are left out of them.
    """
    right = times.never_wrong
    columns = left_by(times, stage_one)
    left = times.of_versions(columns)
    names = left.feature_names
    tree = regret_tree(left, settings.margin, settings.supplied, settings.most)
    return Fitted(
        columns=columns,
        default=times.default,
        fixed_of_all=right[fixed_best(times.of_versions(right)).number],
        fixed=fixed_best(left),
        majority=majority(left),
        nearest=nearest_input(left, names),
        paper=paper_trees(left, names),
        tree=tree,
        without_supplied=RegretTree(tree.without_supplied) if tree.without_supplied else tree,
    )
