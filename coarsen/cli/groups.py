"""A command that is a group of commands: `coarsen results ls`, `coarsen results show`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Group:
    """Commands under one word.

    `description` is the group's help, `commands` their functions by name, in the order of the help.
    """

    description: str
    commands: Mapping[str, Callable[..., Any]]
