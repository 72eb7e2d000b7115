"""What accesses cost a sub-group: against the addresses that the coarsened kernel computes for each work-item."""

from __future__ import annotations

import pytest

from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.analysis.expressions import expression_text
from coarsen.cost.access_costs import AccessCost, AccessCosts, Pieces
from coarsen.cost.banks import ANY_CPU, ANY_DEVICE, MemoryDevice
from coarsen.cost.lane_addresses import Place, coarsened_size, lane_places
from coarsen.cost.memory_report import MemoryReport, memory_lines, memory_report
from coarsen.cost.mending import Mending, Offer
from coarsen.errors import InvalidInputError
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.variant.coarsening import Coarsening, Level
from tests.analysis.address_interpreter import WorkItem, address
from tests.coarsened_kernel import coarsen_kernel

LOCAL_SIZE: Place = (64, 8, 1)
# Of the arguments of the kernels below; buffers start at multiples of a sector.
ARGUMENTS = {"data": 1 << 30, "other": 1 << 31, "n": 1000, "m": 24}


def source_of(*indices: str, type_: str = "int") -> str:
    """A kernel that stores at each index, in a line of its own."""
    stores = "".join(f"data[{index}] = 1;\n" for index in indices)
    return (
        f"kernel void k(volatile global {type_} *data, int n, int m)\n{{\n"
        f"int x = get_global_id(0), y = get_global_id(1), l = get_local_id(0);\n{stores}}}\n"
    )


def costs_of(source: str, *coarsenings: Coarsening, local_size: Place | None = None) -> tuple[AccessCost, ...]:
    size = coarsened_size(local_size, coarsenings) if local_size else None
    return AccessCosts(lower(source), ANY_DEVICE).at(coarsenings, size)


def cost_of(source: str, *coarsenings: Coarsening, local_size: Place | None = None) -> AccessCost:
    """The cost of a kernel's only access."""
    [found] = costs_of(source, *coarsenings, local_size=local_size)
    return found


def addresses_of(kernel: Kernel, group: Place, size: Place) -> dict[int, list[list[int]]]:
    """The addresses of the first sub-group's lanes for each store of a coarsened kernel, by its line."""
    items = [WorkItem(group, place, size, ARGUMENTS) for place in lane_places(size, 32)]
    found: dict[int, list[list[int]]] = {}
    for store in kernel.instructions():
        if store.opcode == "store":
            assert store.position is not None
            found.setdefault(store.position.line, []).append([address(kernel, store, item) for item in items])
    return found


def sectors(addresses: list[int], access_bytes: int) -> int:
    return len({byte // 32 for start in addresses for byte in range(start, start + access_bytes)})


INDICES = (
    "x",
    "2 * x + 1",
    "x * 3 - 5",
    "l",
    "y * 128 + x",
    "x * 16 + y",
    "y * n + x",
    "m * n + 7",
    "x / 16 * 100 + x % 16",
    "(x & 7) + 8 * y",
    "get_group_id(0) * 64 + l",
    "get_group_id(1) * m + get_local_id(1) * 64 + 63 - l",
)
COARSENINGS: tuple[tuple[Coarsening, ...], ...] = (
    (),
    (Coarsening(4, 0),),
    (Coarsening(2, 0, 8),),
    (Coarsening(2, 0, 32),),
    (Coarsening(4, 1),),
    (Coarsening(2, 0, 2), Coarsening(2, 1)),
    (Coarsening(2, 0, level=Level.GROUP), Coarsening(2, 0)),
)


@pytest.mark.parametrize("chosen", COARSENINGS)
def test_costs_are_those_of_the_addresses_that_the_coarsened_kernel_computes(
    chosen: tuple[Coarsening, ...],
) -> None:
    source = source_of(*INDICES)
    original, kernel = AccessCosts(lower(source), ANY_DEVICE), coarsen_kernel(lower(source), chosen)
    for size in (LOCAL_SIZE, (16, 16, 1)):
        if any(size[each.dimension] % (each.factor * each.stride) for each in chosen):
            continue
        small = coarsened_size(size, chosen)
        for group in ((0, 0, 0), (3, 5, 0)):
            stores = addresses_of(kernel, group, small)
            for index, found in zip(INDICES, original.at(chosen, small), strict=True):
                assert found.access.instruction.position is not None
                check(index, found, stores[found.access.instruction.position.line], small)


def check(index: str, found: AccessCost, stores: list[list[int]], size: Place) -> None:
    """Compare a cost with the addresses of all replicas, for a local size of the coarsened kernel."""
    first = stores[0]
    assert with_arguments(found.strides[0], size) == first[1] - first[0]
    if len(found.replica_strides) == 1 and len(stores) > 1:
        assert with_arguments(found.replica_strides[0], size) == stores[1][0] - first[0]
    if "y * n" in index and size[0] < 32:
        assert found.pieces is None
        return
    assert found.addresses is not None
    assert found.addresses.is_exact
    assert found.addresses.offsets == tuple(each - first[0] for each in first)
    assert found.pieces is not None
    count = sectors(first, 4)
    assert found.pieces.least <= count <= found.pieces.most
    assert found.addresses.grain % 32 or found.pieces == Pieces(count, count)


def with_arguments(form: Polynomial | None, size: Place) -> int | None:
    assert form is not None
    sizes = {f"get_local_size({dimension})": extent for dimension, extent in enumerate(size)}
    return form.replaced(lambda name: Polynomial.constant({**ARGUMENTS, **sizes}[name])).number


@pytest.mark.parametrize("type_", ["char", "short", "int", "long"])
@pytest.mark.parametrize("factor", [1, 2, 8])
def test_elements_of_all_sizes(type_: str, factor: int) -> None:
    chosen = (Coarsening(factor, 0),)
    found = cost_of(source_of("x", type_=type_), *chosen)
    size = found.access.access_bytes
    assert found.pieces == Pieces(*[min(32, size * factor) if size * factor <= 32 else 32] * 2)


def test_the_next_group_is_a_local_size_further() -> None:
    merged = Coarsening(2, 0, level=Level.GROUP)
    [stride] = cost_of(source_of("x"), merged).replica_strides
    assert str(stride) == "4·get_local_size(0)"
    [stride] = cost_of(source_of("x"), merged, local_size=LOCAL_SIZE).replica_strides
    assert stride is not None
    assert stride.number == 256


@pytest.mark.parametrize(
    ("index", "pieces"),
    [
        ("x", Pieces(4, 4)),
        ("x + 1", Pieces(5, 5)),
        ("x + n", Pieces(4, 5)),
        ("x + 8 * n", Pieces(4, 4)),
        ("8 * x", Pieces(32, 32)),
        ("y", Pieces(1, 1)),
        ("x * n", None),
        ("data[x]", None),
    ],
)
def test_where_nobody_knows_the_start_there_is_a_range(index: str, pieces: Pieces | None) -> None:
    found = costs_of(source_of(index))[-1]
    assert found.pieces == pieces


@pytest.mark.parametrize("index", ["min(x, n - 1)", "clamp(x - 1, 0, n - 1)", "x / m"])
def test_edges_are_left_out_and_said_to_be(index: str) -> None:
    found = cost_of(source_of(index))
    assert found.addresses is not None
    assert not found.addresses.is_exact


def test_cache_lines_of_a_cpu() -> None:
    [found] = AccessCosts(lower(source_of("x")), ANY_CPU).at((), None)
    assert found.pieces == Pieces(1, 1)


# Reuse.

NEST = """\
kernel void nest(global const float *rows, global const float *vector, global float *out, int n, int m)
{
    float sum = 0;
    for (int i = 0; i < m; ++i)
        for (int k = 0; k < n; ++k)
            sum += rows[get_global_id(1) * n + k] * vector[get_global_id(0)];
    out[get_global_id(0)] = sum;
}
"""


def test_reuse_by_loops_and_along_dimensions() -> None:
    rows, vector, out = costs_of(NEST)
    assert (rows.shared_along, vector.shared_along, out.shared_along) == ((0, 2), (1, 2), (1, 2))
    between = [
        [(loop.line, loop.bytes_between and expression_text(loop.bytes_between)) for loop in each.loops]
        for each in (rows, vector, out)
    ]
    assert between == [[(4, "4·n")], [(5, "0"), (4, "0")], []]


def test_what_is_shared_by_some_is_not_shared_by_all() -> None:
    assert cost_of(source_of("x / 32")).shared_along == (1, 2)


# What would mend it.


def offers_of(
    source: str, *coarsenings: Coarsening, size: Place | None = None, device: MemoryDevice = ANY_DEVICE
) -> dict[str, Offer]:
    local_size = coarsened_size(size, coarsenings) if size else None
    found = Mending(AccessCosts(lower(source), device), coarsenings, local_size).offers()
    return {offer.option: offer for offer in found}


RECORDS = """\
typedef struct { float x, y, z; char kind; } body;
kernel void move(global body *bodies, global float *out)
{
    int item = get_global_id(0);
    bodies[item].x += 1;
    out[item] = bodies[item].kind;
}
"""
FIELDS = """\
kernel void move(global float *x, global char *kind, global float *out, int start)
{
    int item = get_global_id(0);
    x[start + item] += 1;
    out[item] = kind[start + item];
}
"""


@pytest.mark.parametrize("chosen", [(), (Coarsening(2, 0),)])
def test_fields_side_by_side(chosen: tuple[Coarsening, ...]) -> None:
    offer = offers_of(RECORDS, *chosen)["--layout bodies=soa"]
    of_fields = [each.pieces.most for each in costs_of(FIELDS, *chosen) if each.name != "out" and each.pieces]
    of_records = [each.pieces.most for each in costs_of(RECORDS, *chosen) if each.name != "out" and each.pieces]
    assert (offer.before, offer.after) == (sum(of_records), sum(of_fields))


@pytest.mark.parametrize(
    "use",
    [
        "((global char *)bodies)[item] = 1;",
        "atomic_inc((global int *)bodies + 3 * item);",
        "vstore4((float4)(0), item, (global float *)bodies);",
    ],
)
def test_layouts_are_offered_only_where_all_uses_are_fields(use: str) -> None:
    assert "--layout bodies=soa" not in offers_of(RECORDS.replace("out[item] =", f"{use} out[item] ="))


def matrix(index: str, more: str = "") -> str:
    return (
        "kernel void mv(global const float *matrix, global float *out, int width, int height)\n{\n"
        "int row = get_global_id(0);\nfloat sum = 0;\n"
        f"for (int k = 0; k < width; ++k)\nsum += matrix[{index}];\nout[row] = sum{more};\n}}\n"
    )


@pytest.mark.parametrize("chosen", [(), (Coarsening(4, 0),), (Coarsening(2, 1),)])
def test_transposed(chosen: tuple[Coarsening, ...]) -> None:
    offer = offers_of(matrix("row * width + k"), *chosen)["--order matrix=1,0"]
    transposed = costs_of(matrix("k * height + row"), *chosen)[0]
    assert transposed.pieces is not None
    assert (offer.before, offer.after) == (32, transposed.pieces.most)


def test_rows_of_a_known_length_are_transposed() -> None:
    offer = offers_of(matrix("row * 1024 + k"))["--order matrix=1,0"]
    assert (offer.before, offer.after) == (32, 5)
    assert "1024" in offer.condition


def test_what_is_side_by_side_already_is_not_transposed() -> None:
    assert not offers_of(matrix("k * height + row"))
    # One use gains as much as the other loses.
    assert "--order matrix=1,0" not in offers_of(matrix("row * width + k", " + matrix[row]"))


def test_a_larger_stride_is_offered_with_the_sectors_that_it_then_has() -> None:
    source = source_of("x")
    offer = offers_of(source, Coarsening(4, 0))["--stride 32"]
    wanted = (Coarsening(4, 0, 32),)
    [[first, *_]] = addresses_of(coarsen_kernel(lower(source), wanted), (0, 0, 0), (64, 1, 1)).values()
    assert (offer.before, offer.after) == (16, sectors(first, 4))
    assert not offers_of(source, *wanted)
    assert not offers_of(source, Coarsening(4, 0), size=(64, 1, 1))


CONSTANT = """\
kernel void weigh(global float *out, global const float *weights, global const float *data, int n)
{
    float sum = 0;
    for (int k = 0; k < n; ++k)
        sum += weights[k] * data[k * n + get_global_id(0)];
    out[get_global_id(0)] = sum;
}
"""


def test_constant_memory_for_what_all_read() -> None:
    assert set(offers_of(CONSTANT)) == {"--place weights=constant"}
    assert not offers_of(
        CONSTANT.replace("out[get", "weights[0] = 1; out[get").replace("const float *w", "float *w")
    )
    assert not offers_of(CONSTANT.replace("weights[k]", "weights[get_group_id(0) + k]"))
    assert not offers_of(CONSTANT.replace("weights[k]", "weights[(int)data[k]]"))


def test_constant_memory_is_not_offered_for_what_a_condition_chooses() -> None:
    assert not offers_of(CONSTANT.replace("weights[k]", "weights[get_local_id(0) > 3 ? k : 2 * k]"))


# Local memory.

TILE = """\
kernel void transpose(global float *out, global const float *in, int n)
{
    local float tile[32][32];
    int x = get_local_id(0), y = get_local_id(1);
    tile[y][x] = in[get_global_id(1) * n + get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0) * n + get_global_id(1)] = tile[x][y];
}
"""


def told(source: str, device: MemoryDevice = ANY_DEVICE, *coarsenings: Coarsening) -> MemoryReport:
    return memory_report(lower(source), coarsenings, device, (32, 4, 1))


def test_a_tile_read_along_columns_is_padded() -> None:
    report = told(TILE)
    assert [each.degree for each in report.accesses] == [None, 1, 32, None]
    assert [(str(each.pad), each.before, each.after) for each in report.arrays] == [("1", 33, 2), ("xor", 33, 2)]
    padded = told(TILE.replace("[32][32]", "[32][33]"))
    assert [each.degree for each in padded.accesses] == [None, 1, 1, None]
    assert not padded.arrays


def test_a_device_without_banks_pads_nothing() -> None:
    report = told(TILE, ANY_CPU)
    assert not report.arrays
    assert all(each.degree is None for each in report.accesses)
    assert "no banks" in next(memory_lines(report))


def test_a_local_size_that_does_not_divide_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="a local size of 4 along dimension 1"):
        told(TILE, ANY_DEVICE, Coarsening(8, 1))


def test_a_kernel_without_accesses_has_nothing_to_tell() -> None:
    assert not list(memory_lines(memory_report(lower("kernel void none(int n) {}"))))
