"""What is kept of one measured configuration: what ran, where, how, and what came of it.

A measurement is identified by its content (`Measurement.key`): the normalised IR, the options, the configuration,
the sizes, the device, the driver, the versions and the method. Two runs of the same thing have the same key.
"""

from __future__ import annotations

import enum
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache

from coarsen.errors import one_line
from coarsen.tuning.records.code import Form
from coarsen.tuning.workload.benchmark import Clock
from coarsen.variant.transforms import REPLICATION_ALONE, Transforms, device_kind_of
from coarsen.variant.variant import Variant
from coarsen.variant.variant_json import variant_to_json

# The name of a version, in rows of old, that is no package's: of the code that a configuration stood for.
TRANSFORM = "transform"
# How the reason of a row ends whose code the driver wasn't through with in time.
WHILE_BUILT = "while it was built"


class Invalidity(enum.StrEnum):
    """How a configuration ended, in the words of the T4 format."""

    CORRECT = "correct"
    TIMEOUT = "timeout"
    COMPILE = "compile"
    RUNTIME = "runtime"
    CORRECTNESS = "correctness"
    CONSTRAINTS = "constraints"


class Role(enum.StrEnum):
    """What a measurement is for.

    `selection`: an uncoarsened configuration against the first one, to find the best of them.
    `comparison`: any configuration against the best uncoarsened one, the baseline of every speed-up.
    `confirmation`: a configuration that may be the best once more, in a process started for it, since the largest
    of many noisy numbers is too large.
    """

    SELECTION = "selection"
    COMPARISON = "comparison"
    CONFIRMATION = "confirmation"


class CheckedAgainst(enum.StrEnum):
    """What the results were compared with.

    `default`: the results of the default version, with its own macros, local size and launches.
    """

    REFERENCE = "reference"
    UNCOARSENED = "uncoarsened"
    DEFAULT = "default"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Subject:
    """What is measured, its configuration apart. `size` holds the problem's extents, in elements, by name.

    `ir_hash` is the SHA-256 of the uncoarsened kernel's normalised IR; `build_options` are without `-D` values of
    the configuration.
    """

    benchmark: str
    kernel: str
    ir_hash: str
    build_options: tuple[str, ...]
    preset: str
    size: tuple[tuple[str, int], ...]
    seed: int


@dataclass(frozen=True, slots=True)
class Environment:
    """Where it was measured.

    `versions` are those of coarsen, LLVM and PyOpenCL (or CUDA), by name. Rows that were stored before transforms
    were part of a variant may have one called `transform` (see `implied_transforms`).
    """

    vendor: str
    device: str
    driver_version: str
    platform: str
    platform_version: str
    compute_units: int
    device_types: tuple[str, ...]
    form: Form
    versions: tuple[tuple[str, str], ...]


def implied_transforms(environment: Environment) -> Transforms:
    """Return the transforms of coarsened variants that name none, in rows that were measured in an environment.

    These are of replication alone; with version 2 of the `transform`, which came before variants named theirs, the
    default ones for the kind of device.
    """
    if TRANSFORM not in dict(environment.versions):
        return REPLICATION_ALONE
    return Transforms(device_kind=device_kind_of(environment.device_types))


@dataclass(frozen=True, slots=True)
class Method:
    """How it is measured.

    At least `minimum_repetitions` and at most `repetitions` timed runs, after `warm_up` runs; in between, timing
    stops once the bootstrap interval of the speed-up (of probability `level`) is narrower than `interval_width`,
    relative to the speed-up. `timeout_multiple`: a configuration that takes more than so many times the best time
    so far is given up, `grace_seconds` later where it doesn't end by itself. `compile_seconds`: so long may a
    compilation take. `cold_cache`: caches are flushed before every timed run.
    """

    repetitions: int = 50
    minimum_repetitions: int = 9
    warm_up: int = 1
    interval_width: float = 0.02
    level: float = 0.95
    timeout_multiple: float = 10.0
    grace_seconds: float = 30.0
    compile_seconds: float = 120.0
    cold_cache: bool = False

    def __post_init__(self) -> None:
        # 10 and 10.0 are the same method, so they must have the same key.
        for name in ("interval_width", "level", "timeout_multiple", "grace_seconds", "compile_seconds"):
            object.__setattr__(self, name, float(getattr(self, name)))


QUICK = Method(repetitions=7, minimum_repetitions=3, interval_width=0.1)


@dataclass(frozen=True)
class Measurement:
    """One configuration's row.

    `nanoseconds` are the durations of the whole job (all launches), one per repetition; `baseline_nanoseconds` as
    many of the baseline, each from the run just before. Both are empty unless `invalidity` is correct. `reason`
    says why it isn't, in one line: a compiler's log is made one. `compile_seconds` and `measure_seconds` are
    wall-clock times spent on it; `timed_seconds` is the part of the latter in which the device ran the timed
    kernels. `started_at` is UTC in ISO 8601. `code_hash` is the SHA-256 of what the device was given, empty where
    nothing was. `invocation` counts the fresh processes that a configuration is confirmed in, from 0; it is 0 for
    the other roles (the term is that of Kalibera and Jones, Rigorous Benchmarking in Reasonable Time, 2013).

    `clock` says what the durations of several launches are. Beside a span stand the `sum_nanoseconds` of the
    launches, where the device tells them, and the `host_nanoseconds` that passed on the host, one of each per
    repetition; the same of the baseline.
    """

    subject: Subject
    environment: Environment
    method: Method
    role: Role
    candidate: Variant
    baseline: Variant | None
    invalidity: Invalidity
    started_at: str
    reason: str = ""
    oracle: CheckedAgainst = CheckedAgainst.NOTHING
    nanoseconds: tuple[int, ...] = ()
    baseline_nanoseconds: tuple[int, ...] = ()
    compile_seconds: float = 0.0
    measure_seconds: float = 0.0
    timed_seconds: float = 0.0
    code_hash: str = ""
    invocation: int = 0
    clock: Clock = Clock.SUM
    sum_nanoseconds: tuple[int, ...] = ()
    host_nanoseconds: tuple[int, ...] = ()
    baseline_sum_nanoseconds: tuple[int, ...] = ()
    baseline_host_nanoseconds: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", one_line(self.reason))

    @property
    def is_given_up_as_slow(self) -> bool:
        """Return True if it ran and took too long; that a compiler did says nothing of how fast it is."""
        was_launched = bool(self.code_hash) and not self.reason.endswith(WHILE_BUILT)
        return self.invalidity is Invalidity.TIMEOUT and was_launched

    @cached_property
    def key(self) -> str:
        """SHA-256, in hexadecimal digits, of everything that was decided before the measurement."""
        return content_key(
            self.subject,
            self.environment,
            self.method,
            self.role,
            self.candidate,
            self.baseline,
            self.invocation,
            self.clock,
        )


def timed_seconds_of(nanoseconds: Sequence[int], baseline_nanoseconds: Sequence[int]) -> float:
    """Return how long the device ran the timed kernels of a row, in seconds."""
    return sum((*nanoseconds, *baseline_nanoseconds)) / 1e9


def content_key(
    subject: Subject,
    environment: Environment,
    method: Method,
    role: Role,
    candidate: Variant,
    baseline: Variant | None,
    invocation: int = 0,
    clock: Clock = Clock.SUM,
) -> str:
    """Return the key that a measurement of this will have.

    Transforms that the environment's versions imply are left out, and so are the first invocation and the clock
    that adds up: rows that were stored before there were these keep their keys.
    """
    implied = implied_transforms(environment)
    parts: Mapping[str, str] = {
        "subject": _part_text(subject),
        "environment": _part_text(environment),
        "method": _part_text(method),
        "role": _text_of(role.value),
        "candidate": _variant_text(candidate, implied),
        "baseline": _variant_text(baseline, implied) if baseline else _text_of(None),
        **({"invocation": _text_of(invocation)} if invocation else {}),
        **({"clock": _text_of(clock.value)} if clock is not Clock.SUM else {}),
    }
    text = ",".join(f'"{name}":{parts[name]}' for name in sorted(parts))
    return hashlib.sha256(f"{{{text}}}".encode()).hexdigest()


@lru_cache(maxsize=512)
def _part_text(part: Subject | Environment | Method) -> str:
    """The JSON of what thousands of rows have in common, made once."""
    return _text_of(asdict(part))


@lru_cache(maxsize=1024)
def _variant_text(variant: Variant, implied: Transforms) -> str:
    return _text_of(variant_to_json(variant, implied))


def _text_of(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
