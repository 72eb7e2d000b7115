"""The C header has the launches of versions that take several, as Python has them."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from coarsen.dispatch.features import ArgumentKind, Feature, KernelArgument
from coarsen.dispatch.header import c_header
from coarsen.dispatch.launch_sizes import (
    NUMBER_RANGES,
    passed_arguments,
    sequence_function,
)
from coarsen.dispatch.tree import Leaf, Split
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedLaunch, TunedVersion
from coarsen.errors import InvalidInputError
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.variant import Source, Variant
from tests.dispatch.files import FILE, PLAIN

NUMBERS = tuple(f"{kind}: n * 3 - 5" for kind in NUMBER_RANGES)
SEQUENCE = TunedVersion(
    Variant((8,), (), (("CHUNK", "16"),)),
    (
        TunedLaunch("parts", ("(n + CHUNK - 1) // CHUNK * 8",), (), (), ("x", "n", "sums", *NUMBERS)),
        TunedLaunch("middle", ("n", "2"), ("1", "2"), (("tile", "n - 7"),), ("rest", "tile", "sums")),
        TunedLaunch("total", ("64 * n",), ("64",)),
    ),
    (("sums", "(n + CHUNK - 1) // CHUNK * 4"), ("rest", "bytes_x - n")),
)
ALONE = TunedVersion(Variant(), (TunedLaunch("total", ("n",), (), (("tile", "n // 3"),)),))
SUM = TunedFile(
    kernel="total",
    arguments=(
        KernelArgument("x", ArgumentKind.BUFFER),
        KernelArgument("n", ArgumentKind.WHOLE),
        KernelArgument("tile", ArgumentKind.LOCAL),
    ),
    source_hash="0" * 64,
    device="a device",
    driver="1.0",
    build_options=(),
    coarsen_version="0.2.0",
    features=(Feature("n", "n"),),
    versions=(ALONE, SEQUENCE),
    default=0,
    tree=Split("n", 50.0, Leaf(0), Leaf(1)),
)
MAIN = """
#include "choose.h"
#include <stdio.h>
#include <string.h>
static void show(const struct total_launch *launch)
{
    unsigned entry;
    for (entry = 0; entry < launch->dimensions; entry++)
        printf("%zu %zu ", launch->global_size[entry], launch->local_size[entry]);
    for (entry = 0; entry < 3; entry++)
        printf("%zu ", launch->local_memory[entry]);
}
int main(void)
{
    long long bytes_x, n;
    while (scanf("%lld %lld", &bytes_x, &n) == 2) {
        struct total_inputs in = {.bytes_x = bytes_x, .n = n};
        struct total_launch launch;
        struct total_sequence sequence;
        int version = total_choose(&in, &launch);
        unsigned step, entry;
        printf("%d ", version);
        if (version >= 0 && launch.dimensions > 0)
            show(&launch);
        if (version >= 0 && launch.dimensions == 0 && total_steps(version, &in, &sequence)) {
            for (step = 0; step < sequence.launches; step++) {
                /* Without loops they are all there at once. */
                const struct total_step *one = sequence.launches == sequence.steps
                    ? &sequence.step[step] : total_step_at(version, &in, step, &sequence);
                if (one == NULL)
                    return 1;
                printf("%s ", one->kernel);
                show(&one->launch);
                for (entry = 0; entry < one->arguments; entry++) {
                    struct coarsen_argument argument = one->argument[entry];
                    long long value = 0;
                    memcpy(&value, &argument.number, argument.bytes);
                    printf("%d:%u:%zu:%lld ", argument.from, argument.index, argument.bytes, value);
                }
            }
            if (total_step_at(version, &in, sequence.launches, &sequence) != NULL)
                return 1;
            for (entry = 0; entry < sequence.scratch; entry++)
                printf("%zu ", sequence.scratch_bytes[entry]);
        }
        printf("\\n");
    }
    return 0;
}
"""
BYTES = {"": 0, "int": 4, "uint": 4, "long": 8, "ulong": 8}


def in_c(file: TunedFile, inputs: Sequence[tuple[int, int]], folder: Path) -> list[list[str]]:
    """What a program in C says of inputs, in words."""
    (folder / "choose.h").write_text(c_header(file))
    (folder / "main.c").write_text(MAIN)
    flags = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["gcc", *flags, "main.c", "-o", "main", "-lm"], cwd=folder, check=True)
    lines = "\n".join(f"{bytes_x} {n}" for bytes_x, n in inputs)
    result = subprocess.run([folder / "main"], input=lines, capture_output=True, text=True, check=True)
    return [line.split() for line in result.stdout.splitlines()]


def in_python(file: TunedFile, inputs: Sequence[tuple[int, int]]) -> Iterator[list[str]]:
    names = ("bytes_x", "n")
    alone = sequence_function(file, file.versions[0], names)
    together = sequence_function(file, file.versions[1], names)
    for numbers in inputs:
        sizes, one = together(*numbers) if numbers[1] > 50 else None, alone(*numbers)
        if sizes is not None:
            words = ["1"]
            for number, place in enumerate(sizes.order):
                launch = file.versions[1].launches[place]
                whole, local, memory = sizes.launches[number]
                words += [launch.kernel, *shown(whole or (), local, memory)]
                for passed in passed_arguments(file.versions[1], launch, file.arguments):
                    is_number = passed.source is Source.NUMBER
                    value = sizes.numbers[number][passed.index] if is_number else 0
                    bits = value % 2 ** (8 * BYTES[passed.type])
                    place_of = list(Source).index(passed.source)
                    words.append(f"{place_of}:{passed.index}:{BYTES[passed.type]}:{as_signed(bits)}")
            yield [*words, *map(str, sizes.scratch)]
        elif one is not None:
            yield ["0", *shown(one.launches[0].global_size or (), *one.launches[0][1:])]
        else:
            yield ["-1"]


def shown(whole: Sequence[int], local: Sequence[int] | None, memory: object) -> list[str]:
    assert hasattr(memory, "get")
    pairs = zip(whole, local or [0] * len(whole), strict=True)
    return [str(size) for pair in pairs for size in pair] + [str(memory.get(place, 0)) for place in range(3)]


def as_signed(bits: int) -> int:
    return bits - 2**64 if bits >= 2**63 else bits


def test_the_launches_are_pythons(tmp_path: Path) -> None:
    generator = random.Random(3)
    edges = [2**31 // 3 + off for off in range(-3, 4)] + [2**32 // 3 + off for off in range(-3, 4)]
    heights = [*range(-3, 70), *edges, 2**63 - 1, *(generator.randrange(2**30) for _ in range(300))]
    inputs = [(generator.choice((n + 1, n + 4096, n, 4 * n)) % 2**63, n) for n in heights]
    expected = list(in_python(SUM, inputs))
    assert {words[0] for words in expected} == {"-1", "0", "1"}
    assert in_c(SUM, inputs, tmp_path) == expected


@pytest.mark.parametrize("kind", NUMBER_RANGES)
def test_a_number_beyond_its_type_takes_the_default(kind: str, tmp_path: Path) -> None:
    """Each type by itself, at its ends."""
    first = replace(SEQUENCE.launches[0], arguments=("x", f"{kind}: n - 4611686018427387904"))
    file = replace(SUM, versions=(ALONE, replace(SEQUENCE, launches=(first,))))
    middle, known = 4611686018427387904, NUMBER_RANGES[kind]
    ends = [end for end in (known.start - 1, known.start, known.stop - 1, known.stop) if -middle <= end < middle]
    inputs = [(2**63 - 1, middle + end) for end in (*ends, 0)]
    expected = list(in_python(file, inputs))
    assert in_c(file, inputs, tmp_path) == expected


def test_loops_are_pythons(tmp_path: Path) -> None:
    """Two that take turns, one by itself, one whose sizes shrink until they have no value; none, one and many."""
    turns = "turn in range(n - 53, n // 2 - 20)"
    shrinking = TunedLaunch("total", ("80 - t",), (), (("tile", "t + 1"),), (), "t in range(0, n - 55)")
    launches = (
        replace(SEQUENCE.launches[0], arguments=("n", "long: turn - n", "uint: 9 - turn"), repeat=turns),
        TunedLaunch("middle", ("turn + 8", "2"), ("1", "2"), (), ("rest", "sums"), turns),
        SEQUENCE.launches[1],
        shrinking,
    )
    file = replace(SUM, versions=(ALONE, replace(SEQUENCE, launches=launches)))
    inputs = [(2**40, n) for n in (*range(48, 140), 2**20, 300_000, 2**62)]
    expected = list(in_python(file, inputs))
    assert len({len(words) for words in expected if words[0] == "1"}) > 20
    assert {words[0] for words in expected} == {"0", "1"}
    assert in_c(file, inputs, tmp_path) == expected


def test_coarsened_launches_have_divided_sizes(tmp_path: Path) -> None:
    """Those that are marked; where one does not divide, C has no sizes and takes the default version."""
    variant = Variant((8,), (Coarsening(4, 0), Coarsening(3, 0, level=Level.GROUP)), (("CHUNK", "16"),))
    first, middle, total = SEQUENCE.launches
    marked = replace(first, coarsened=True), middle, replace(total, coarsened=True)
    file = replace(SUM, versions=(ALONE, replace(SEQUENCE, variant=variant, launches=marked)))
    inputs = [(10**6, n) for n in range(48, 300)]
    expected = []
    for words, (_, n) in zip(in_python(SUM, inputs), inputs, strict=True):
        groups = (n + 15) // 16
        if words[0] == "1" and (groups % 3 or n % 3):
            words = ["0", *shown((n,), None, {2: n // 3})]
        elif words[0] == "1":
            places = [words.index("parts") + 1, words.index("total") + 1]
            for place, local in zip(places, (2, 16), strict=True):
                words[place : place + 2] = [str(int(words[place]) // 12), str(local)]
        expected.append(words)
    assert {words[0] for words in expected} == {"0", "1"}
    assert in_c(file, inputs, tmp_path) == expected
    header = c_header(file)
    assert header.count("step->coarsened = 1;") == 2 and header.count("step->coarsened = 0;") == 1


@pytest.mark.parametrize("marked", ["parts", "total"])
def test_a_coarsened_launch_needs_a_local_size(marked: str) -> None:
    variant = Variant((), (Coarsening(4, 0),), (("CHUNK", "16"),))
    launches = tuple(replace(each, coarsened=each.kernel == marked) for each in SEQUENCE.launches)
    file = replace(SUM, versions=(ALONE, replace(SEQUENCE, variant=variant, launches=launches)))
    if marked == "total":
        assert "total_steps_1" in c_header(file)
        return
    with pytest.raises(InvalidInputError, match="version 1 is coarsened and has no local size, which C needs"):
        c_header(file)


def test_a_file_without_such_versions_has_none_of_it() -> None:
    header = c_header(PLAIN)
    assert "_steps" not in header
    assert "COARSEN_STEPS" not in header
    assert "mv_steps_2" in c_header(FILE)
