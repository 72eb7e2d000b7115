"""An estimate of a coarsened kernel's register pressure: the most 32-bit words that are live at once.

Nothing is coarsened. What is live between two instructions of the original kernel is counted as
`transform/replicate.py` would have it, at factor F:

    shared block        uniform values once, divergent values F times: the replicas are interleaved, and what an
                        instruction uses up is live beside the results of its first F - 1 replicas; also in a
                        region with a fast path or in lock-step, whose slow path is taken to need no more
    copied region       its own values once: the replicas follow each other. Beside them, of the values from
                        outside that it uses up, those of the replicas still to come; of its results, those of
                        the replicas that are through; what lives across it, as in a shared block
    ids, sizes          from the kernel's start, where `transform/ids.py` computes them
    private arrays      all the time, by their size, F times if they are divergent

What a device's compiler makes of it may be more or less: it reorders, spills, computes cheap values again, and
keeps uniform ones apart. Not counted: constants, conditions (predicates or masks), addresses of variables, and
what the computing of a linear id, or of an id along a dimension known only at run time, needs in between.

The 32-bit words of a value:

    float, int and anything narrower     1        double, long, a pointer to global memory    2
    a pointer to local or private memory 1        a condition, held in a predicate            0
    a vector                             its elements', each in registers of its own
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from coarsen.analysis.liveness import Live, Liveness
from coarsen.analysis.regions import Region
from coarsen.cost.block_profile import region_plan
from coarsen.cost.rewritten_ids import rewrite_ids
from coarsen.ir.graph.instruction import Instruction, source_element_type
from coarsen.ir.graph.operands import ValueKind
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import (
    AddressSpace,
    ArrayType,
    FloatType,
    IntegerType,
    PointerType,
    StructType,
    TargetType,
    Type,
    VectorType,
    content_bytes,
    size_of,
)
from coarsen.transform.coarsen import Analysed
from coarsen.transform.regions.plan import RegionPlan
from coarsen.variant.coarsening import Coarsening

_WORD_BITS = 32
_WORD_BYTES = 4
_SHORT_POINTERS = frozenset({AddressSpace.LOCAL, AddressSpace.PRIVATE})
_ADDRESS_WORDS = 2


def maximum_live_words(analysed: Analysed, factor: int) -> int:
    """Return the most 32-bit words that are live at any point of a kernel coarsened by replication alone.

    Args:
        analysed: the kernel, uncoarsened, with its divergence along the dimension.
        factor: how many work-items are merged into one, at least 1.
    """
    return RegisterPressure(region_plan(analysed), rescaled=factor > 1).maximum(factor)


@dataclass(frozen=True, slots=True)
class Words:
    """Words that stand once and words that stand once per replica."""

    once: int
    repeated: int

    def at(self, factor: int) -> int:
        """Return all of them at a factor."""
        return self.once + factor * self.repeated

    def __add__(self, other: Words) -> Words:
        return Words(self.once + other.once, self.repeated + other.repeated)

    def __sub__(self, other: Words) -> Words:
        return Words(self.once - other.once, self.repeated - other.repeated)


@dataclass(frozen=True, slots=True)
class RegionValues:
    """The values of a divergent region: its own, those that it uses up, its results, those that pass it."""

    own: Live
    used_up: Live
    results: Live
    passing: Live


@dataclass(frozen=True, slots=True)
class InRegion:
    """A point of a divergent region: words of its own, of what it uses up, of its results, of what passes it.

    `left` is what the replica at this point still needs of `used_up`.
    """

    own: int
    left: Words
    used_up: Words
    results: Words
    passing: Words

    def at(self, factor: int) -> int:
        """Return the most words at this point of any replica's copy of the region."""
        return self.own + self.passing.at(factor) + max(self._beside(k, factor) for k in range(factor))

    def _beside(self, replica: int, factor: int) -> int:
        to_come = factor - 1 - replica
        inputs = self.used_up.at(to_come) if to_come else self.left.once
        results = self.results.at(replica) if replica else 0
        return inputs + self.left.repeated + results


@dataclass(frozen=True)
class RegisterPressure:
    """What is live where in a kernel, by how often it stands in the coarsened kernel.

    Attributes:
        plan: of the kernel.
        rescaled: whether ids and sizes are computed at the kernel's start, as at each factor above 1.
    """

    plan: RegionPlan
    rescaled: bool

    def maximum(self, factor: int) -> int:
        """Return the most words live at once at a factor; at 1 those of the kernel itself unless `rescaled`."""
        most = max(point.at(factor) for point in self._points)
        return most + self._private.at(factor)

    @cached_property
    def _points(self) -> frozenset[Words | InRegion]:
        regions = self.plan.copied_regions
        region_of = {block: region for region in regions for block in region.blocks}
        values_in = {region.head: self._values_of(region) for region in regions}
        points: set[Words | InRegion] = set()
        for block in self.plan.divergence.control_flow.reverse_postorder:
            region = region_of.get(block)
            points.update(
                self._in_shared(block) if region is None else self._in_region(block, values_in[region.head])
            )
        return frozenset(points)

    def _in_shared(self, block: str) -> Iterator[Words]:
        """Yield the points of a shared block, from its end, and those before an instruction's last replica."""
        behind = self._words(self._liveness.at_exit[block])
        yield behind
        for step in self._liveness.steps(block):
            born, dying = self._words(step.born), self._words(step.dying)
            if born.repeated:
                yield Words(behind.once + dying.once + dying.repeated - born.repeated, behind.repeated)
            behind = behind + dying - born
            yield behind

    def _in_region(self, block: str, values: RegionValues) -> Iterator[InRegion]:
        """Yield the points of a divergent region's block, from its end."""
        live = self._liveness.at_exit[block]
        own, left = self._size_of(live & values.own), self._words(live & values.used_up)
        used_up, passing = self._words(values.used_up), self._words(values.passing)
        results = self._words(values.results - values.passing)
        yield InRegion(own, left, used_up, results, passing)
        for step in self._liveness.steps(block):
            own += self._size_of(step.dying & values.own) - self._size_of(step.born & values.own)
            left += self._words(step.dying & values.used_up) - self._words(step.born & values.used_up)
            yield InRegion(own, left, used_up, results, passing)

    def _values_of(self, region: Region) -> RegionValues:
        own = self._defined_in(region)
        behind, before = self._liveness.at_entry[region.join], self._liveness.at_exit[region.head]
        return RegionValues(own, before - behind - own, self._results(region, own), behind & before)

    def _defined_in(self, region: Region) -> Live:
        """Return the values that a region computes; ids and sizes are computed at the start."""
        blocks = self.plan.kernel.block
        names = {i.name for name in region.blocks for i in blocks[name].instructions}
        return frozenset(names - self._at_start.keys())

    def _results(self, region: Region, own: Live) -> Live:
        """Return what a copy of a region leaves behind: the join's phis, and its own values used there."""
        leaving = region.blocks | {region.head}
        phis = self.plan.kernel.block[region.join].phis
        merged = frozenset(phi.name for phi in phis if not leaving.isdisjoint(phi.incoming))
        return self._liveness.at_entry[region.join] & (own | merged)

    def _size_of(self, names: Iterable[str]) -> int:
        return sum(self._size[name] for name in names)

    def _words(self, names: Iterable[str]) -> Words:
        once = repeated = 0
        for name in names:
            if name in self._divergent:
                repeated += self._size[name]
            else:
                once += self._size[name]
        return Words(once, repeated)

    @cached_property
    def _liveness(self) -> Liveness:
        return Liveness(self.plan.kernel, self.plan.divergence.control_flow, self._at_start)

    @cached_property
    def _at_start(self) -> Mapping[str, str]:
        """The values that the transform computes at the start, by the name of the first replica."""
        if not self.rescaled:
            return {}
        # Which ones they are is the same at any factor above 1.
        return rewrite_ids(self.plan.kernel, Coarsening(2, self.plan.divergence.dimension)).standing_for_first

    @cached_property
    def _divergent(self) -> frozenset[str]:
        divergent = self.plan.divergence.values
        return divergent | {new for name, new in self._at_start.items() if name in divergent}

    @cached_property
    def _size(self) -> dict[str, int]:
        """The words of each argument and each instruction's result; an array's address is no value of its own."""
        kernel = self.plan.kernel
        size = {argument.name: value_words(argument.type) for argument in kernel.arguments}
        for name, instruction in kernel.definition.items():
            size[name] = 0 if instruction.opcode == "alloca" else value_words(instruction.type)
        return size | {new: size[name] for name, new in self._at_start.items()}

    @cached_property
    def _private(self) -> Words:
        """The arrays and variables that stay in private memory."""
        divergent = self.plan.divergence.is_divergent
        once = repeated = 0
        for instruction in (i for i in self.plan.kernel.instructions() if i.opcode == "alloca"):
            words = array_words(instruction)
            once, repeated = (once, repeated + words) if divergent(instruction) else (once + words, repeated)
        return Words(once, repeated)


def value_words(type_: Type) -> int:
    """Return the registers of a value in SSA form; 0 for one that is in none."""
    if isinstance(type_, IntegerType):
        return 0 if type_.width == 1 else -(-type_.width // _WORD_BITS)
    if isinstance(type_, FloatType):
        return -(-content_bytes(type_) // _WORD_BYTES)
    if isinstance(type_, PointerType):
        return 1 if type_.address_space in _SHORT_POINTERS else _ADDRESS_WORDS
    if isinstance(type_, VectorType | ArrayType):
        return type_.count * value_words(type_.element)
    if isinstance(type_, StructType):
        return sum(map(value_words, type_.elements))
    return _ADDRESS_WORDS if isinstance(type_, TargetType) else 0


def array_words(alloca: Instruction) -> int:
    """Return the words of a variable in private memory; one whose count is only known at run time counts once."""
    count = alloca.operands[0] if alloca.operands else None
    times = int(count.text) if count is not None and count.kind is ValueKind.CONSTANT else 1
    return -(-times * size_of(source_element_type(alloca)) // _WORD_BYTES)


def static_local_bytes(kernel: Kernel) -> int:
    """Return the bytes of local memory that a kernel declares for each work-group; arguments are left out."""
    local = (each for each in kernel.globals.values() if each.address_space == AddressSpace.LOCAL)
    return sum(size_of(variable.value_type) for variable in local)
