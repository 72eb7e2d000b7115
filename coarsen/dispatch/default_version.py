"""The default version of a tuned file: what a call's sizes are those of, and what runs where nothing else may."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coarsen.dispatch.tuned_version import TunedLaunch, TunedVersion
from coarsen.errors import InvalidInputError
from coarsen.variant.variant import Definitions


@dataclass(frozen=True, slots=True)
class DefaultVersion:
    """One launch of the file's kernel, nothing merged, with macros of its own.

    Args:
        number: the index of the version in the file.
        version: the version.

    Raises:
        InvalidInputError: it takes several launches, or is coarsened.
    """

    number: int
    version: TunedVersion

    def __post_init__(self) -> None:
        if self.version.variant.is_coarsened or self.version.is_sequence:
            raise InvalidInputError("the default version must be one launch of the kernel as it is written")

    @property
    def definitions(self) -> Definitions:
        """Return its macros, which may have other values than in the source as it stands."""
        return self.version.variant.definitions

    @property
    def launch(self) -> TunedLaunch | None:
        """Return its launch; None where the sizes are the caller's."""
        return self.version.launches[0] if self.version.launches else None


def default_version(kernel: str, versions: Sequence[TunedVersion], number: int) -> DefaultVersion:
    """Return the default version among those of a kernel; raises InvalidInputError for one that can't be it."""
    found = DefaultVersion(number, versions[number])
    if found.launch is not None and found.launch.kernel != kernel:
        raise InvalidInputError(
            f"the default version must launch {kernel}, the file's kernel, not {found.launch.kernel}"
        )
    return found
