"""One point of the optimisation space, and the code that was made for it.

kernel × coarsening (factor, dimension, stride) × local size × -D values
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.benchmark import Definitions as Definitions
from coarsen.opencl_bench.workloads.benchmark import LocalSize
from coarsen.variant.coarsening import Coarsening, Configuration, Level, configuration

Form = Literal["opencl_c", "spirv", "ptx"]
FORMS: tuple[Form, ...] = ("opencl_c", "spirv", "ptx")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A kernel's coarsening, local size and macro values.

    `local_size` is that of the original launch, in work-items: the coarsened kernel runs with it divided by the
    factors. `definitions` are the `-D` values in the order of their names.

    Raises:
        InvalidInputError: work-groups would be merged.
    """

    local_size: LocalSize
    coarsenings: Configuration = ()
    definitions: Definitions = ()

    def __post_init__(self) -> None:
        # A stored configuration is factor, dimension and stride: the level would be lost.
        if any(coarsening.level is Level.GROUP for coarsening in self.coarsenings):
            raise InvalidInputError("a configuration that is measured merges work-items, not work-groups")

    @property
    def factor(self) -> int:
        """How many work-items become one, over all dimensions; 1 for the uncoarsened kernel."""
        return math.prod(coarsening.factor for coarsening in self.coarsenings)

    def __str__(self) -> str:
        coarsenings = " and ".join(map(str, self.coarsenings)) or "uncoarsened"
        definitions = "".join(f", -D {name}={value}" for name, value in self.definitions)
        return f"{coarsenings}, local size {shape(self.local_size)}{definitions}"

    def to_json(self) -> dict[str, Any]:
        """A form that JSON takes; `candidate_from_json` reads it back."""
        return {
            "local_size": list(self.local_size),
            "coarsenings": [[c.factor, c.dimension, c.stride] for c in self.coarsenings],
            "definitions": dict(self.definitions),
        }


@dataclass(frozen=True, slots=True)
class Code:
    """A kernel as a device is given it: OpenCL C or PTX text, or SPIR-V bytes, with its build options."""

    form: Form
    kernel: str
    content: str | bytes
    options: tuple[str, ...] = ()

    @property
    def hash(self) -> str:
        """SHA-256 of content and options, in hexadecimal digits."""
        content = self.content.encode() if isinstance(self.content, str) else self.content
        return hashlib.sha256(content + "\0".join(self.options).encode()).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """A form that JSON takes; `code_from_json` reads it back."""
        content = self.content if isinstance(self.content, str) else base64.b64encode(self.content).decode()
        return {"form": self.form, "kernel": self.kernel, "content": content, "options": list(self.options)}


def candidate_from_json(value: Mapping[str, Any]) -> Candidate:
    """The candidate that `to_json` wrote. Raises InvalidInputError where it is none."""
    try:
        return Candidate(
            tuple(int(extent) for extent in value["local_size"]),
            configuration(Coarsening(*entry) for entry in value["coarsenings"]),
            tuple(sorted((str(name), str(text)) for name, text in value["definitions"].items())),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidInputError(f"not a configuration: {value!r}") from error


def code_from_json(value: Mapping[str, Any]) -> Code:
    """The code that `to_json` wrote. Raises InvalidInputError where it is none."""
    try:
        form, content = value["form"], value["content"]
        if form not in FORMS:
            raise ValueError(form)
        binary = form == "spirv"
        return Code(
            form,
            value["kernel"],
            base64.b64decode(content) if binary else str(content),
            tuple(value["options"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInputError("not the code of a kernel") from error


def shape(local_size: LocalSize) -> str:
    """A local size as it is written: `16×16`."""
    return "×".join(map(str, local_size))
