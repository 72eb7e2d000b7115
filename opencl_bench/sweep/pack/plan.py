"""The plan of a pack: which configurations of which benchmarks to measure, and where their code is.

    DIR/plan.json              this plan
    DIR/code/<key>.cl|spv|ptx  each distinct code once
    DIR/benchmarks/<number>/   a user's benchmark: its TOML file and its kernel

Needs nothing but Python and NumPy: it is read where a pack is run.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from coarsen.ir.kernel import AddedArgument, WrittenArgument
from coarsen.opencl_bench.measure.environment import Versions
from coarsen.opencl_bench.records.code import Code, Form, LaidArgument
from coarsen.opencl_bench.records.measurement import Invalidity, Method, Subject
from coarsen.variant.placement import PlacedArgument
from coarsen.variant.variant import Definitions, Variant

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
