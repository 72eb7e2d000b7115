"""The plan of a pack: which configurations of which benchmarks to measure, and where their code is.

    DIR/plan.json              this plan
    DIR/code/<key>.cl|spv|ptx  each distinct code once
    DIR/benchmarks/<number>/   a user's benchmark: its TOML file and its kernel

Needs nothing but Python and NumPy: it is read where a pack is run.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from coarsen.base.codec import decoded, encoded
from coarsen.errors import InvalidInputError
from coarsen.ir.added_arguments import AddedArgument
from coarsen.ir.kernel import WrittenArgument
from coarsen.tuning.measure.environment import Versions
from coarsen.tuning.records.code import Code, Form, LaidArgument
from coarsen.tuning.records.measurement import Invalidity, Method, Subject
from coarsen.variant.placement import PlacedArgument
from coarsen.variant.variant import Definitions, Variant
from coarsen.variant.variant_json import variant_from_json, variant_to_json

FORMAT = 8
PLAN_FILE = "plan.json"
CODE_FOLDER = "code"
BENCHMARK_FOLDER = "benchmarks"
SUFFIXES: dict[Form, str] = {"opencl_c": ".cl", "spirv": ".spv", "ptx": ".ptx"}


@dataclass(frozen=True, slots=True)
class PackedCandidate:
    """A configuration of a pack: the hash of its code, or why it has none.

    `invalidity` is then `compile` or `timeout`; `constraints` where it wasn't compiled since it breaks a limit
    that the pack was made for. `seconds` is how long the compilation took.
    """

    candidate: Variant
    code: str | None = None
    seconds: float = 0.0
    invalidity: Invalidity = Invalidity.CORRECT
    failure: str = ""


@dataclass(frozen=True, slots=True)
class PackedSweep:
    """The sweep of one benchmark with code of one form.

    `benchmark` is a name of the suite, or the path of a TOML file within the pack. `subjects` holds the subject of
    each set of macro values. `content_hash` is the benchmark's at the preset; empty in old packs, which
    lack it. `default`: the version that all others are compared with and timed against; None where these are the
    uncoarsened kernel and the best local size of it.
    """

    benchmark: str
    preset: str
    seed: int
    form: Form
    method: Method
    subjects: tuple[tuple[Definitions, Subject], ...]
    candidates: tuple[PackedCandidate, ...]
    content_hash: str = ""
    default: Variant | None = None

    @property
    def name(self) -> str:
        """The benchmark's name."""
        return self.subjects[0][1].benchmark


@dataclass(frozen=True, slots=True)
class PackPlan:
    """All sweeps of a pack. `versions` are those of what made the code."""

    versions: Versions
    sweeps: tuple[PackedSweep, ...]


@dataclass(frozen=True, slots=True)
class CodeEntry:
    """The plan's entry for a file of code; `others` are keys of codes that it needs beside it (see `Code`)."""

    form: Form
    kernel: str
    options: tuple[str, ...] = ()
    added_arguments: tuple[AddedArgument, ...] = ()
    kernels: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    arrays: tuple[LaidArgument, ...] = ()
    placed: tuple[PlacedArgument, ...] = ()
    written: tuple[WrittenArgument, ...] = ()

    @classmethod
    def of(cls, code: Code, others: tuple[str, ...] = ()) -> CodeEntry:
        """Return the entry of some code; `others` are the keys of those that it needs."""
        facts = code.added_arguments, code.kernels, others, code.arrays, code.placed, code.written
        return cls(code.form, code.kernel, code.options, *facts)


@dataclass(frozen=True, slots=True)
class Packed:
    """A plan with the codes that it names, by key."""

    plan: PackPlan
    codes: dict[str, CodeEntry] = field(default_factory=dict)


def keys_of(code: Code) -> tuple[str, str]:
    """Return the keys that some code may have in a plan: its hash; where another kernel's has that, its own."""
    others = (keys_of(each)[1] for each in code.others)
    own = [
        code.hash,
        code.kernel,
        *code.kernels,
        *map(repr, code.added_arguments),
        *map(repr, code.arrays),
        *map(repr, code.placed),
        *map(repr, code.written),
        *others,
    ]
    return code.hash, hashlib.sha256("\0".join(own).encode()).hexdigest()


def code_file(key: str, form: Form) -> str:
    """Return the path of a code's file within the pack."""
    return f"{CODE_FOLDER}/{key}{SUFFIXES[form]}"


# A pack's plan as JSON, and back.

_HASH = re.compile(r"[0-9a-f]{64}")


def plan_to_json(packed: Packed) -> dict[str, Any]:
    """Return the plan as dictionaries, lists, texts and numbers; `plan_from_json` reads it back."""
    value = encoded(packed, {Variant: variant_to_json})
    return {"format": FORMAT, **value["plan"], "codes": value["codes"]}


def plan_from_json(value: object) -> Packed:
    """Return the plan that `plan_to_json` wrote. Raises InvalidInputError where it is none that can be read."""
    if not isinstance(value, Mapping) or "format" not in value:
        raise InvalidInputError("the plan does not say its format")
    if value["format"] != FORMAT:
        raise InvalidInputError(
            f"the plan has format {value['format']!a}; this version of coarsen reads format {FORMAT}: "
            "write the pack anew"
        )
    plan = {name: entry for name, entry in value.items() if name not in ("format", "codes")}
    if isinstance(plan.get("sweeps"), list):
        # Packs that say which space their candidates are of are read as well.
        plan["sweeps"] = [_without_space(sweep) for sweep in plan["sweeps"]]
    content = {"plan": plan, "codes": value.get("codes")}
    packed = decoded(Packed, content, "the pack", {Variant: variant_from_json})
    _check_codes(packed)
    for sweep in packed.plan.sweeps:
        _check_sweep(sweep, packed)
    return packed


def _without_space(sweep: object) -> object:
    return {name: entry for name, entry in sweep.items() if name != "space"} if isinstance(sweep, dict) else sweep


def _check_codes(packed: Packed) -> None:
    """Raise InvalidInputError for a code whose name is no hash: names become paths."""
    for name in packed.codes:
        if not _HASH.fullmatch(name):
            raise InvalidInputError(f"the plan is damaged: {name[:64]!a} is no hash")
    for name, entry in packed.codes.items():
        for other in entry.others:
            # One that needs others itself could need itself.
            if other not in packed.codes or packed.codes[other].others:
                raise InvalidInputError(f"the plan is damaged: the code {name[:12]!a} needs one that is not there")


def _check_sweep(sweep: PackedSweep, packed: Packed) -> None:
    path = PurePosixPath(sweep.benchmark)
    if path.is_absolute() or ".." in path.parts:
        raise InvalidInputError(f"the plan is damaged: the path {sweep.benchmark!a} leads out of the pack")
    if not sweep.subjects or not sweep.candidates:
        raise InvalidInputError(f"the plan is damaged: the sweep of {sweep.benchmark!a} has no candidates")
    if sweep.default is not None and sweep.default not in [each.candidate for each in sweep.candidates]:
        raise InvalidInputError(f"the plan is damaged: the sweep of {sweep.benchmark!a} has no default version")
    for candidate in sweep.candidates:
        if candidate.code is not None and candidate.code not in packed.codes:
            raise InvalidInputError(f"the plan does not say what the code {candidate.code[:12]!a} is")
