"""The options of `coarsen apply`, and which transforms they mean."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from coarsen.cli.options import whole_number
from coarsen.cli.output import Format
from coarsen.variant.coarsening import Level
from coarsen.variant.transforms import DeviceKind, Use


class Form(enum.StrEnum):
    """The forms that can be written: OpenCL C, LLVM IR, SPIR-V, PTX."""

    CL = "cl"
    LL = "ll"
    SPV = "spv"
    PTX = "ptx"


class Stage(enum.StrEnum):
    """The stages of the pipeline after which there is IR to show."""

    LOWER = "lower"
    LAYOUT = "layout"
    GUARD = "guard"
    REPLICATE = "replicate"
    NORMALISE = "normalise"
    WIDEN = "widen"


# What to coarsen by.

Factors = Annotated[
    list[int] | None,
    typer.Option(
        "--factor",
        metavar="FACTOR",
        help="How many work-items, or work-groups, become one. Repeat it, and --dim, for several.",
        parser=whole_number,
    ),
]
Dimensions = Annotated[
    list[int] | None,
    typer.Option(
        "--dim",
        metavar="DIMENSION",
        help="The dimension of the NDRange: 0, 1 or 2.  [default: 0]",
        parser=whole_number,
    ),
]
Strides = Annotated[
    list[int] | None,
    typer.Option(
        "--stride",
        metavar="STRIDE",
        help="How far apart the merged work-items stand.  [default: 1]",
        parser=whole_number,
    ),
]
Levels = Annotated[
    list[Level] | None,
    typer.Option("--level", help="Merge work-items, or whole work-groups; one for each --dim.  [default: item]"),
]
Device = Annotated[
    str | None,
    typer.Option(
        "-d",
        "--device",
        metavar="NAME",
        help="Take the factor predicted for this device; choose the transforms for its kind.",
    ),
]

# How to coarsen.

AnySize = Annotated[
    bool,
    typer.Option(
        "--any-size", help="Take global sizes that the factor does not divide; the kernel gets an argument."
    ),
]
FastPath = Annotated[
    Use,
    typer.Option("--fast-path", help="Run a divergent region once where all merged work-items go the same way."),
]
LockStep = Annotated[
    Use, typer.Option("--lock-step", help="Run a divergent loop for all merged work-items at once.")
]
WideAccesses = Annotated[
    bool,
    typer.Option("--wide-accesses/--no-wide-accesses", help="One vector access where addresses are consecutive."),
]
CleanUp = Annotated[
    bool, typer.Option("--clean-up/--no-clean-up", help="Remove what the rewriting of ids left over.")
]
Distinct = Annotated[
    bool,
    typer.Option(
        "--distinct/--no-distinct",
        help="Take it that pointer arguments lead to distinct memory: keep in registers what loops accumulate.",
    ),
]
Kind = Annotated[
    DeviceKind | None,
    typer.Option("--device-kind", help="What the kernel is to run on.  [default: that of --device, else any]"),
]

# Where data lie.

Layouts = Annotated[
    list[str] | None,
    typer.Option(
        "--layout",
        metavar="ARG=LAYOUT",
        help="Let an argument's array lie as aos, soa, aosoa:WIDTH, deep-soa, deep-aosoa:WIDTH. Repeat for more.",
    ),
]
Orders = Annotated[
    list[str] | None,
    typer.Option(
        "--order",
        metavar="ARG=ORDER",
        help="Let its dimensions lie in another order: 1,0 for a transposed matrix.",
    ),
]
Shapes = Annotated[
    list[str] | None,
    typer.Option(
        "--shape", metavar="ARG=SHAPE", help="How many elements it has: 1000, or 48,64 for 48 rows of 64."
    ),
]
Places = Annotated[
    list[str] | None,
    typer.Option(
        "--place",
        metavar="ARG=PLACE",
        help="Read an argument's array from constant, noncoherent or local memory, or global as written.",
    ),
]
Pads = Annotated[
    list[str] | None,
    typer.Option(
        "--pad",
        metavar="ARRAY=PAD",
        help="Keep the rows of a static local array apart in the banks: by a number of elements, auto or xor.",
    ),
]

# What to write.

Emit = Annotated[
    Form | None, typer.Option("--emit", help="Write OpenCL C, LLVM IR, SPIR-V or PTX.  [default: cl]")
]
Output = Annotated[
    Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write there, not to standard output.")
]
Explain = Annotated[
    bool,
    typer.Option(
        "--explain",
        help="Mark divergent lines and regions, with --factor what comes of them, instead.",
    ),
]
Report = Annotated[
    bool,
    typer.Option("--report", help="Say instead what was done to each divergent region, and what accesses cost."),
]
LocalSize = Annotated[
    str | None,
    typer.Option(
        "--local-size",
        metavar="SIZE",
        help="The original launch's local size, 64 or 16x16, for what memory accesses cost; with --report.",
    ),
]
ReportFormat = Annotated[
    Format | None,
    typer.Option("-f", "--format", help="Of the report: a table to read, or JSON.  [default: table]"),
]
PrintAfter = Annotated[
    list[Stage] | None,
    typer.Option(
        "--print-after",
        metavar="STAGE",
        help="Show the IR after lower, layout, guard, replicate, normalise or widen. May be repeated.",
    ),
]
TimePasses = Annotated[bool, typer.Option("--time-passes", help="Show how long each stage took.")]
