"""Layouts: the accesses to an argument's array rewritten for another layout or order of its elements.

elements.py        all uses of the argument: which element, which bytes of it; or why that can't be said
bounds.py          between which numbers an index is
element_types.py   the record that an element is
operand_arithmetic.py  arithmetic on operands
demands.py         coordinates that are proved, and what a proof demands of a launch
index_forms.py     what integers are, for such proofs
coordinate_bounds.py  what values are less than
digits.py          an element's coordinates, taken out of its index and proved
extent_tests.py    what such a proof demands of extents, tested once at the kernel's start
carries.py         coordinates that may be beside their row, built
positions.py       where an element stands in an array of another order
addresses.py       the address of those bytes in the new layout
extents.py         how many elements there are: numbers, or arguments that the kernel gets
whole_records.py   copies and accesses that reach over several fields, split into these
lay_out.py         the whole of it

And for the rows of local arrays:

constant_addresses.py  addresses in constants, made instructions
rows.py            the array as declared, and as it lies
pad.py             all accesses rewritten
"""
