"""A module: functions with bodies, what they call, program-scope variables, types, attributes and metadata.

Like a function, it is owned by whoever made or copied it, until it is sealed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from coarsen.errors import InternalError
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.operands import Callee, Variable
from coarsen.ir.graph.scanner import Scanner
from coarsen.ir.graph.unread import UnreadFunction
from coarsen.ir.types import IntegerType, StructType

_NARROW_TRIPLE = "spir-"


@dataclass
class Module:
    """What LLVM compiles at once.

    Attributes:
        source_name: of what was compiled.
        data_layout: as LLVM spells it.
        triple: of the target.
        preamble: the lines that no transform looks at: groups of linked sections (`comdat`), assembler; where
            functions are unread, the types, too.
        structures: the named structure types.
        opaque: the names of those whose content isn't known.
        variables: at program scope, by name, with other names of them.
        callees: all functions, by name, in their order; those with a body are in `functions` or `unread` as well.
        functions: those with a body, by name.
        unread: those with a body that nobody has read, by name (`unread.py`).
        attribute_groups: the attributes of each numbered group, such as `convergent nounwind`.
        metadata: the nodes by their name or number without `!`, as text.
        is_sealed: whether it never changes again, and its functions neither.
    """

    source_name: str = ""
    data_layout: str = ""
    triple: str = ""
    preamble: tuple[str, ...] = ()
    structures: Mapping[str, StructType] = field(default_factory=dict)
    opaque: frozenset[str] = frozenset()
    variables: dict[str, Variable] = field(default_factory=dict)
    callees: dict[str, Callee] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    unread: dict[str, UnreadFunction] = field(default_factory=dict)
    attribute_groups: dict[str, str] = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)
    is_sealed: bool = False

    @property
    def size_type(self) -> IntegerType:
        """The type of `size_t`: 64 bits unless the module is for 32-bit SPIR."""
        return IntegerType(32 if self.triple.startswith(_NARROW_TRIPLE) else 64)

    def function(self, name: str) -> Function:
        """Return a function with a body. Raises InternalError if there is none of that name."""
        if name not in self.functions:
            raise InternalError(f"the function '{name}' is not in the module")
        return self.functions[name]

    def callee(self, name: str, declaration: str) -> Callee:
        """Return a function to call; `declaration`, its `declare` line, is added if the module has none.

        It then stands before the first function with a body.
        """
        if name not in self.callees:
            self.declare([Callee(name, declaration)])
        return self.callees[name]

    def declare(self, callees: Iterable[Callee]) -> None:
        """Add functions to call that the module lacks, before the first one with a body."""
        self.check_owned()
        added = [(callee.name, callee) for callee in callees if callee.name not in self.callees]
        known = list(self.callees.items())
        place = next((place for place, (name, _) in enumerate(known) if name in self.functions), len(known))
        self.callees = dict([*known[:place], *added, *known[place:]])

    def add_variable(self, variable: Variable) -> Variable:
        """Add a program-scope variable, under a name that nothing there has, and give it back."""
        self.check_owned()
        self.variables[variable.name] = variable
        return variable

    def add_node(self, operands: Iterable[str]) -> str:
        """Add a metadata node and return its reference, such as `!12`.

        Args:
            operands: as they are spelled.
        """
        self.check_owned()
        numbers = (int(key) for key in self.metadata if key.isdigit())
        number = str(1 + max(numbers, default=-1))
        self.metadata[number] = f"!{{{', '.join(operands)}}}"
        return f"!{number}"

    def seal(self) -> None:
        """Let the module and its functions never change again."""
        self.is_sealed = True
        for function in self.functions.values():
            function.seal()

    def check_owned(self) -> None:
        """Raise InternalError if it is sealed."""
        if self.is_sealed:
            raise InternalError("the module is sealed: copy it before you change it")


def attributes_of_callees(module: Module) -> Mapping[str, str]:
    """Return the attributes of each function without a body, its own and those of its group, in LLVM's words."""
    groups = module.attribute_groups
    return {name: _attributes(callee, groups) for name, callee in module.callees.items() if callee.declaration}


def _attributes(callee: Callee, groups: Mapping[str, str]) -> str:
    own, group = _own_and_group(callee.declaration, callee.spelling)
    return f"{own} {groups.get(group, '')}".strip()


@lru_cache(maxsize=4096)
def _own_and_group(declaration: str, spelling: str) -> tuple[str, str]:
    """Return a function's own attributes and the number of its group; kernels declare the same few functions."""
    line = Scanner(declaration, {})
    line.position = line.text.index(f"{spelling}(") + len(spelling)
    line.bracketed()
    own, _, group = line.rest.partition("#")
    return own.strip(), group.partition(" ")[0]
