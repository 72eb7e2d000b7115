"""What a launch was given but for buffers: alike in a list of launches and in a launch that is captured whole."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PassedShared:
    """The buffer that an argument before this one was given, too, by that argument's index."""

    index: int


@dataclass(frozen=True, slots=True)
class PassedNull:
    """A pointer that leads nowhere."""


@dataclass(frozen=True, slots=True)
class PassedScalar:
    """A value in the bytes that the device was given."""

    content: bytes


@dataclass(frozen=True, slots=True)
class PassedLocal:
    """Local memory of a work-group, in bytes."""

    byte_count: int
