"""What clean-up merges, and above all what it must leave alone."""

from __future__ import annotations

import pytest

from coarsen.frontend.lower import lower
from coarsen.frontend.normal_form import parsed
from coarsen.ir.kernel import Kernel
from coarsen.ir.printer import module_text
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.pipeline import coarsen_kernel
from coarsen.transform.body_text import cut_body
from coarsen.transform.clean_up import clean_up
from coarsen.transform.memory_order import MemoryOrder
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import REPLICATION_ALONE

DECLARATIONS = """
declare void @_Z7barrierj(i32) #1
declare void @_Z9mem_fencej(i32) #1
declare i32 @_Z10atomic_addPU3AS1Vjj(ptr addrspace(1), i32) #1
declare float @_Z4sqrtf(float) #2
declare float @noise(float) #1
attributes #1 = { convergent nounwind }
attributes #2 = { convergent nounwind willreturn memory(none) }
"""


def cleaned(body: str) -> list[str]:
    """The lines of a kernel's body after clean-up; what went in and what comes out is valid LLVM IR."""
    arguments = "ptr addrspace(1) %p, ptr addrspace(3) %l, i32 %a, i32 %b, i64 %n, float %f, float %g, i1 %c"
    assembly = f"define spir_kernel void @k({arguments}) {{\n{body}}}\n{DECLARATIONS}"
    with parsed(assembly) as module:
        text = clean_up(str(module), "k")
    with parsed(text, written_by_us=True) as module:
        return [str(line) for line in cut_body(str(module), "k").lines()]


def straight(*lines: str) -> list[str]:
    """The same for a body of one block."""
    return cleaned("entry:\n" + "".join(f"  {line}\n" for line in lines) + "  ret void\n")


def loads(*between: str) -> int:
    """How many loads of the same place are left of two, with something in between."""
    use = "store float %sum, ptr addrspace(1) %p, align 4"
    first, second = (f"%{name} = load float, ptr addrspace(1) %p, align 4" for name in ("v", "w"))
    found = straight(first, *between, second, "%sum = fadd float %v, %w", use)
    return sum(" = load float, ptr addrspace(1) %p" in line for line in found)


def test_equal_arithmetic_stands_once() -> None:
    found = straight(
        "%x = udiv i32 %a, %b",
        "%y = udiv i32 %a, %b",
        "%z = add i32 %x, %y",
        "store i32 %z, ptr addrspace(1) %p, align 4",
    )
    assert found[:2] == ["%x = udiv i32 %a, %b", "%z = add i32 %x, %x"]


@pytest.mark.parametrize(
    "between",
    [
        (),
        ("%x = call float @_Z4sqrtf(float %f) #2",),
        ("%x = load float, ptr addrspace(3) %l, align 4",),
        ("%x = fdiv float %f, %g",),
    ],
)
def test_what_touches_no_memory_lets_loads_merge(between: tuple[str, ...]) -> None:
    assert loads(*between) == 1


@pytest.mark.parametrize(
    "between",
    [
        "call void @_Z7barrierj(i32 1) #1",
        "call void @_Z7barrierj(i32 2) #2",  # a call that wrongly says that it touches no memory
        "call void @_Z9mem_fencej(i32 1) #1",
        "%x = call i32 @_Z10atomic_addPU3AS1Vjj(ptr addrspace(1) %p, i32 1) #1",
        "%x = call float @noise(float %f) #1",
        "fence seq_cst",
        "%x = atomicrmw add ptr addrspace(1) %p, i32 1 seq_cst",
        "%x = cmpxchg ptr addrspace(1) %p, i32 1, i32 2 seq_cst seq_cst",
        "%x = load volatile float, ptr addrspace(3) %l, align 4",
        "%x = load atomic float, ptr addrspace(3) %l acquire, align 4",
        "store float %f, ptr addrspace(3) %l, align 4",
    ],
)
def test_what_may_change_memory_keeps_loads_apart(between: str) -> None:
    assert loads(between) == 2


@pytest.mark.parametrize(
    "kind", ["load volatile float, ptr addrspace(1) %p", "load atomic float, ptr addrspace(1) %p monotonic"]
)
def test_volatile_and_atomic_loads_all_stay(kind: str) -> None:
    found = straight(f"%v = {kind}, align 4", f"%w = {kind}, align 4", "%sum = fadd float %v, %w",
                     "store float %sum, ptr addrspace(1) %p, align 4")  # fmt: skip
    assert sum(kind in line for line in found) == 2


@pytest.mark.parametrize(
    "call", ["@noise(float %f) #1", "@_Z10atomic_addPU3AS1Vjj(ptr addrspace(1) %p, i32 1) #1"]
)
def test_calls_with_an_effect_all_stay(call: str) -> None:
    type_ = "float" if "noise" in call else "i32"
    found = straight(f"%v = call {type_} {call}", f"%w = call {type_} {call}")
    assert sum(call.rpartition(" #")[0] in line for line in found) == 2


def test_what_went_for_an_operand_stands_for_nothing_else() -> None:
    lines = [f"%once.{i} = mul nuw nsw i32 %a, 1" for i in range(3)]
    lines += [f"%plus.{i} = add nuw nsw i32 %once.{i}, 0" for i in range(3)]
    stores = [f"store i32 %plus.{i}, ptr addrspace(1) %p, align 4" for i in range(3)]
    assert straight(*lines, *stores)[:-1] == ["store i32 %a, ptr addrspace(1) %p, align 4"] * 3


def test_floating_point_is_not_reordered() -> None:
    found = straight(
        "%x = fadd float %f, %g",
        "%y = fadd float %x, 1.000000e+00",
        "%z = fadd float %g, 1.000000e+00",
        "%w = fadd float %f, %z",
        "%fast = fadd fast float %f, %g",
        "%one = fadd float %y, %w",
        "%two = fadd float %one, %fast",
        "store float %two, ptr addrspace(1) %p, align 4",
    )
    assert len(found) == 9


def test_equal_sums_are_one_value() -> None:
    found = straight(
        "%a.1 = add i32 %a, 1",
        "%left = add i32 %b, %a",
        "%right = add i32 %b, %a.1",
        "%back = sub i32 %right, 1",
        "%product = mul i32 %left, %back",
        "store i32 %product, ptr addrspace(1) %p, align 4",
    )
    assert "%product = mul i32 %left, %left" in found


def test_a_replica_counts_on_from_the_one_before() -> None:
    found = straight(
        "%a.1 = add i32 %a, 1",
        "%row = mul i32 %a, %b",
        "%row.1 = mul i32 %a.1, %b",
        "%index = add i32 %row, 7",
        "%index.1 = add i32 %row.1, 7",
        "%product = mul i32 %index, %index.1",
        "store i32 %product, ptr addrspace(1) %p, align 4",
    )
    assert "%index.1 = add i32 %index, %b" in found


def test_a_value_that_overflow_makes_poison_stands_for_no_other() -> None:
    found = straight(
        "%checked = add nsw i32 %a, %b",
        "%a.1 = add i32 %a, 1",
        "%right = add i32 %a.1, %b",
        "%wrapped = sub i32 %right, 1",
        "store i32 %wrapped, ptr addrspace(1) %p, align 4",
        "store i32 %checked, ptr addrspace(3) %l, align 4",
    )
    assert "store i32 %wrapped, ptr addrspace(1) %p, align 4" in found


def test_nor_does_one_in_which_poison_cancels_out() -> None:
    """`1 << a` may be poison, and then so is `a + (1 << a) + b - (1 << a)`."""
    found = straight(
        "%power = shl i32 1, %a",
        "%more = add i32 %a, %power",
        "%most = add i32 %more, %b",
        "%back = sub i32 %most, %power",
        "%plain = add i32 %b, %a",
        "store i32 %plain, ptr addrspace(1) %p, align 4",
        "store i32 %back, ptr addrspace(3) %l, align 4",
    )
    assert "store i32 %plain, ptr addrspace(1) %p, align 4" in found


ADDRESS = (
    "%checked = add nsw i32 %a, %b",
    "%i = sext i32 %checked to i64",
    "%q = getelementptr float, ptr addrspace(1) %p, i64 %i",
    "%v = load float, ptr addrspace(1) %q, align 4",
    "%a.1 = add i32 %a, 1",
    "%right = add nsw i32 %a.1, %b",
    "%wrapped = sub nsw i32 %right, 1",
)


def test_it_does_where_poison_would_be_an_address() -> None:
    found = straight(*ADDRESS, "store i32 %wrapped, ptr addrspace(3) %l, align 4")
    assert "store i32 %checked, ptr addrspace(3) %l, align 4" in found


def test_but_not_where_the_block_may_end_before() -> None:
    """A barrier may wait for ever, and what loads behind it is never reached."""
    barrier = "call void @_Z7barrierj(i32 1) #1"
    found = straight(
        ADDRESS[0], *ADDRESS[4:], "store i32 %wrapped, ptr addrspace(3) %l, align 4", barrier, *ADDRESS[1:4]
    )
    assert "store i32 %wrapped, ptr addrspace(3) %l, align 4" in found


def test_a_cut_sum_is_the_sum_of_what_is_cut() -> None:
    found = straight(
        "%n.1 = add i64 %n, 1",
        "%x = trunc i64 %n to i32",
        "%x.1 = trunc i64 %n.1 to i32",
        "%i = add i32 %a, %x",
        "%i.1 = add i32 %a, %x.1",
        "%left.1 = sub i32 %i.1, 1",
        "%product = mul i32 %left.1, %i",
        "store i32 %product, ptr addrspace(1) %p, align 4",
    )
    assert "%product = mul i32 %i, %i" in found


def test_bits_that_the_factor_leaves_decide_comparisons() -> None:
    found = straight(
        "%item = mul i32 %a, 8",
        "%item.3 = add i32 %item, 3",
        "%other = mul i32 %b, 4",
        "%same = icmp eq i32 %item.3, 0",
        "%different = icmp ne i32 %item.3, %other",
        "%open = icmp eq i32 %item, 0",
        "%chosen = select i1 %same, i32 %a, i32 %b",
        "%all = and i1 %different, %open",
        "%kept = select i1 %all, i32 %chosen, i32 0",
        "store i32 %kept, ptr addrspace(1) %p, align 4",
    )
    assert found[-3] == "%kept = select i1 %open, i32 %b, i32 0"


def test_a_constant_is_no_value_of_a_similar_name() -> None:
    """`true` behind its first letter is `rue`, which is known to be false."""
    found = straight(
        "%eight = mul i32 %a, 8",
        "%rue = trunc i32 %eight to i1",
        "%nine = add i32 %eight, 1",
        "%one = trunc i32 %nine to i1",
        "%same = icmp eq i1 %one, true",
        "%kept = select i1 %same, i1 %rue, i1 %c",
        "%number = zext i1 %kept to i32",
        "store i32 %number, ptr addrspace(1) %p, align 4",
    )
    assert "%same = icmp eq i1 %one, true" in found


BRANCH = """entry:
  %v = load float, ptr addrspace(1) %p, align 4
  br i1 %c, label %then, label %join
then:
  %w = load float, ptr addrspace(1) %p, align 4
  %x = udiv i32 %a, %b
  store float %w, ptr addrspace(3) %l, align 4
  br label %join
join:
  %y = load float, ptr addrspace(1) %p, align 4
  %z = udiv i32 %a, %b
  store float %y, ptr addrspace(3) %l, align 4
  store i32 %z, ptr addrspace(1) %p, align 4
  store float %v, ptr addrspace(3) %l, align 4
  ret void
"""


def test_only_what_comes_on_every_way_stands_for_a_value() -> None:
    found = cleaned(BRANCH)
    assert "store float %v, ptr addrspace(3) %l, align 4" in found
    assert not any(line.startswith("%w") for line in found)
    assert any(line.startswith("%y = load") for line in found)
    assert any(line.startswith("%z = udiv") for line in found)


LOOP = """entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %x = udiv i32 %a, %b
  %v = load float, ptr addrspace(1) %p, align 4
  store float %v, ptr addrspace(1) %p, align 4
  %next = add i32 %i, 1
  %again = icmp ult i32 %next, %x
  br i1 %again, label %loop, label %exit
exit:
  %y = udiv i32 %a, %b
  store i32 %y, ptr addrspace(1) %p, align 4
  ret void
"""


def test_a_loops_value_stands_for_none_behind_it() -> None:
    assert "%y = udiv i32 %a, %b" in cleaned(LOOP)


UNREACHED = """entry:
  %x = udiv i32 %a, %b
  br label %join
nowhere:
  %y = udiv i32 %a, %b
  br label %join
join:
  %z = phi i32 [ %x, %entry ], [ %y, %nowhere ]
  store i32 %z, ptr addrspace(1) %p, align 4
  ret void
"""


def test_what_is_never_reached_does_no_harm() -> None:
    assert "%z = phi i32 [ %x, %entry ], [ %y, %nowhere ]" in cleaned(UNREACHED)


def original(name: str) -> Kernel:
    benchmark = SUITE[name]
    return lower(benchmark.kernel_file, benchmark.kernel, benchmark.build_options)


@pytest.mark.parametrize("name", ["reduce", "mtLocal", "dwtHaar1D"])
def test_barriers_are_known_to_change_memory(name: str) -> None:
    """The front end marks no barrier as touching no memory, and none goes or comes."""
    kernel = original(name)
    found = coarsen_kernel(kernel, [Coarsening(2)])
    order = MemoryOrder(module_text(found))
    barriers = [line for line in cut_body(module_text(found), name).lines() if "barrier" in line.text]
    assert len(barriers) == sum("barrier" in i.callee for i in kernel.instructions()) > 0
    assert all(order.may_change_memory(line) for line in barriers)


def test_nothing_is_cleaned_up_where_it_is_not_wanted() -> None:
    kernel = original("stencil")
    plain = coarsen_kernel(kernel, [Coarsening(4)], transforms=REPLICATION_ALONE)
    assert sum(i.opcode == "load" for i in plain.instructions()) == 4 * 7


@pytest.mark.parametrize(("dimension", "left"), [(0, 4 * 5 + 2), (1, 4 * 5 + 2), (2, 4 * 5 + 2)])
def test_neighbours_of_a_stencil_are_loaded_once(dimension: int, left: int) -> None:
    """Each replica but the first finds two of its seven neighbours loaded already."""
    found = coarsen_kernel(original("stencil"), [Coarsening(4, dimension)])
    together = [block for block in found.blocks if "alone" not in block.name]
    assert sum(i.opcode == "load" for block in together for i in block.instructions) == left
