"""The C header chooses as Python does, to the last bit."""

from __future__ import annotations

import math
import random
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from coarsen.dispatch.choosing import feature_values
from coarsen.dispatch.features import ArgumentKind, Feature, KernelArgument
from coarsen.dispatch.header import c_header
from coarsen.dispatch.launch_sizes import sequence_function, size_inputs
from coarsen.dispatch.tree import Leaf, Split, Tree
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedLaunch, TunedVersion
from coarsen.errors import InvalidInputError
from coarsen.variant.transforms import Transforms
from coarsen.variant.variant import Variant
from tests.dispatch.files import FILE, PLAIN, chooser

Numbers = Mapping[str, int | float]
NAMES = ("bytes_a", "width", "height", "scale", "spread")
MAIN = """
#include "choose.h"
#include <stdio.h>
int main(void)
{
    long long bytes_a, width, height;
    double scale, spread;
    while (scanf("%lld %lld %lld %lf %lf", &bytes_a, &width, &height, &scale, &spread) == 5) {
        struct mv_inputs in = {INPUTS};
        struct mv_launch launch = {0};
        int chosen = mv_choose(&in, &launch);
        printf("%d %d", mv_version(&in), chosen);
        if (chosen >= 0)
            printf(" %zu %zu", launch.global_size[0], launch.local_size[0]);
        printf("\\n");
    }
    return 0;
}
"""


def answers_in_c(file: TunedFile, inputs: Sequence[Numbers], folder: Path) -> list[list[int]]:
    """The tree's version, the one launched, its sizes, for each input."""
    header = c_header(file)
    members = [name for name in NAMES if f" {name};" in header]
    text = MAIN.replace("INPUTS", ", ".join(f".{name} = {name}" for name in members))
    (folder / "choose.h").write_text(header)
    (folder / "main.c").write_text(text)
    # Of an architecture that has fused operations, and with all that a compiler may do of itself.
    flags = ["-O2", "-march=native", "-ffp-contract=fast", "-Wall", "-Wextra", "-Werror"]
    command = ["gcc", "-std=c99", *flags, "main.c", "-o", "main", "-lm"]
    subprocess.run(command, cwd=folder, check=True)
    lines = "\n".join(" ".join(as_c(numbers[name]) for name in NAMES) for numbers in inputs)
    result = subprocess.run([folder / "main"], input=lines, capture_output=True, text=True, check=True)
    return [[int(word) for word in line.split()] for line in result.stdout.splitlines()]


def as_c(number: float) -> str:
    return str(number) if isinstance(number, int) else number.hex()


def answers_in_python(file: TunedFile, inputs: Iterable[Numbers]) -> list[list[int]]:
    made = chooser(file)
    names = size_inputs(file)
    sizes = [sequence_function(file, version, names) for version in file.versions]
    found = []
    for numbers in inputs:
        chosen = made(numbers)
        version = file.default if chosen is None else chosen
        given = [int(numbers[name]) for name in names]
        found.append([version, *launched(file, version, sizes, given)])
    return found


def launched(file: TunedFile, version: int, sizes: Sequence[object], numbers: Sequence[int]) -> list[int]:
    for number in (version, file.default):
        function = sizes[number]
        assert callable(function)
        found = function(*numbers)
        if found is None or found.launches[0].global_size is None:
            continue
        ((whole,), (local,), _) = found.launches[0]
        factor = file.versions[number].variant.factor
        if factor == 1 or (whole % local == 0 and local % factor == 0):
            return [number, whole // factor, local // factor]
    return [-1]


def random_inputs(count: int) -> list[dict[str, int | float]]:
    generator = random.Random(7)

    def whole() -> int:
        return generator.choice((1, -1)) * int(2 ** generator.uniform(-1, 63)) + generator.randrange(-3, 3)

    def real() -> float:
        return generator.choice(
            (0.0, math.inf, math.nan, 1e308, generator.uniform(-9, 9), generator.uniform(0, 0.2))
        )

    return [
        {
            "bytes_a": abs(whole()),
            "width": generator.choice((whole(), generator.randrange(1, 4096))),
            "height": generator.choice((whole(), generator.randrange(1, 4096))),
            "scale": real(),
            "spread": real(),
        }
        for _ in range(count)
    ]


def within_64_bits(value: int | float) -> int | float:
    return max(-(2**63), min(2**63 - 1, value)) if isinstance(value, int) else value


def test_ten_thousand_inputs(tmp_path: Path) -> None:
    inputs = [
        {name: within_64_bits(value) for name, value in numbers.items()} for numbers in random_inputs(10_000)
    ]
    expected = answers_in_python(PLAIN, inputs)
    assert {tuple(line[:2]) for line in expected} == {(0, 0), (0, -1), (1, 0), (1, 1)}
    assert answers_in_c(PLAIN, inputs, tmp_path) == expected


FORMULAS = (
    "log2(height / width)",
    "height / width * scale - scale",
    "bytes_a / (1 + width * 3)",
    "log2(0.1 * height + scale)",
    "-scale * scale + height / 3",
    "max(scale, width / 7) - min(width, height) / 11.0",
    "(width + height) * 0.1",
)
POINTS = [
    {"bytes_a": 4096 + n, "width": 3 + 7 * n, "height": 1000 - 13 * n, "scale": 0.3 * n + 0.1, "spread": 0.0}
    for n in range(9)
]
NEAR = [
    {**point, name: int(point[name]) + off} for point in POINTS for name in ("width", "height") for off in (-1, 1)
]


@pytest.mark.parametrize("formula", FORMULAS)
def test_every_threshold_and_its_neighbours(formula: str, tmp_path: Path) -> None:
    """Each threshold is what a formula comes to somewhere: another last bit there is another version."""
    feature = Feature("aspect", formula)
    compute = feature_values([feature], FILE.arguments)
    values = [found["aspect"] for found in map(compute.of, POINTS) if found is not None]
    thresholds = sorted({near for value in values for near in neighbours(value)})
    tree = balanced(thresholds, "aspect")
    file = with_tree(tree, len(thresholds) + 1, feature)
    inputs = [*POINTS, *NEAR]
    expected = answers_in_python(file, inputs)
    assert len({line[0] for line in expected}) >= len(set(values))
    assert answers_in_c(file, inputs, tmp_path) == expected


def neighbours(value: float) -> tuple[float, ...]:
    """A number, and those next to it."""
    return value, math.nextafter(value, math.inf), math.nextafter(value, -math.inf)


def with_tree(tree: Tree, versions: int, feature: Feature) -> TunedFile:
    return replace(
        PLAIN,
        features=(feature, Feature("spread", "spread")),
        versions=tuple(TunedVersion(Variant((1 + n,)), FILE.versions[0].launches) for n in range(versions)),
        tree=tree,
    )


def test_thresholds_of_a_real_argument(tmp_path: Path) -> None:
    thresholds = [-1e300, -0.5, 0.0, 5e-324, 0.1, 1 / 3, 1e16, 1e300]
    file = replace(with_tree(Leaf(0), 9, Feature("bytes", "width")), tree=balanced(thresholds, "spread"))
    base = {"bytes_a": 1, "width": 3, "height": 8, "scale": 1.0}
    values = [value for threshold in thresholds for value in neighbours(threshold)]
    inputs = [{**base, "spread": value} for value in (*values, math.nan, math.inf, -math.inf, -0.0)]
    assert answers_in_c(file, inputs, tmp_path) == answers_in_python(file, inputs)


def balanced(thresholds: Sequence[float], feature: str, first: int = 0) -> Tree:
    """A tree with a version for each range between thresholds."""
    if not thresholds:
        return Leaf(first)
    middle = len(thresholds) // 2
    at_most = balanced(thresholds[:middle], feature, first)
    above = balanced(thresholds[middle + 1 :], feature, first + middle + 1)
    return Split(feature, thresholds[middle], at_most, above)


def test_the_same_file_gives_the_same_header() -> None:
    assert c_header(PLAIN) == c_header(TunedFile.from_bytes(PLAIN.to_bytes()))


def test_a_name_that_is_a_word_of_c_is_refused() -> None:
    arguments = (*PLAIN.arguments, KernelArgument("volatile", ArgumentKind.WHOLE))
    file = replace(PLAIN, arguments=arguments, features=(Feature("v", "volatile"),), tree=Leaf(0))
    with pytest.raises(InvalidInputError, match="can't have the name volatile"):
        c_header(file)


def test_no_text_of_the_file_ends_a_comment() -> None:
    header = c_header(replace(PLAIN, device="*/ #error no\n#error"))
    assert "*/ #error" not in header
    assert "\n#error no" not in header


def test_wide_accesses_are_refused_since_no_header_knows_how_large_buffers_are() -> None:
    wide = replace(FILE.versions[1].variant, transforms=Transforms(wide_accesses=True))
    file = replace(PLAIN, versions=(FILE.versions[0], replace(FILE.versions[1], variant=wide)))
    with pytest.raises(InvalidInputError, match="version 1 is guarded, has wide accesses or tiles, or takes"):
        c_header(file)


def test_a_launch_of_another_kernel_alone_is_refused() -> None:
    other = TunedVersion(Variant((64,)), (TunedLaunch("mv_rows", ("height",)),))
    with pytest.raises(InvalidInputError, match="version 1 launches mv_rows in place of mv"):
        c_header(replace(FILE, versions=(FILE.versions[0], other), tree=Leaf(1)))


def test_versions_of_the_callers_sizes_with_other_macros_are_refused() -> None:
    versions = tuple(TunedVersion(Variant((64,), (), (("ROWS", rows),))) for rows in ("1", "4"))
    with pytest.raises(InvalidInputError, match="versions without launches have other macros"):
        c_header(replace(FILE, versions=versions, tree=Leaf(1)))
