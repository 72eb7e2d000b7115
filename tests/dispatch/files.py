"""A tuned file to test with: two features and three versions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from coarsen.dispatch.choosing import asked_values
from coarsen.dispatch.features import ArgumentKind, Feature, KernelArgument
from coarsen.dispatch.tree import Leaf, Split, answer
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedLaunch, TunedVersion
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant

ARGUMENTS = (
    KernelArgument("a", ArgumentKind.BUFFER),
    KernelArgument("width", ArgumentKind.WHOLE),
    KernelArgument("height", ArgumentKind.WHOLE),
    KernelArgument("scale", ArgumentKind.REAL),
    KernelArgument("tile", ArgumentKind.LOCAL),
    KernelArgument("spread", ArgumentKind.REAL),
)
ASPECT = Split("aspect", 3.5, Leaf(0), Leaf(1))
FILE = TunedFile(
    kernel="mv",
    arguments=ARGUMENTS,
    source_hash="0" * 64,
    device="a device",
    driver="1.0",
    build_options=("-DT=float",),
    coarsen_version="0.2.0",
    features=(Feature("aspect", "log2(height / width)"), Feature("spread", "spread")),
    versions=(
        TunedVersion(Variant((64,)), (TunedLaunch("mv", ("height",)),)),
        TunedVersion(
            Variant((128,), (Coarsening(2, 0),), (("ROWS", "4"),)),
            (TunedLaunch("mv", ("(height + ROWS - 1) // ROWS",), (), (("tile", "4 * local_size_0"),)),),
        ),
        TunedVersion(
            Variant((), (), (("IMPL", "2"),)),
            (
                TunedLaunch("part", ("width",), ("64",), arguments=("a", "sums", "uint: width")),
                TunedLaunch("finish", ("64",), ("64",), arguments=("sums", "a")),
            ),
            (("sums", "bytes_a // 64"),),
        ),
    ),
    default=0,
    tree=Split("spread", 0.1, ASPECT, Leaf(2)),
    evidence={"inputs": 24, "regret": {"mean": 0.01}},
)
# The same without the version of several launches.
PLAIN = replace(
    FILE,
    versions=FILE.versions[:2],
    features=(
        *FILE.features,
        Feature("rest", "min(width, height) % 7 + 0.5 * scale"),
        Feature("bytes", "bytes_a // 4 - width"),
    ),
    tree=Split(
        "spread",
        0.1,
        Split("aspect", -1.5, Split("bytes", 100.0, Leaf(1), Leaf(0)), ASPECT),
        Split("rest", 3.0, Leaf(0), Leaf(1)),
    ),
)


def chooser(file: TunedFile) -> Callable[[Mapping[str, int | float]], int | None]:
    """What chooses a version by the numbers of a launch."""
    asked = asked_values(file)

    def version(numbers: Mapping[str, int | float]) -> int | None:
        values = asked.of(numbers)
        return None if values is None else answer(file.tree, values)

    return version
