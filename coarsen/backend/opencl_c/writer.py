"""The whole of the OpenCL C writer: what is decided before a line is written, in order, and the text at the end.

folding ▸ liveness, sharing ▸ signs, pointees ▸ names ▸ expressions and statements ▸ structure ▸ scopes ▸ text

The OpenCL C version that a kernel needs, and the hints of its loops, are found here, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from coarsen.analysis.control_flow import ControlFlow, Loop
from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.backend.opencl_c.c.build import coerce
from coarsen.backend.opencl_c.c.tree import Assign, Expression, Name, Statement
from coarsen.backend.opencl_c.c.types import CType, Opaque, Pointer
from coarsen.backend.opencl_c.decide.folding import Dataflow, plan_folding
from coarsen.backend.opencl_c.decide.liveness import TextLiveness, share_variables
from coarsen.backend.opencl_c.decide.pointees import Pointees, Signs, declared_type
from coarsen.backend.opencl_c.decide.variables import Names, Variables, label_name
from coarsen.backend.opencl_c.express.calls import stem
from coarsen.backend.opencl_c.express.comparisons import equality
from coarsen.backend.opencl_c.express.constant_expressions import constant, constant_lanes
from coarsen.backend.opencl_c.express.opcodes import HANDLERS
from coarsen.backend.opencl_c.express.statements import statements_of
from coarsen.backend.opencl_c.express.translator import Translator
from coarsen.backend.opencl_c.printing.expressions import Printer, same_text
from coarsen.backend.opencl_c.printing.preamble import field_names, kernel_text
from coarsen.backend.opencl_c.structure.blocks import structured
from coarsen.backend.opencl_c.structure.scopes import (
    declare,
    declare_at_top,
    shaped,
    without_forward_jumps,
    without_unused_labels,
)
from coarsen.backend.opencl_c.structure.terminators import Arm, Node, Test, branch_graph, in_order
from coarsen.base.limits import refusing_deep_nesting
from coarsen.errors import InternalError
from coarsen.ir.graph.instruction import Instruction, attached, predicate, source_element_type
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.kernel import Kernel
from coarsen.ir.metadata import node_items
from coarsen.ir.opencl.queries import NEWER_QUERIES, builtin_name
from coarsen.ir.types import IntegerType, Type


@dataclass(frozen=True, slots=True)
class OpenClC:
    """A kernel's text, and the build option of the OpenCL C version that it needs."""

    text: str
    standard: str


def write_opencl_c(kernel: Kernel) -> OpenClC:
    """Write a kernel as OpenCL C.

    Args:
        kernel: a kernel in normal form, coarsened or not.

    Raises:
        RefusalError: what the kernel does has no faithful form in OpenCL C.
    """
    with refusing_deep_nesting():
        return _Writer(kernel).write()


# What the writer itself may call for an instruction that is not a call.
_OWN_FUNCTIONS = (
    *("abs", "add_sat", "all", "any", "clz", "fma", "fmax", "fmin", "fmod", "isnan", "islessgreater"),
    *(
        "isunordered",
        "max",
        "min",
        "mul_hi",
        "popcount",
        "printf",
        "rint",
        "rotate",
        "select",
        "shuffle",
        "sub_sat",
    ),
)
_BOTH_WAYS = 2
_SAMPLER = "__translate_sampler_initializer"


class _Writer:
    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.flow = ControlFlow(kernel)
        self.dataflow = Dataflow(kernel)
        self.effects = EffectsOfKernel.of_kernel(kernel)
        folding = plan_folding(kernel, self.flow, self.dataflow, self.effects)
        self.liveness = TextLiveness(kernel, self.flow, self.dataflow, folding)
        shared = share_variables(self.liveness)
        pointees = Pointees(kernel, self.dataflow)
        signs = Signs(kernel, self.dataflow, pointees, shared)
        # No variable and no argument may hide a function that the text calls.
        called = {*map(builtin_name, kernel.callees), *map(stem, kernel.callees), *_OWN_FUNCTIONS}
        self.names = Names((*kernel.argument_names, kernel.name, *called))
        parameters = {name: self.names.new(name) if name in called else name for name in kernel.argument_names}
        self.variables = Variables(kernel, self.dataflow, folding, pointees, signs, shared, self.names, parameters)
        expressions = self.variables.expressions()
        self.translator = Translator(
            kernel=kernel,
            dataflow=self.dataflow,
            folding=folding,
            signs=signs,
            pointees=pointees,
            names=expressions,
            field_names=field_names(kernel),
            handlers=HANDLERS,
            constant_handler=constant,
            constant_lanes_handler=constant_lanes,
            sampler_names=self._sampler_names(),
            new_name=self.names.new,
            variable_types=self.variables.types,
        )
        self.labels: dict[str, str] = {}

    def _sampler_names(self) -> dict[int, str]:
        if _SAMPLER not in self.kernel.callees:
            return {}
        calls = (i for i in self.kernel.instructions() if i.callee == _SAMPLER)
        numbers = dict.fromkeys(int(call.arguments[0].text) for call in calls)
        return {number: self.names.new("sampler") for number in numbers}

    def write(self) -> OpenClC:
        """Return the text and the standard that it needs."""
        body = self._body()
        printer = Printer(self.translator.variable_types, self._label)
        text = kernel_text(self.translator, self.variables, body, printer.lines(body))
        return OpenClC(text, standard_of(self.kernel, is_newer=self.translator.requirements.needs_2_0))

    def _body(self) -> list[Statement]:
        done = [value.instruction for value in self.variables.initial_values.values()]
        nodes = {name: self._node(name, done) for name in self.flow.reverse_postorder}
        for header, hint in unroll_hints(self.kernel, self.flow).items():
            nodes[header].unroll_hint = hint
        graph = branch_graph(self.flow, nodes, self._test, self._equals)
        body = without_unused_labels(structured(graph))
        if not graph.is_reducible:
            return declare_at_top(body, self.translator.variable_types)
        body = without_unused_labels(without_forward_jumps(body))
        return declare(shaped(body), self.translator.variable_types)

    def _node(self, name: str, done: list[Instruction]) -> Node:
        terminator = self.kernel.block[name].terminator
        arms = tuple(Arm(target, tuple(self._copies(name, target))) for target in terminator.targets)
        condition = self.translator.value(terminator.operands[0]) if len(arms) > 1 else None
        if condition is not None and arms[0].target == arms[1].target:
            arms, condition = arms[:1], None
        skipped = done if name == self.flow.entry else ()
        return Node(name, statements_of(self.translator, self.effects, name, skipped), arms, condition)

    def _test(self, block: str) -> Test | None:
        """The comparison with a constant that a block ends with, if nothing else needs its result."""
        terminator = self.kernel.block[block].terminator if block in self.kernel.block else None
        if terminator is None or len(terminator.targets) != _BOTH_WAYS:
            return None
        compared = self.dataflow.definition(terminator.operands[0])
        if compared is None or compared.opcode != "icmp" or compared.name not in self.translator.folding.inlined:
            return None
        value, constant = map(self.dataflow.origin, compared.operands)
        number = constant.number
        if number is None or not value.is_local or not isinstance(value.type, IntegerType):
            return None
        if not self._is_simple(value):
            return None
        return Test(value.text, predicate(compared), number, value.type.width, self._largest(value))

    def _is_simple(self, value: Operand) -> bool:
        """Return True if a value may be named several times: a variable, widened or not."""
        folded = self.translator.folding.inlined
        if value.text not in folded:
            return True
        widened = self.kernel.definition[value.text]
        return widened.opcode in ("sext", "zext") and self.dataflow.origin(widened.operands[0]).text not in folded

    def _largest(self, value: Operand) -> int | None:
        """A bound of a value that was cut to some bits."""
        definition = self.dataflow.definition(value)
        if definition is None or definition.opcode != "and":
            return None
        bounds = [operand.number for operand in definition.operands]
        return next((bound for bound in bounds if bound is not None and bound >= 0), None)

    def _equals(self, block: str, number: int) -> Expression:
        """The condition that the value which a block compares is a number."""
        compared = self.dataflow.definition(self.kernel.block[block].terminator.operands[0])
        if compared is None:
            raise InternalError(f"block '{block}' ends with no comparison")
        value = self.translator.value(compared.operands[0])
        return equality(value, number)

    def _copies(self, source: str, target: str) -> list[Assign]:
        """The assignments that the edge makes, variables that are shared left out."""
        copies = []
        for phi, value in self.liveness.copies(source, target):
            variable = self.translator.variable(phi)
            if value.text in ("undef", "poison") and not self._enters_loop(source, target):
                continue
            expression = coerce(self.translator.value(value), variable.type)
            if not same_text(expression, variable):
                copies.append(Assign(variable.text, expression))
        return in_order(copies, self._kept)

    def _enters_loop(self, source: str, target: str) -> bool:
        loop = self.flow.loop_of[target]
        return loop is not None and loop.header == target and source not in loop.blocks

    def _kept(self, copy: Assign) -> Name:
        type_: CType = self.translator.variable_types[copy.variable]
        return self.translator.new_variable(f"next_{copy.variable}", type_)

    def _label(self, block: str) -> str:
        if block not in self.labels:
            self.labels[block] = self.names.new(label_name(block))
        return self.labels[block]


DEFAULT_STANDARD = "-cl-std=CL1.2"
_NEWER_STANDARD = "-cl-std=CL2.0"
_ONLY_2_0 = re.compile(
    r"atomic_(?:init|load|store|exchange|compare_exchange\w+|fetch_\w+|flag_\w+)(?:_explicit)?|atomic_work_item_fence"
    rf"|work_group_\w+|sub_group_\w+|ctz|get_sub_group\w+|{'|'.join(query.value for query in NEWER_QUERIES)}"
)
_WITH_SOURCE_TYPE = frozenset({"alloca", "getelementptr"})
_GENERIC = "addrspace(4)"
# Clang makes a null pointer of any address space from the generic one.
_GENERIC_NULL = "addrspacecast (ptr addrspace(4) null to "


def standard_of(kernel: Kernel, *, is_newer: bool = False) -> str:
    """Return `-cl-std=CL2.0` for a kernel that needs it, else `-cl-std=CL1.2`.

    Generic pointers, C11 atomics and the functions that came with OpenCL 2.0 need it.

    Args:
        kernel: a kernel in normal form.
        is_newer: whether something else that it does is known to need OpenCL C 2.0.
    """
    newer = (
        is_newer
        or any(_ONLY_2_0.fullmatch(builtin_name(callee)) for callee in kernel.callees)
        or _has_generic_pointers(kernel)
        or any(_is_atomic(declared_type(argument, kernel.structures)) for argument in kernel.arguments)
    )
    return _NEWER_STANDARD if newer else DEFAULT_STANDARD


def _has_generic_pointers(kernel: Kernel) -> bool:
    # By identity: most values have one of few types, and to hash one takes longer than to look at it.
    instructions = list(kernel.instructions())
    operands = {id(operand): operand for each in instructions for operand in each.operands}.values()
    constants = (operand.text for operand in operands if operand.kind is ValueKind.CONSTANT)
    if any(_GENERIC in text.replace(_GENERIC_NULL, "") for text in constants):
        return True
    types: dict[int, Type] = {id(each.type): each.type for each in instructions}
    types |= {id(each.type): each.type for each in operands}
    named = [each for each in instructions if each.opcode in _WITH_SOURCE_TYPE]
    types |= {id(type_): type_ for type_ in map(source_element_type, named)}
    return any(_GENERIC in str(type_) for type_ in types.values())


def _is_atomic(type_: CType) -> bool:
    while isinstance(type_, Pointer):
        type_ = type_.pointee
    return isinstance(type_, Opaque) and type_.name.startswith("atomic_")


# Unroll hints of loops, which clang attaches to the branch back to a loop's header.
#
# br label %header, !llvm.loop !{…, !{!"llvm.loop.unroll.count", i32 4}}   →   opencl_unroll_hint(4)

_HINT = "opencl_unroll_hint"
_COUNT = '!"llvm.loop.unroll.count"'
_WITHOUT_COUNT = {
    '!"llvm.loop.unroll.disable"': f"{_HINT}(1)",
    '!"llvm.loop.unroll.enable"': _HINT,
    '!"llvm.loop.unroll.full"': _HINT,
}


def unroll_hints(kernel: Kernel, flow: ControlFlow) -> Mapping[str, str]:
    """Return the attributes of loops that have a hint, by the loops' headers.

    A loop that became two, one inside of the other, has it once.
    """
    described = {loop.header: _described(kernel, flow, loop) for loop in flow.loops}
    hints = {}
    for loop in flow.loops:
        around = {described[outer.header] for outer in flow.loops_around(loop.header) if outer is not loop}
        node = described[loop.header]
        hint = _hint(kernel.metadata, node) if node and node not in around else ""
        if hint:
            hints[loop.header] = hint
    return hints


def _described(kernel: Kernel, flow: ControlFlow, loop: Loop) -> str:
    """The node that all branches back to a loop's header carry; empty where they differ."""
    latches = [name for name in flow.predecessors(loop.header) if name in loop.blocks]
    nodes = {attached(kernel.block[name].terminator, "llvm.loop") for name in latches}
    return nodes.pop() if len(nodes) == 1 else ""


def _hint(nodes: Mapping[str, str], loop: str) -> str:
    for name, *rest in _properties(nodes, loop, set()):
        if name == _COUNT:
            return f"{_HINT}({rest[0].split()[-1]})"
        if name in _WITHOUT_COUNT:
            return _WITHOUT_COUNT[name]
    return ""


def _properties(nodes: Mapping[str, str], node: str, seen: set[str]) -> Iterator[list[str]]:
    """Yield the lists that begin with a word, those that hold after vectorising among them."""
    if node in seen:
        return
    seen.add(node)
    items = node_items(nodes, node)
    if items and items[0].startswith('!"'):
        yield items
    for item in items:
        if item.startswith("!") and item[1:] in nodes:
            yield from _properties(nodes, item, seen)
