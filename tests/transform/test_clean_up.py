"""What clean-up must leave alone, and counts; more in `tests/textual/lessons/07_clean_up`."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.frontend.input_checks import parsed
from coarsen.frontend.lower import lower
from coarsen.ir.graph.module_parser import parse_module
from coarsen.ir.graph.printer import instruction_text, module_text
from coarsen.ir.kernel import Kernel
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.transform import simplify
from coarsen.transform.simplify import forward_stores, merge_guards
from coarsen.transform.value_numbering.shared_values import share_values
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import REPLICATION_ALONE
from tests.coarsened_kernel import coarsen_kernel
from tests.ir.graph.check import check_function

DECLARATIONS = """
declare void @_Z7barrierj(i32) #1
declare i32 @_Z10atomic_addPU3AS1Vjj(ptr addrspace(1), i32) #1
declare float @noise(float) #1
attributes #1 = { convergent nounwind }
attributes #2 = { convergent nounwind willreturn memory(none) }
"""


def cleaned(body: str) -> list[str]:
    """The lines of a kernel's body after clean-up; what went in and what comes out is valid LLVM IR."""
    arguments = "ptr addrspace(1) %p, ptr addrspace(3) %l, i32 %a, i32 %b, i64 %n, float %f, float %g, i1 %c"
    assembly = f"define spir_kernel void @k({arguments}) {{\n{body}}}\n{DECLARATIONS}"
    with parsed(assembly) as module:
        graph = parse_module(str(module))
    share_values(graph, "k")
    check_function(graph.function("k"))
    with parsed(module_text(graph), written_by_us=True):
        return [instruction_text(instruction) for instruction in graph.function("k").instructions()]


def straight(*lines: str) -> list[str]:
    """The same for a body of one block."""
    return cleaned("entry:\n" + "".join(f"  {line}\n" for line in lines) + "  ret void\n")


def loads(*between: str) -> int:
    """How many loads of the same place are left of two, with something in between."""
    use = "store float %sum, ptr addrspace(1) %p, align 4"
    first, second = (f"%{name} = load float, ptr addrspace(1) %p, align 4" for name in ("v", "w"))
    found = straight(first, *between, second, "%sum = fadd float %v, %w", use)
    return sum(" = load float, ptr addrspace(1) %p" in line for line in found)


@pytest.mark.parametrize(
    "between",
    [
        "call void @_Z7barrierj(i32 2) #2",  # a call that wrongly says that it touches no memory
        "%x = call i32 @_Z10atomic_addPU3AS1Vjj(ptr addrspace(1) %p, i32 1) #1",
        "%x = call float @noise(float %f) #1",
        "%x = load atomic float, ptr addrspace(3) %l acquire, align 4",
    ],
)
def test_what_may_change_memory_keeps_loads_apart(between: str) -> None:
    assert loads(between) == 2


def test_atomic_loads_all_stay() -> None:
    kind = "load atomic float, ptr addrspace(1) %p monotonic"
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
    module = coarsen_kernel(kernel, [Coarsening(2)]).editable_graph()
    effects = EffectsOfKernel.of_module(module)
    barriers = [each for each in module.function(name).instructions() if "barrier" in each.callee]
    assert len(barriers) == sum("barrier" in i.callee for i in kernel.instructions()) > 0
    assert all(map(effects.may_change_memory, barriers))


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


# One condition each under which branches are merged, or a load takes what was stored: a kernel that lacks it, then
# the same one with it.

PARTS = "if (n > 8) a[0] = 1; if (n > 8) { %s a[1] = 2; }"
RETURN = "if (i < n) { if (m == 0) return; a[i] = 1; } int q = n %s m; if (i < n) b[i] = q;"
SIDES = "if (i < n) { a[m] = 1; if (m > 99) break; } else { a[m] = 2; if (m > 77) break; }"
VALUE = "int v = 1; if (i < n) v = a[i]; %s if (i < n) b[i] = v;"
GUARDS = {
    "barriers": (PARTS % "barrier(CLK_LOCAL_MEM_FENCE);", PARTS % ""),
    "division": (RETURN % "/", RETURN % "*"),  # by 0, were it before the return
    "loops": (
        f"for (;; m++) {{ {SIDES} }} if (i < n) b[i] = 3;",
        f"do {{ {SIDES} }} while (0); if (i < n) b[i] = 3;",
    ),
    "phis": (VALUE % "v += 2;", VALUE % "m += 2;"),
}
STORES = {
    # It is the same place where x + 1 is 0.
    "wraps": ("a[x + 1] = 1; a[x - 0xfffffffful] = 2; b[i] = a[x + 1];", "a[x] = 1; a[x + 1] = 2; b[i] = a[x];"),
    "value of a loop": (
        "do { a[i] = m * 3; m++; } while (m < n); b[i] = a[i];",
        "do { a[i] = n; m++; } while (m < n); b[i] = a[i];",
    ),
    "waiting": ("a[i] = 1; while (a[i] != m) m++;", "a[i] = 1; if (a[i] != m) m++; b[i] = m;"),
    "loop between": (
        "a[i] = 1; for (int j = 0; j < n; j++) a[j] = 2; b[i] = a[i];",
        "a[i] = 1; for (int j = 0; j < n; j++) b[j] = 2; b[i] = a[i];",
    ),
    "branch between": (
        "a[i] = 1; if (n > m) a[n] = 2; b[i] = a[i];",
        "a[i] = 1; if (n > m) b[n] = 2; b[i] = a[i];",
    ),
    "indices": ("a[i] = 1; a[n + 3] = 2; b[i] = a[i];", "a[i] = 1; a[i + 1] = 2; b[i] = a[i];"),
    "address": ("a[1] = m; b[0] = *a;", "a[0] = m; b[0] = *a;"),
}
CONDITIONS = {**{name: (merge_guards, *each) for name, each in GUARDS.items()}, **{
    name: (forward_stores, *each) for name, each in STORES.items()
}}  # fmt: skip


@pytest.mark.parametrize("name", CONDITIONS)
def test_each_condition_is_needed(name: str) -> None:
    clean, *bodies = CONDITIONS[name]
    head = "kernel void f(int n, int m, uint x, global int *a, global int *restrict b)"
    kernels = [lower(f"{head} {{ int i = get_global_id(0); {body} }}") for body in bodies]
    assert [clean(kernel) is not None for kernel in kernels] == [False, True]


@pytest.mark.parametrize(("stored", "loaded", "is_taken"), [(24, 32, False), (24, 24, True), (32, 32, True)])
def test_bits_that_fill_no_bytes_are_taken_as_no_other_type(stored: int, loaded: int, is_taken: bool) -> None:
    body = f"""define spir_kernel void @k(ptr addrspace(1) %p, i{stored} %x) {{
    entry:
      store i{stored} %x, ptr addrspace(1) %p
      %y = load i{loaded}, ptr addrspace(1) %p
      %q = getelementptr i64, ptr addrspace(1) %p, i64 1
      store i{loaded} %y, ptr addrspace(1) %q
      ret void
    }}"""
    with parsed(body) as module:
        kernel = Kernel("k", parse_module(str(module)))
    assert (forward_stores(kernel) is not None) == is_taken


def test_many_equal_guards_take_few_walks(monkeypatch: pytest.MonkeyPatch) -> None:
    walk = Mock(wraps=simplify.same_values)
    monkeypatch.setattr(simplify, "same_values", walk)
    lines = "".join(f"if (i < n) a[i] += a[i + {k}];" for k in range(32))
    module = merge_guards(lower(f"kernel void f(int n, global int *a) {{ int i = get_global_id(0); {lines} }}"))
    assert module is not None
    assert walk.call_count < 8
