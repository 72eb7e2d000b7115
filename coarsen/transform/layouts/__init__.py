"""Layouts: the accesses to an argument's array rewritten for another layout or order of its elements.

elements.py        all uses of the argument: which element, which bytes of it; or why that can't be said
indices.py         what indices are, for proofs about them; arithmetic on operands
coordinates.py     what coordinates are less than, and what a proof demands of a launch, tested at its start
digits.py          an element's coordinates, taken out of its index and proved
positions.py       where an element stands in an array of another order, and the address of its bytes there
whole_records.py   copies and accesses that reach over several fields, split into these
lay_out.py         the whole of it

pad.py             the rows of local arrays: all accesses rewritten
"""
