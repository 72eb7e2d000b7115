"""Layouts: the accesses to an argument's array rewritten for another layout or order of its elements.

elements.py        all uses of the argument: which element, which bytes of it; or why that can't be said
bounds.py          between which numbers an index is
coordinate_bounds.py  what values are less than
index_forms.py     what integers are, for proofs about indices; arithmetic on operands
demands.py         coordinates that are proved, and what a proof demands of a launch, tested at the kernel's start
digits.py          an element's coordinates, taken out of its index and proved
positions.py       where an element stands in an array of another order, and the address of its bytes there
whole_records.py   copies and accesses that reach over several fields, split into these
lay_out.py         the whole of it

And for the rows of local arrays:

rows.py            the array as declared, and as it lies
pad.py             all accesses rewritten
"""
