"""Which affine functions of statements' instances keep their distance, by the affine form of Farkas' lemma.

A function of a statement has a coefficient for each iterator, each parameter and the constant. That its value for
one instance is at least that for another and a number more, for all pairs of a relation, is a condition on
coefficients: those that isl's `coefficients` gives, which hold for the rational points of the relation too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

import islpy as isl

from coarsen.loops.nest import Nest, Statement

_ENDS = ("p", "n")


class Unknowns:
    """The coefficients of one function for each of several statements, each from -1 to 1.

    Args:
        nest: that they belong to.
        statements: those that get a function.
        fixed: by statement, iterators on which its function may not depend.
    """

    def __init__(self, nest: Nest, statements: Sequence[Statement], fixed: Mapping[str, Sequence[str]]) -> None:
        self._parameters = nest.parameters
        self._names = {
            each.name: [f"{each.name}_{n}" for n in range(len(each.iterators) + len(nest.parameters) + 1)]
            for each in statements
        }
        # Each is the difference of two that are 0 or 1.
        self._columns = {
            name: [f"({each}{_ENDS[0]} - {each}{_ENDS[1]})" for each in own] for name, own in self._names.items()
        }
        self._zero = [
            self._columns[each.name][place]
            for each in statements
            for place, name in enumerate(each.iterators)
            if name in fixed[each.name]
        ]

    def distance(self, relation: isl.Map, least: int, sign: int = 1) -> list[str]:
        """Return conditions for `sign * (f(y) - f(x) - least) >= 0` for all pairs x -> y of a relation.

        Args:
            relation: between instances of two of the statements.
            least: a number.
            sign: 1, or -1 for a distance of at most `least`.

        Returns:
            The conditions in isl's notation, over the names of coefficients.
        """
        source = self._columns[relation.get_tuple_name(isl.dim_type.in_)]
        sink = self._columns[relation.get_tuple_name(isl.dim_type.out)]
        inner = len(source) - len(self._parameters) - 1, len(sink) - len(self._parameters) - 1
        same = isl.Space.create_from_names(relation.get_ctx(), set=[], params=list(self._parameters))
        found: list[str] = []
        for part in relation.align_params(same).remove_divs().get_basic_maps():
            # In the order of isl's coefficients: the constant, parameters, iterators of both ends.
            differences = [
                f"({sink[-1]} - {source[-1]} - {least})",
                *(f"({sink[inner[1] + p]} - {source[inner[0] + p]})" for p in range(len(self._parameters))),
                *(f"(-{name})" for name in source[: inner[0]]),
                *(f"({name})" for name in sink[: inner[1]]),
            ]
            for constraint in part.wrap().coefficients().get_constraints():
                numbers = [
                    constraint.get_coefficient_val(isl.dim_type.set, place).to_python() * sign
                    for place in range(len(differences))
                ]
                terms = [f"{number}*{each}" for number, each in zip(numbers, differences, strict=True) if number]
                found.append(f"{' + '.join(terms) or '0'} {'=' if constraint.is_equality() else '>='} 0")
        return found

    def simplest(self, conditions: Sequence[str]) -> dict[str, tuple[int, ...]] | None:
        """Return the functions that keep to conditions, those with the fewest coefficients other than 0.

        Of these it takes the ones with the fewest negative coefficients, then those of inner iterators.

        Returns:
            By statement the coefficients: of its iterators, of parameters, the constant; None if there are none.
        """
        names = [*chain.from_iterable(self._names.values())]
        above, below = ([f"{name}{end}" for name in names] for end in _ENDS)
        wanted = [
            f"size = {' + '.join((*above, *below))} and negative = {' + '.join(below)}",
            *(f"0 <= {name} <= 1" for name in (*above, *below)),
            *(f"{each} = 0" for each in self._zero),
            *conditions,
        ]
        found = isl.Set(
            f"{{ [{', '.join(('size', 'negative', *below, *above))}] : {' and '.join(wanted)} }}"
        ).lexmin()
        if found.is_empty():
            return None
        point = found.sample_point()
        at = (point.get_coordinate_val(isl.dim_type.set, place).to_python() for place in range(2 + 2 * len(names)))
        _, _, *numbers = map(int, at)
        values = {name: numbers[len(names) + place] - numbers[place] for place, name in enumerate(names)}
        return {each: tuple(values[name] for name in own) for each, own in self._names.items()}
