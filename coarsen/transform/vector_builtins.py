"""Calls of OpenCL's `vloadn` and `vstoren`, as clang writes them.

    vload4(0, p)        call spir_func <4 x float> @_Z6vload4mPU3AS1Kf(i64 0, ptr addrspace(1) %p)
    vstore4(v, 0, p)    call spir_func void @_Z7vstore4Dv4_fmPU3AS1f(<4 x float> %v, i64 0, ptr addrspace(1) %p)

They need no better alignment than that of an element (OpenCL C 3.0 specification, 6.15.8).
"""

from __future__ import annotations

from dataclasses import dataclass

from coarsen.ir.types import FloatType, IntegerType, PointerType, Type, VectorType

COUNTS = (16, 8, 4, 2)
_SIGNED_CODES = {8: "c", 16: "s", 32: "i", 64: "l"}
_UNSIGNED_CODES = {8: "h", 16: "t", 32: "j", 64: "m"}
_FLOAT_CODES = {"float": "f", "double": "d"}
# What clang says of the two functions in `opencl-c.h`.
LOADING = "nounwind willreturn memory(read)"
STORING = "nounwind willreturn"


@dataclass(frozen=True, slots=True)
class VectorBuiltins:
    """The builtins for vectors of some type in some address space.

    Attributes:
        type: the vector; its element one of those of `is_element`.
        space: the address space, SPIR's number.
        is_unsigned: whether the source calls the elements unsigned; LLVM's types don't say.
        size_type: of `size_t`, the type of an index.
    """

    type: VectorType
    space: int
    is_unsigned: bool
    size_type: IntegerType

    @property
    def load_declaration(self) -> str:
        """The `declare` line of `vloadn`."""
        return f"declare spir_func {self.type} @{self.load_name}({self.size_type}, {self._pointer}) {LOADING}"

    @property
    def store_declaration(self) -> str:
        """The `declare` line of `vstoren`."""
        parameters = f"{self.type}, {self.size_type}, {self._pointer}"
        return f"declare spir_func void @{self.store_name}({parameters}) {STORING}"

    @property
    def load_name(self) -> str:
        """The mangled name of `vloadn`."""
        name = f"vload{self.type.count}"
        return f"_Z{len(name)}{name}{self._size_code}PU3AS{self.space}K{self._code}"

    @property
    def store_name(self) -> str:
        """The mangled name of `vstoren`."""
        name = f"vstore{self.type.count}"
        vector = f"Dv{self.type.count}_{self._code}"
        return f"_Z{len(name)}{name}{vector}{self._size_code}PU3AS{self.space}{self._code}"

    @property
    def _pointer(self) -> PointerType:
        return PointerType(self.space)

    @property
    def _size_code(self) -> str:
        return _UNSIGNED_CODES[self.size_type.width]

    @property
    def _code(self) -> str:
        element = self.type.element
        if isinstance(element, FloatType):
            return _FLOAT_CODES[element.kind]
        codes = _UNSIGNED_CODES if self.is_unsigned else _SIGNED_CODES
        return codes[element.width] if isinstance(element, IntegerType) else ""


def is_element(type_: Type) -> bool:
    """Return True if there are builtins for vectors of it on every device that has the type: not for half."""
    if isinstance(type_, FloatType):
        return type_.kind in _FLOAT_CODES
    return isinstance(type_, IntegerType) and type_.width in _SIGNED_CODES
