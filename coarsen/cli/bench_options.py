"""The options of `coarsen bench`, and the sweeps that they ask for."""

from __future__ import annotations

import enum
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coarsen.errors import InvalidInputError

if TYPE_CHECKING:
    from coarsen.opencl_bench.records.measurement import Method


class CodeForm(enum.StrEnum):
    """What the device is given."""

    OPENCL_C = "opencl_c"
    SPIRV = "spirv"


class AgainChoice(enum.StrEnum):
    """Which stored rows are measured once more."""

    NOTHING = "nothing"
    FAILED = "failed"
    UNCERTAIN = "uncertain"
    EVERYTHING = "everything"


class SuiteName(enum.StrEnum):
    """A set of kernels that belong together."""

    SEVENTEEN = "seventeen"
    JUDGE = "judge"
    RECORDS = "records"


Kernels = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="KERNEL",
        help="Names of the suite, synthetic-SEED-NUMBER, launch-SEED-NUMBER, judge-NAME, records-NAME, or "
        "files: KERNEL.toml, or KERNEL.cl beside it.  [default: the seventeen of the paper]",
        show_default=False,
    ),
]
Suite = Annotated[
    SuiteName | None,
    typer.Option(
        "--suite",
        help="All kernels of a suite: the seventeen of the paper, those whose arrays hold records, or the second "
        "judge's thirty, which nothing may learn from.  [default: the seventeen, without any KERNEL]",
        show_default=False,
    ),
]
Devices = Annotated[
    list[str] | None,
    typer.Option(
        "-d",
        "--device",
        metavar="NAME",
        help="An index (0:1) or any part of the name. May be repeated.  [default: the first that works]",
    ),
]
PresetName = Annotated[str, typer.Option("--preset", metavar="NAME", help="The sizes: test, cpu, gpu, paper.")]
Seed = Annotated[int, typer.Option("--seed", metavar="NUMBER", min=0, help="Seed of the inputs, and of a search.")]
FormOption = Annotated[CodeForm, typer.Option("--form", help="What the device is given.")]
Repetitions = Annotated[
    int | None,
    typer.Option(
        "--repetitions",
        metavar="NUMBER",
        min=1,
        help="Timed runs at most; fewer once the interval is narrow.  [default: 50, with --quick 7]",
    ),
]
Quick = Annotated[bool, typer.Option("--quick", help="Few runs, wide intervals: a first look.")]
Synthetic = Annotated[
    int | None,
    typer.Option(
        "--synthetic",
        metavar="COUNT",
        min=1,
        help="Also measure COUNT synthetic kernels, from synthetic-0-0 on; a KERNEL may be one of them, too.",
    ),
]
SyntheticSeed = Annotated[
    int | None,
    typer.Option(
        "--synthetic-seed",
        metavar="NUMBER",
        min=0,
        help="Seed that the synthetic kernels are drawn from.  [default: 0]",
    ),
]
FreeLaunch = Annotated[
    str | None,
    typer.Option(
        "--free-launch",
        metavar="FIRST-LAST",
        help="Kernels of free launch, launch-SEED-NUMBER, of these numbers: 0-99. --synthetic-seed is their seed.",
    ),
]
NoConfirmation = Annotated[
    bool,
    typer.Option("--no-confirmation", help="Don't time the best configurations once more in new processes."),
]
ColdCache = Annotated[bool, typer.Option("--cold-cache", help="Flush the caches before every timed run.")]
TimeoutMultiple = Annotated[
    float | None,
    typer.Option(
        "--timeout-multiple",
        metavar="NUMBER",
        help="Give up what takes so many times the best time so far.  [default: 10]",
    ),
]
AgainOption = Annotated[AgainChoice, typer.Option("--again", help="Which stored rows to measure once more.")]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Sweep on the workers of this Dask scheduler, tcp://127.0.0.1:PORT or tls://HOST:PORT. They all use "
        "one store: with tls:// one in PostgreSQL, whose password each has in its own COARSEN_STORE or "
        "PGPASSFILE; on this machine an SQLite file does, too. They offer "
        "devices by the names given to --device, in small letters: "
        "dask worker ADDRESS --host 127.0.0.1 --resources 'pocl=1'",
    ),
]
TlsCaFile = Annotated[
    Path | None,
    typer.Option("--tls-ca-file", metavar="FILE", help="For tls://: who vouches for scheduler and workers (PEM)."),
]
TlsCertificate = Annotated[
    Path | None, typer.Option("--tls-cert", metavar="FILE", help="For tls://: this machine's certificate (PEM).")
]
TlsKey = Annotated[
    Path | None, typer.Option("--tls-key", metavar="FILE", help="For tls://: the key of that certificate (PEM).")
]
TrustNetwork = Annotated[
    bool,
    typer.Option(
        "--trust-network",
        help="Take a tcp:// scheduler on another machine: whoever reaches its port can run code on all workers.",
    ),
]
Export = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", help="Write the rows there too: .json (T4), .parquet or .csv."),
]


def method_of(quick: bool, repetitions: int | None, cold_cache: bool, timeout_multiple: float | None) -> Method:
    """Return the method that the options ask for. Raises InvalidInputError for a multiple that isn't above 1."""
    from coarsen.opencl_bench.records.measurement import QUICK, Method

    method = replace(QUICK if quick else Method(), cold_cache=cold_cache)
    if repetitions is not None:
        fewest = min(method.minimum_repetitions, repetitions)
        method = replace(method, repetitions=repetitions, minimum_repetitions=fewest)
    if timeout_multiple is not None:
        if not 1 < timeout_multiple < float("inf"):
            raise InvalidInputError(f"--timeout-multiple must be above 1, not {timeout_multiple:g}")
        method = replace(method, timeout_multiple=timeout_multiple)
    return method


def checked_export(path: Path | None) -> Path | None:
    """Return the file to write, once it is known to be of a known kind: a sweep takes long.

    Raises InvalidInputError.
    """
    if path is None:
        return None
    # Imported late: it loads PyArrow.
    from coarsen.opencl_bench.results.exchange.files import WRITERS

    if path.suffix not in WRITERS:
        raise InvalidInputError(f"{path}: the name must end with one of {', '.join(WRITERS)}")
    if not path.resolve().parent.is_dir():
        raise InvalidInputError(f"{path}: there is no such folder")
    if path.is_dir():
        raise InvalidInputError(f"{path}: can't be written: it is a folder")
    return path
