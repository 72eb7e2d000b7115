"""Transforms besides replication that a coarsening may use, and when."""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Self, TypedDict, Unpack

from coarsen.errors import InvalidInputError


class Use(enum.StrEnum):
    """When a transform is used: where it seems to pay, wherever it is legal, or not at all."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class Tile(str):
    """How many trips of a loop are copied at once, and of which arrays: `no`, `16` for all of them, `16:a+b`.

    Raises:
        InvalidInputError: it is none.
    """

    __slots__ = ()

    def __new__(cls, text: str = "no") -> Self:
        """Return the tile that a text means, its arrays in alphabetical order."""
        trips, colon, names = text.partition(":")
        arrays = sorted(set(names.split("+"))) if colon else []
        if trips not in _TRIPS or (colon and trips == "no") or not all(name.isidentifier() for name in arrays):
            said = f"tile is {', '.join(_TRIPS)}, or one with the arrays to copy, 16:a+b, not {text!r}"
            raise InvalidInputError(said)
        return super().__new__(cls, trips + colon + "+".join(arrays))

    @property
    def trips(self) -> int:
        """Return the number; 0 without a tile."""
        return 0 if self == NO_TILE else int(self.partition(":")[0])

    @property
    def arrays(self) -> tuple[str, ...]:
        """Return the names of the arguments whose arrays are copied; none for all that can be."""
        return tuple(filter(None, self.partition(":")[2].split("+")))


_TRIPS = ("no", "8", "16", "32")
NO_TILE = Tile()
UseName = Literal["auto", "always", "never"]


class DeviceKind(enum.StrEnum):
    """The kind of device that a kernel is coarsened for, where that decides whether a transform pays.

    Compilers for CPUs vectorise over work-items. Loops in lock-step leave them less to vectorise, and so may loops
    in the slow paths of kernels that have none else; GPUs run work-items side by side whatever their code is.
    """

    ANY = "any"
    CPU = "cpu"
    GPU = "gpu"


def device_kind_of(types: Iterable[str]) -> DeviceKind:
    """Return the kind of a device of some of OpenCL's types ("cpu", "gpu", "accelerator", "custom")."""
    found = {"cpu", "gpu"} & set(types)
    return DeviceKind(found.pop()) if len(found) == 1 else DeviceKind.ANY


@dataclass(frozen=True, slots=True)
class Transforms:
    """The transforms that a coarsening may use.

    What a field's metadata declares: its option's `help`, the `words` for a value that is not the default one,
    whether it `assumes` something of launches, and whether it `is_late`, so that older rows do not have it.

    Attributes:
        fast_path: run a divergent region once, interleaved, when all replicas take the same side of its branch.
        lock_step: run a divergent loop for all replicas at once for as long as none of them leaves it.
        wide_accesses: one vector access in place of scalar ones to consecutive addresses.
        clean_up: before replication, make one branch of equal guards and take stored values in place of loads;
            after it, compute once what replicas share.
        device_kind: what the kernel is to run on.
        distinct: take it that what is written through one pointer argument is accessed through no other. Keeps
            what loops accumulate in memory in registers; a launch must keep to it.
        tile: let a work-group copy what so many trips of inner loops read into local memory, of all arrays or of
            some. The local size is part of the code then, and what is written must be other memory.
        long_indices: compute indices that the place along dimension 0 is a term of in 64 bits. Compilers for CPUs
            may see only then that neighbouring work-items access neighbouring elements.
    """

    fast_path: Use = field(
        default=Use.AUTO,
        metadata={
            "help": "Run a divergent region once where all merged work-items go the same way.",
            "words": "fast path {}",
        },
    )
    lock_step: Use = field(
        default=Use.AUTO,
        metadata={"help": "Run a divergent loop for all merged work-items at once.", "words": "lock-step {}"},
    )
    wide_accesses: bool = field(
        default=False,
        metadata={
            "help": "Make one vector access where addresses are consecutive.",
            "words": "wide accesses",
            "assumes": True,
        },
    )
    clean_up: bool = field(
        default=True,
        metadata={
            "help": "Merge equal guards, load no stored value again, compute once what replicas share.",
            "words": "no clean-up",
        },
    )
    device_kind: DeviceKind = DeviceKind.ANY
    distinct: bool = field(
        default=False,
        metadata={
            "help": "Assume that pointer arguments do not overlap: accumulate in registers.",
            "words": "distinct arguments",
            "assumes": True,
            "is_late": True,
        },
    )
    tile: Tile = field(
        default=NO_TILE,
        metadata={
            "read": Tile,
            "metavar": "TRIPS[:ARG+…]",
            "help": "Copy what 8, 16 or 32 trips of inner loops read to local memory; of some arrays, 16:a+b.",
            "words": "tile {}",
            "assumes": True,
            "is_late": True,
        },
    )
    long_indices: bool = field(
        default=False,
        metadata={
            "help": "Compute int indices of neighbours in 64 bits, for compilers for CPUs.",
            "words": "long indices",
            "is_late": True,
        },
    )

    @property
    def is_tiled(self) -> bool:
        """Return True if loops are to have tiles."""
        return self.tile != NO_TILE

    @property
    def without_merging(self) -> Transforms:
        """Return those that change a kernel of which nothing is merged, too."""
        used: dict[str, Any] = {name: getattr(self, name) for name in UNMERGED}
        is_used = any(value != getattr(DEFAULT, name) for name, value in used.items())
        return Transforms(device_kind=self.device_kind, **used) if is_used else DEFAULT

    @property
    def assuming(self) -> frozenset[str]:
        """The names of those in use that take something for granted, which each launch has to keep to."""
        return frozenset(name for name in ASSUMING if getattr(self, name) != getattr(DEFAULT, name))

    def without(self, names: Collection[str]) -> Transforms:
        """Return the transforms but for some of those that take something for granted."""
        given_up: dict[str, Any] = {name: getattr(DEFAULT, name) for name in names}
        return replace(self, **given_up)

    @property
    def changes(self) -> dict[str, Any]:
        """Return the values that are not the default ones, by the names that people may give."""
        declared = (each for each in fields(self) if "help" in each.metadata)
        return {each.name: value for each in declared if (value := getattr(self, each.name)) != each.default}

    @property
    def words(self) -> tuple[str, ...]:
        """Name what differs from the default; the kind of device, which a row says anyway, is left out."""
        if replace(self, device_kind=REPLICATION_ALONE.device_kind) == REPLICATION_ALONE:
            return ("replication alone",)
        words = {each.name: each.metadata["words"] for each in fields(self) if "words" in each.metadata}
        return tuple(words[name].format(value) for name, value in self.changes.items())


ASSUMING = frozenset(each.name for each in fields(Transforms) if "assumes" in each.metadata)
# Those that change a kernel of which nothing is merged, too.
UNMERGED = ("tile", "long_indices")
DEFAULT = Transforms()


class TransformKeywords(TypedDict, total=False):
    """The transforms as keywords of a function that users call; what they mean, `Transforms` says."""

    fast_path: UseName
    lock_step: UseName
    wide_accesses: bool
    clean_up: bool
    distinct: bool
    tile: str
    long_indices: bool


def transforms_of(device_kind: str = DeviceKind.ANY, **chosen: Unpack[TransformKeywords]) -> Transforms:
    """Return the transforms that keywords name, for a kind of device; what is left out is as by default.

    Raises:
        InvalidInputError: a value that is none.
        TypeError: no transform is called so.
    """
    return Transforms(
        **{name: _legal(name, value) for name, value in chosen.items()},
        device_kind=_legal("device_kind", device_kind),
    )


def _legal(name: str, value: object) -> Any:  # noqa: ANN401 (a flag, or one of a few words)
    kind: Any = type(getattr(DEFAULT, name, False))
    if kind is bool:
        if isinstance(value, str):
            raise InvalidInputError(f"{name} is True or False, not {value!r}")
        return bool(value)
    if kind is Tile:
        return Tile(str(value))
    found = next((each for each in kind if each == value), None)
    if found is None:
        *words, last = (repr(each.value) for each in kind)
        raise InvalidInputError(f"{name} is {', '.join(words)} or {last}, not {value!r}")
    return found


REPLICATION_ALONE = Transforms(fast_path=Use.NEVER, lock_step=Use.NEVER, clean_up=False)
