"""The box of an array's elements that a work-group reads, and the cell of it that each read takes.

    a[(y + 1)*w + x]     index = core = w·base₁ + base₀ + w  +  w·local₁ + 1·local₀
                                        the same for all        along w: local₁ + 1, along 1: local₀

An index is a number of w bits, the core, extended to an address' bits or not. The core is a polynomial modulo 2^w
(`analysis/algebra/exact_forms.py`) in ids in the work-group, counters of loops, and what is the same for all its
work-items, the ids of its first one among it. What the varying ones are multiplied by are the box's axes. Of two
reads, what is the same for all differs by a whole number of steps along the axes, or there is no box.

Equal cells have equal cores, modulo 2^w, and so equal addresses: nothing is assumed of wraps. Two cells may have
one address, which does no harm to what is only read.

A clamped place is an axis of its own, whose cells are the places before they are clamped:

    a[clamp(y + 1, 0, h - 1)*w + x]    core = w·(local₁ + C) + base₀ + local₀,  C: clamp(…, 0, h - 1), base₁ + 1

The symbol C stands for all but the ids and counters in the call. Reads whose cores have it alike, with one factor,
clamp by one function, so that equal places have equal results.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from coarsen.analysis.algebra.exact_forms import ExactForms
from coarsen.analysis.algebra.numbers import POINTER_BITS, width_of
from coarsen.analysis.algebra.polynomial import ZERO, Polynomial
from coarsen.analysis.control_flow import ControlFlow, Loop
from coarsen.analysis.loop_counters import Counter, counters_of
from coarsen.errors import RefusalError
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.queries import DIMENSIONS, Query, queried_dimension, query_of
from coarsen.transform.placement.boxes import Axis, Conditions, Footprint, Span, Taking, is_clamp, is_signed
from coarsen.transform.placement.guards import PURE, UNIFORM_QUERIES, Guards

_EXTENSIONS = ("sext", "zext")
_MORE = "its index depends on more than ids, counters and what is the same for all"
# The bits of a counter that is extended.
_LEAST_WIDTH = 32


@dataclass(frozen=True, slots=True)
class _Core:
    """A core's varying part, by the symbols that vary, and the rest; and the conditions on the way to the read."""

    read: Instruction
    extension: tuple[str, int]
    factors: Mapping[str, Polynomial]
    rest: Polynomial
    conditions: Conditions
    clamps: Mapping[str, _Clamp]

    def clamp_of(self, symbol: str) -> str:
        """Return the name of what clamps an id or a counter; empty without."""
        return next((name for name, each in self.clamps.items() if (symbol,) in each.varying.terms), "")


@dataclass(frozen=True, slots=True)
class _Clamp:
    """A call of `clamp`, its varying part, and the rest of the place that it clamps."""

    call: Instruction
    varying: Polynomial
    rest: Polynomial


class Footprints:
    """Finds boxes in one kernel.

    Args:
        kernel: in normal form.
        array: its name.
        sizes: of a work-group, along each dimension.
        loop: before which the box is copied; None for the kernel's start. All work-items of a group begin it
            together.
        given: names of values from before the loop that are the same for all work-items of a group.
    """

    def __init__(
        self,
        kernel: Kernel,
        array: str,
        sizes: Sequence[int],
        loop: Loop | None = None,
        given: Collection[str] = (),
    ) -> None:
        self._kernel = kernel
        self._array = array
        self._sizes = sizes
        self._loop = loop
        self._given = given
        self._forms = ExactForms(kernel)
        self._flow = ControlFlow(kernel)
        self._cores: dict[str, _Core] = {}

    @cached_property
    def _counters(self) -> Mapping[str, Counter]:
        found = counters_of(self._kernel, self._flow)
        if self._loop is None:
            return found
        return {name: each for name, each in found.items() if each.loop.blocks <= self._loop.blocks}

    @cached_property
    def _guards(self) -> Guards:
        start = self._loop.header if self._loop else None
        return Guards(self._kernel, self._flow, self._counters, self._given, start)

    def of(self, reads: Sequence[tuple[Instruction, Operand]]) -> Footprint:
        """Return the box of some reads, each with the index of the element.

        Raises:
            RefusalError: `place-footprint-unknown`.
        """
        cores = [self._core_of(read, index) for read, index in reads]
        first = cores[0]
        for core in cores:
            if core.extension != first.extension:
                raise self._refusal(core.read, "its indices are of different types")
        axes = self._axes(cores)
        if not axes:
            raise self._refusal(first.read, "all work-items read the same element: nothing is gained by a copy")
        along = [self._along(core, axes) for core in cores]
        model = next((place for place, each in enumerate(along) if self._is_model(each, axes)), None)
        if model is None:
            raise self._refusal(first.read, "no read varies in all directions in which reads do")
        units = [axis.unit for axis in axes]
        offsets = [self._steps(core, cores[model], axes) for core in cores]
        spans = tuple(
            tuple(Span(offset, *varying) for offset, varying in zip(steps, varying_along, strict=True))
            for steps, varying_along in zip(offsets, along, strict=True)
        )
        takings = dict.fromkeys(
            taking for core, each in zip(cores, spans, strict=True) for taking in self._takings(core, each)
        )
        return Footprint(tuple(self._bounds(units, spans)), spans, model, tuple(takings))

    def _takings(self, core: _Core, spans: Sequence[Span]) -> Sequence[Taking]:
        found = self._guards.takings(core.read, spans, core.conditions)
        if found is None:
            raise self._refusal(core.read, "an element doesn't tell whether work-items come to this read of it")
        return found

    def _is_model(self, along: Sequence[_Varying], axes: Sequence[_Axis]) -> bool:
        """Return True for a read that varies along every axis, from cell to cell or by what is at hand."""
        for (ids, counters), axis in zip(along, axes, strict=True):
            steps = [step for _, step in (*ids, *counters)]
            is_between = not axis.clamp and all(map(self._is_at_hand, _product(axis.unit)))
            if not steps or (min(steps) > 1 and not is_between):
                return False
        return True

    def _bounds(self, units: Sequence[Polynomial], spans: Sequence[Sequence[Span]]) -> Iterator[Axis]:
        for place, unit in enumerate(units):
            least = min(each[place].least for each in spans)
            greatest = max(each[place].greatest(self._sizes) for each in spans)
            yield Axis(unit, least, greatest - least + 1)

    # The core of an index.

    def _core_of(self, read: Instruction, index: Operand) -> _Core:
        """The core of a read's index, which many boxes ask for."""
        if read.name not in self._cores:
            self._cores[read.name] = self._core(read, index)
        return self._cores[read.name]

    def _core(self, read: Instruction, index: Operand) -> _Core:
        conditions = self._guards.conditions(read)
        if conditions is None:
            raise self._refusal(read, "it isn't known which work-items come to this read, and how often")
        core, extension = self._peeled(index)
        self._check_extensions(read, core)
        self._check_phis(read, core)
        width = width_of(core.type)
        clamps: dict[str, _Clamp] = {}
        polynomial = self._polynomial(read, core, clamps)
        varying = sorted(symbol for symbol in polynomial.symbols if self._varies(symbol))
        factors: dict[str, Polynomial] = {}
        rest = polynomial
        for symbol in varying:
            factor = polynomial.factor_of(symbol)
            if factor is None or any(map(self._varies, factor.symbols)):
                raise self._refusal(
                    read, "its index is no sum of ids and counters, each times a number or an argument"
                )
            factors[symbol] = factor
            rest = rest - factor * Polynomial.symbol(symbol)
        for name, clamp in clamps.items():
            times = polynomial.factor_of(name)
            for (symbol, *more), coefficient in clamp.varying.terms.items():
                # So that nothing else in the index has the id or counter.
                expected = None if times is None else times.scaled(coefficient).modulo(width)
                if more or factors.get(symbol) != expected or width_of(clamp.call.type) != width:
                    raise self._refusal(read, _MORE)
        return _Core(read, (extension, width), factors, rest, conditions, clamps)

    def _polynomial(self, read: Instruction, value: Operand, clamps: dict[str, _Clamp]) -> Polynomial:
        """A number's form of symbols that vary or are the same for all; the clamps in it are added."""
        width = width_of(value.type)
        form = self._forms.form(value).modulo(width).polynomial
        return form.replaced(lambda symbol: self._symbol(read, symbol, clamps)).modulo(width)

    def _clamped(self, read: Instruction, call: Instruction, clamps: dict[str, _Clamp]) -> Polynomial:
        """The ids and counters that a call clamps, and a symbol for the rest; a clamp may be clamped again."""
        inner: dict[str, _Clamp] = {}
        forms = [self._polynomial(read, each, inner) for each in call.arguments]
        places = [form for form in forms if any(map(self._varies, form.symbols))]
        if len(places) != 1 or len(inner) > 1:
            raise self._refusal(read, _MORE)
        terms = places[0].terms.items()
        varying = Polynomial({product: each for product, each in terms if any(map(self._varies, product))})
        rest, it = places[0] - varying, "it"
        for it, clamp in inner.items():
            if rest != Polynomial.symbol(it):
                raise self._refusal(read, _MORE)
            rest = clamp.rest
        said = ", ".join(it if form is places[0] else str(form) for form in forms)
        name = f"{call.callee}({said}) {sorted(varying.symbols & {*_LOCAL})}"
        if clamps.setdefault(name, found := _Clamp(call, varying, rest)) != found:
            raise self._refusal(read, _MORE)
        return varying + Polynomial.symbol(name)

    def _peeled(self, index: Operand) -> tuple[Operand, str]:
        """An index without its extension."""
        if index.kind is ValueKind.INSTRUCTION:
            widened = self._kernel.definition[index.text]
            if widened.opcode in _EXTENSIONS:
                return widened.operands[0], "sext" if is_signed(widened) else widened.opcode
        return index, "sext" if width_of(index.type) < POINTER_BITS else ""

    def _check_extensions(self, read: Instruction, core: Operand) -> None:
        """Refuse extensions of which a constant would be taken out: that may be wrong by a wrap."""
        for widened in self._computed_by(core):
            if widened.opcode in _EXTENSIONS and widened.operands[0].kind is not ValueKind.CONSTANT:
                operand = widened.operands[0]
                form = self._forms.form(operand).modulo(width_of(operand.type))
                if form.polynomial.constant_part:
                    raise self._refusal(read, "its index is a number of more bits made of a sum of fewer")

    def _check_phis(self, read: Instruction, core: Operand) -> None:
        """Refuse phis that are no counters of loops around the read, or are said by way of another one."""
        for phi in self._computed_by(core, through_phis=False):
            if phi.opcode != "phi" or phi.name in self._given:
                continue
            form = self._forms.form(phi).polynomial
            if not self._counts_around(read, phi.name) or form != Polynomial.symbol(f"%{phi.name}"):
                raise self._refusal(read, _MORE)

    def _counts_around(self, read: Instruction, name: str) -> bool:
        """Return True for a counter of a loop that a read is in."""
        return name in self._counters and self._kernel.block_of[read.name] in self._counters[name].loop.blocks

    def _computed_by(self, value: Operand, *, through_phis: bool = True) -> Iterator[Instruction]:
        """The instructions by which a value is computed."""
        seen: set[str] = set()
        waiting = [value]
        while waiting:
            found = waiting.pop()
            if found.kind is ValueKind.INSTRUCTION and found.text not in seen:
                seen.add(found.text)
                instruction = self._kernel.definition[found.text]
                yield instruction
                if through_phis or instruction.opcode != "phi":
                    waiting += instruction.arguments

    # Symbols.

    def _varies(self, symbol: str) -> bool:
        return symbol in _LOCAL or symbol.removeprefix("%") in self._counters

    def _symbol(self, read: Instruction, symbol: str, clamps: dict[str, _Clamp]) -> Polynomial:
        """Return what a symbol of a form is made of, refused unless it is an id, a counter or the same for all."""
        extension = self._forms.extension(symbol)
        if extension is not None:
            return self._extended(read, symbol, clamps)
        if not symbol.startswith("%"):
            raise self._refusal(read, "it isn't known what its index is made of")
        name = symbol[1:]
        instruction = self._kernel.definition.get(name)
        if instruction is None:
            return Polynomial.symbol(symbol)  # An argument.
        if self._counts_around(read, name):
            return Polynomial.symbol(symbol)
        if is_clamp(instruction) and name not in self._given:
            return self._clamped(read, instruction, clamps)
        query, dimension = query_of(instruction), queried_dimension(instruction)
        is_id = query in (Query.GLOBAL_ID, Query.LOCAL_ID)
        if is_id and dimension is not None and dimension in range(DIMENSIONS):
            own = Polynomial.symbol(_LOCAL[dimension])
            return own if query is Query.LOCAL_ID else own + Polynomial.symbol(f"base {dimension}")
        if name not in self._given and not self._is_uniform(instruction):
            raise self._refusal(read, _MORE)
        # Each call of a query gives the same.
        return Polynomial.symbol(symbol if query is None else f"{query.name} {dimension}")

    def _extended(self, read: Instruction, symbol: str, clamps: dict[str, _Clamp]) -> Polynomial:
        """An extension of what is the same for all, or of a counter that stays the same number."""
        extension = self._forms.extension(symbol)
        assert extension is not None
        inner = extension.operand.replaced(lambda each: self._symbol(read, each, clamps))
        varying = [each for each in inner.symbols if self._varies(each)]
        if not varying:
            return Polynomial.symbol(symbol)
        counter = self._counters.get(varying[0].removeprefix("%"))
        # Cells are up to a tile's size beyond the counter's own values, which a sign extension keeps. Where the
        # counter is never negative, `box_copy.py` extends it so in any case.
        is_kept = counter is not None and (extension.opcode == "sext" or counter.least >= 0)
        is_same = is_kept and extension.width >= _LEAST_WIDTH
        width = width_of(self._kernel.definition[varying[0][1:]].type) if is_same else 0
        if inner == Polynomial.symbol(varying[0]) and width == extension.width:
            return inner
        raise self._refusal(read, "its index is a number of more bits made of an id or a counter of fewer")

    def _is_uniform(self, instruction: Instruction) -> bool:
        """Return True if all work-items of a group compute the same, of nothing but arguments and the launch."""
        for each in self._computed_by(instruction):
            is_query = query_of(each) in UNIFORM_QUERIES and queried_dimension(each) in range(DIMENSIONS)
            if not is_query and each.opcode not in PURE:
                return False
        return True

    # Axes.

    def _axes(self, cores: Sequence[_Core]) -> list[_Axis]:
        """Group what varies by the axis along which it does; refuse what varies along two."""
        factor_of: dict[str, Polynomial] = {}
        clamp_of: dict[str, str] = {}
        for core in cores:
            for symbol, factor in core.factors.items():
                is_clamped_so = clamp_of.setdefault(symbol, core.clamp_of(symbol)) == core.clamp_of(symbol)
                if factor_of.setdefault(symbol, factor) != factor or len(factor.terms) != 1 or not is_clamped_so:
                    raise self._refusal(core.read, "it is no box: an id or a counter counts in two ways")
        # Shorter steps first: longer ones may be along the same axis.
        ordered = sorted({_key(factor): factor for factor in factor_of.values()}.items(), key=_coarsest_first)
        found: list[_Axis] = []
        for key, factor in reversed(ordered):
            symbols = [symbol for symbol, each in factor_of.items() if _key(each) == key]
            clamp, *others = {clamp_of[symbol] for symbol in symbols}
            if others:
                raise self._refusal(cores[0].read, _MORE)
            own = [axis for axis in found if axis.clamp == clamp]
            if not any(axis.takes(factor, symbols, self._steps_of(symbols)) for axis in own):
                unit, scale = self._unit(
                    factor, cores, is_first=not any(_product(factor) == _product(each.unit) for each in found)
                )
                reach = 1 + scale * self._steps_of(symbols)
                found.append(_Axis(unit, dict.fromkeys(symbols, scale), reach, clamp))
        return found[::-1]

    def _steps_of(self, symbols: Iterable[str]) -> int:
        """The steps that ids and counters make in all."""
        steps = 0
        for symbol in symbols:
            if symbol in _LOCAL:
                steps += self._sizes[_LOCAL.index(symbol)] - 1
            else:
                counter = self._counters[symbol.removeprefix("%")]
                steps += counter.greatest - counter.least
        return steps

    def _unit(self, factor: Polynomial, cores: Sequence[_Core], *, is_first: bool) -> tuple[Polynomial, int]:
        """An axis' unit, and how many of it a factor is: more than one where other reads lie between its steps."""
        [(product, coefficient)] = factor.terms.items()
        if not is_first or not all(self._is_at_hand(symbol) for symbol in product):
            return factor, 1
        first, shared = cores[0], abs(coefficient)
        for core in cores:
            apart = (core.rest - first.rest).modulo(core.extension[1]).terms.get(product, 0)
            shared = math.gcd(shared, apart)
        scale = abs(coefficient) // shared
        if scale > _MOST_CELLS_A_STEP:
            return factor, 1
        return Polynomial({product: coefficient // scale}), scale

    def _is_at_hand(self, symbol: str) -> bool:
        """Return True for an argument or a value that is given: code before the loop can multiply by it."""
        name = symbol.removeprefix("%")
        return symbol.startswith("%") and (name in self._given or name in self._kernel.argument_names)

    def _along(self, core: _Core, axes: Iterable[_Axis]) -> list[_Varying]:
        """The ids and counters of a core along each axis, with the cells that their steps make."""
        found = []
        for axis in axes:
            own = [(symbol, scale) for symbol, scale in axis.scales.items() if symbol in core.factors]
            ids = tuple((_LOCAL.index(symbol), scale) for symbol, scale in own if symbol in _LOCAL)
            counters = ((self._counters[symbol[1:]], scale) for symbol, scale in own if symbol not in _LOCAL)
            found.append((ids, tuple(counters)))
        return found

    def _steps(self, core: _Core, model: _Core, axes: Sequence[_Axis]) -> list[int]:
        """The steps along each axis from a read to another one where all that varies is 0."""
        width = core.extension[1]
        # What is left for the axes of each clamp, and under an empty name for the others.
        left_of = {"": (core.rest - model.rest).modulo(width)}
        for name in core.clamps.keys() & model.clamps.keys():
            times = core.rest.factor_of(name)
            assert times is not None
            left_of[name] = (times * (core.clamps[name].rest - model.clamps[name].rest)).modulo(width)
        steps = []
        for axis in axes:
            factor, left = axis.unit, left_of.get(axis.clamp, ZERO)
            units = [each.unit for each in axes if each.clamp == axis.clamp]
            [(product, coefficient)] = factor.terms.items()
            others = [f for f in units if set(f.terms) == {product} and abs(f.terms[product]) < abs(coefficient)]
            available = left.terms.get(product, 0)
            # To the nearest, where a finer axis takes the rest.
            count = (
                (2 * available + abs(coefficient)) // (2 * abs(coefficient))
                if others
                else available // abs(coefficient)
            )
            count = count if coefficient > 0 else -count
            left_of[axis.clamp] = left - factor.scaled(count)
            steps.append(count)
        if any(left.terms for left in left_of.values()):
            raise self._refusal(core.read, "how far it is from another read of the array isn't known")
        return steps

    def _refusal(self, read: Instruction, reason: str) -> RefusalError:
        said = f"what a work-group reads of {self._array} isn't known: {reason}"
        return RefusalError("place-footprint-unknown", said, read.position)


_LOCAL = tuple(f"local {dimension}" for dimension in range(DIMENSIONS))
# The ids and counters of a read along an axis, each with the cells that a step of it makes.
_Varying = tuple[tuple[tuple[int, int], ...], tuple[tuple[Counter, int], ...]]
_Key = frozenset[tuple[tuple[str, ...], int]]
# Merged work-items read so many neighbouring elements at most.
_MOST_CELLS_A_STEP = 16


@dataclass(slots=True)
class _Axis:
    """An axis: its unit, the cells of a step of each id or counter along it, how far all reach, and its clamp."""

    unit: Polynomial
    scales: dict[str, int]
    reach: int
    clamp: str

    def takes(self, factor: Polynomial, symbols: Iterable[str], steps: int) -> bool:
        """Add what steps by a multiple of the unit, if it leaves no cells out; return whether it does."""
        if not _is_along(factor, self):
            return False
        scale = next(iter(factor.terms.values())) // next(iter(self.unit.terms.values()))
        # Of each read's steps the shortest divides the others, so that it is known which cells it takes.
        if not 0 < scale < self.reach or any(scale % each for each in self.scales.values()):
            return False
        self.scales |= dict.fromkeys(symbols, scale)
        self.reach += scale * steps
        return True


def _product(factor: Polynomial) -> tuple[str, ...]:
    """The symbols of a factor of one term."""
    [product] = factor.terms
    return product


def _is_along(factor: Polynomial, axis: _Axis) -> bool:
    """Return True for a whole multiple of an axis' unit."""
    [(product, coefficient)] = factor.terms.items()
    [(own, unit)] = axis.unit.terms.items()
    return product == own and coefficient % unit == 0


def _key(factor: Polynomial) -> _Key:
    return frozenset(factor.terms.items())


def _coarsest_first(entry: tuple[_Key, Polynomial]) -> tuple[int, int, str]:
    """Factors of names before numbers, large numbers before small ones."""
    [(product, coefficient)] = entry[1].terms.items()
    return -len(product), -abs(coefficient), str(product)
