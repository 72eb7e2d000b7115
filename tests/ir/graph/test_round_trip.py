"""Every instruction of the kernels of the suite and of the tests, as text to the graph and back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from coarsen.errors import CoarsenError
from coarsen.frontend.lower import compile_source
from coarsen.frontend.normal_form import normal_form, normalised, renormalised
from coarsen.frontend.translation_unit import TranslationUnit
from coarsen.ir.graph.display_name import DisplayName
from coarsen.ir.graph.locations import read_module
from coarsen.ir.graph.operands import ValueKind
from coarsen.ir.graph.origin import Origin, Role
from coarsen.ir.graph.printer import instruction_text, module_text
from coarsen.ir.graph.rewriting import copy_module, restored, stored
from coarsen.ir.kernel import Kernel
from coarsen.ir.modules import assembly_module
from coarsen.variant.coarsening import Coarsening
from tests.coarsened_kernel import coarsen_kernel
from tests.ir.graph.check import check_function

ROOT = Path(__file__).parents[3]
_HINTS = ("@llvm.lifetime.", "@llvm.experimental.noalias.scope.decl")
_ATTACHED = re.compile(r"(?:, ![\w.]+ !\d+)+$")
FOLDERS = ("opencl_bench/kernels", "tests/transform/kernels", "tests/frontend/kernels")
FILES = [path for folder in FOLDERS for path in sorted((ROOT / folder).glob("*.cl"))]


def kernels(path: Path) -> tuple[Kernel, ...]:
    """The kernels of a file in normal form, and coarsened where they can be."""
    unit = compile_source(path, "-cl-std=CL2.0 -DELEMENT=float -DREPEAT=3")
    return tuple(kernel for name in unit.kernels for kernel in _forms(unit, name))


def _forms(unit: TranslationUnit, name: str) -> Iterator[Kernel]:
    text = normal_form(unit, name)
    lowered = Kernel(name, read_module(text))
    assert [_ATTACHED.sub("", instruction_text(i)) for i in lowered.instructions()] == list(
        lines_of_llvm(text, name)
    )
    yield lowered
    try:
        yield coarsen_kernel(lowered, [Coarsening(4, 0)])
    except CoarsenError:
        return


def lines_of_llvm(text: str, name: str) -> Iterator[str]:
    """The lines of a kernel's instructions as LLVM prints them, without metadata and hints to the optimiser."""
    _, _, body = text.partition(f"spir_kernel void @{name}(")
    for line in body.partition("\n}\n")[0].splitlines():
        if line.startswith("  ") and "#dbg_" not in line and not any(hint in line for hint in _HINTS):
            yield _ATTACHED.sub("", line.strip())


def printed_by_llvm(assembly: str) -> str:
    with assembly_module(assembly) as module:
        return str(module)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_nothing_is_lost_between_text_and_graph(path: Path) -> None:
    for kernel in kernels(path):
        assert_same_content(kernel)
        assert_same_for_llvm(kernel)
        assert_origins_survive(kernel)


def assert_same_content(kernel: Kernel) -> None:
    """Each instruction of a copy says what the original says."""
    module = kernel.editable_graph()
    function = module.function(kernel.name)
    check_function(function)
    for new, old in zip(function.instructions(), kernel.instructions(), strict=True):
        assert instruction_text(new) == instruction_text(old)
        assert (new.name, new.opcode, new.type, new.callee) == (old.name, old.opcode, old.type, old.callee)
        assert new.incoming == old.incoming
        assert new.targets == old.targets
        assert new.position == old.position
        assert (new.flags, new.detail, new.attachments) == (old.flags, old.detail, old.attachments)
        read = [(o.kind, o.text, o.type) for o in old.operands if o.kind is not ValueKind.BLOCK]
        known = [(o.kind, o.text, o.type) for o in new.operands]
        assert known[: len(new.arguments)] == read[: len(new.arguments)]
        assert (new.is_volatile, new.is_atomic) == (old.is_volatile, old.is_atomic)
    assert [a.name for a in function.arguments] == [a.name for a in kernel.arguments]


def assert_same_for_llvm(kernel: Kernel) -> None:
    """LLVM reads the same module from the graph, from a copy of it and from what is stored of it."""
    module = kernel.editable_graph()
    expected = printed_by_llvm(module_text(kernel.graph))
    copied, _ = copy_module(module)
    check_function(copied.function(kernel.name))
    assert printed_by_llvm(module_text(module)) == expected
    assert printed_by_llvm(module_text(copied)) == expected
    assert printed_by_llvm(module_text(restored(*stored(module)))) == expected


def assert_origins_survive(kernel: Kernel) -> None:
    """Values have their origins after LLVM's passes, which do the same as without."""
    module = kernel.editable_graph()
    function = module.function(kernel.name)
    expected: dict[str, Origin] = {}
    for number, instruction in enumerate(function.instructions()):
        instruction.origin = Origin(name=DisplayName(f"instruction {number}"), role=Role.ID, replica=number)
        expected[instruction.name] = instruction.origin
    result = normalised(module)
    with renormalised(module_text(kernel.graph)) as in_normal_form:
        plain = read_module(str(in_normal_form))
    after = list(result.function(kernel.name).instructions())
    assert [i.name for i in after if i.origin.role is not Role.ID and i.opcode != "phi"] == []
    assert [i.name for i in after if i.name in expected and i.name and i.origin != expected[i.name]] == []
    assert not any("!DI" in body for body in result.metadata.values())
    # Also the numbers of metadata.
    assert module_text(result) == module_text(plain)
