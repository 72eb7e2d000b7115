"""Banks: degrees against an enumeration and the greatest common divisor, pads and permutations against others."""

from __future__ import annotations

import math
import random
from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coarsen.cost.banks import Banks, Reference, bank_degree, best_padding, least_degree, permuted_cost, pitch_cost
from coarsen.cost.lane_addresses import Place, lane_places
from coarsen.errors import InvalidInputError
from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS, memory_device, unknown_descriptor
from coarsen.variant.pads import row_permutation

WARP = Banks(32, 4)
HALF_WARP = Banks(16, 4)


def enumerated(addresses: list[int], access_bytes: int, banks: Banks) -> int:
    """The degree, byte by byte."""
    words: defaultdict[int, set[int]] = defaultdict(set)
    for address in addresses:
        for byte in range(address, address + access_bytes):
            words[byte // banks.word_bytes % banks.count].add(byte // banks.word_bytes)
    return max(len(each) for each in words.values())


@given(
    st.lists(st.integers(-4096, 4096), min_size=1, max_size=64),
    st.sampled_from([1, 2, 4, 8, 16]),
    st.builds(Banks, st.sampled_from([1, 16, 31, 32, 64]), st.sampled_from([1, 4, 8])),
)
def test_degree_is_that_of_an_enumeration(addresses: list[int], access_bytes: int, banks: Banks) -> None:
    found = bank_degree(addresses, access_bytes, banks)
    assert found == enumerated(addresses, access_bytes, banks)
    assert 1 <= least_degree(addresses, access_bytes, banks) <= found


@given(st.integers(1, 4096), st.sampled_from([16, 32, 64]))
def test_degree_of_words_in_a_row_is_the_greatest_common_divisor(stride: int, count: int) -> None:
    addresses = [4 * stride * lane for lane in range(count)]
    assert bank_degree(addresses, 4, Banks(count)) == math.gcd(stride, count)


@pytest.mark.parametrize(
    ("size", "row", "element", "degree"),
    [
        ((32, 1, 1), 32, 4, 1),
        ((16, 16, 1), 16, 4, 1),  # two rows of 16 words: 32 words in a row
        ((16, 16, 1), 32, 4, 2),  # the second row is in the same banks
        ((16, 16, 1), 17, 4, 2),  # banks 0 to 15, and 17 to 32, which is bank 0 again
        ((4, 4, 4), 4, 4, 1),
        ((32, 1, 1), 32, 8, 2),
        ((32, 1, 1), 32, 16, 4),
        ((32, 1, 1), 32, 1, 1),  # four lanes share a word
        ((32, 1, 1), 32, 2, 1),
    ],
)
def test_groups_of_several_dimensions_and_elements_of_several_sizes(
    size: Place, row: int, element: int, degree: int
) -> None:
    addresses = [element * (x + row * (y + 4 * z)) for x, y, z in lane_places(size, 32)]
    assert bank_degree(addresses, element, WARP) == degree


def test_a_broadcast_is_no_conflict() -> None:
    assert bank_degree([128] * 32, 4, WARP) == 1
    assert bank_degree([0] * 16 + [128] * 16, 4, WARP) == 2
    assert bank_degree([], 4, WARP) == 0


def test_banks_are_counted_from_one() -> None:
    with pytest.raises(InvalidInputError):
        Banks(0)


# Padding.


def column(rows: int, byte: int = 0) -> Reference:
    return Reference(tuple((row, byte) for row in range(rows)), 4)


def line(lanes: int, access_bytes: int = 4) -> Reference:
    return Reference(tuple((0, access_bytes * lane) for lane in range(lanes)), access_bytes)


@pytest.mark.parametrize(("length", "words"), [(15, 0), (16, 1), (17, 0), (31, 0), (32, 1)])
def test_rows_read_along_a_column(length: int, words: int) -> None:
    assert best_padding([column(16)], 4 * length, 4, HALF_WARP) == (words, 1)


def test_stride_0_asks_for_no_pad() -> None:
    assert best_padding([Reference(((3, 8),) * 32, 4)], 128, 4, WARP) == (0, 1)


def test_wide_elements_stay_aligned() -> None:
    rows = [Reference(tuple((row, 0) for row in range(32)), 8)]
    # Words 0 and 1 of each row, over 32 banks: two rows in each.
    assert best_padding(rows, 256, 8, WARP) == (2, 2)
    assert pitch_cost(rows, 256, WARP) == 32


def random_array(source: random.Random) -> tuple[list[Reference], int, int, Banks]:
    """One to four references to an array of rows, each affine over the lanes of a group."""
    element = source.choice([1, 2, 4, 8, 16])
    row = element * source.randint(1, 40)
    references = []
    for _ in range(source.randint(1, 4)):
        width, (across, down) = source.choice([8, 16, 32]), source.choices(range(3), k=2)
        along, further = source.choices(range(4), k=2)
        places = tuple(
            (x * across + y * down, element * (x * along + y * further) % row)
            for x, y, _ in lane_places((width, 4, 1), 32)
        )
        references.append(Reference(places, element))
    return references, row, element, Banks(source.choice([8, 16, 32]), 4)


@pytest.mark.parametrize("seed", range(5))
def test_no_other_pad_costs_less(seed: int) -> None:
    source = random.Random(seed)
    for _ in range(100):
        references, row, element, banks = random_array(source)
        words, cost = best_padding(references, row, element, banks)
        costs = {}
        for pad in range(banks.count):
            if pad * 4 % element == 0:
                moved = [[r * (row + 4 * pad) + byte for r, byte in each.places] for each in references]
                costs[pad] = sum(enumerated(each, element, banks) for each in moved)
        assert cost == min(costs.values()) == costs[words]
        assert words == min(pad for pad, found in costs.items() if found == cost)
        assert pitch_cost(references, row, banks) == costs[0]


def test_exclusive_or_serves_rows_and_columns_without_a_pad() -> None:
    assert permuted_cost([column(32), line(32)], 128, 4, WARP) == 2
    wide = [Reference(tuple((row, 0) for row in range(32)), 16), line(32, 16)]
    assert permuted_cost(wide, 512, 16, WARP) == 8  # 128 words over 32 banks, twice


def test_exclusive_or_may_leave_no_row() -> None:
    assert permuted_cost([column(32)], 4 * 33, 4, WARP) is None
    assert permuted_cost([column(32, 4 * 32)], 128, 4, WARP) is None
    assert permuted_cost([Reference(((0, 2),), 4)], 128, 4, WARP) is None


@settings(max_examples=50)
@given(st.sampled_from([2, 8, 32, 64]), st.integers(0, 100))
def test_exclusive_or_permutes_each_row(words: int, row: int) -> None:
    found = row_permutation(4 * words, 4)
    assert found is not None
    bytes_ = range(4 * words)
    assert sorted(found.place(row, byte)[1] for byte in bytes_) == list(bytes_)


@pytest.mark.parametrize("name", DEVICE_DESCRIPTORS)
def test_gpus_have_banks_and_cpus_have_none(name: str) -> None:
    descriptor = DEVICE_DESCRIPTORS[name]
    device = memory_device(descriptor)
    assert device.banks == (WARP if descriptor.is_gpu else None)
    assert (device.lanes, device.assumed) == (descriptor.simd_width, "")


def test_the_banks_of_an_unknown_gpu_are_assumed() -> None:
    device = memory_device(unknown_descriptor("Some GPU", is_gpu=True))
    assert (device.banks, device.piece_bytes) == (WARP, 32)
    assert device.assumed
