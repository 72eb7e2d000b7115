"""Placements: an argument's array read through constant memory, as unchanging memory, or from local memory.

uses.py            all uses of the argument, or why that can't be said; and what the kernel may write
boxes.py           the part of an array that a work-group reads: a box, and which cells each read takes
guards.py          which work-items come to a read, by conditions of their ids
footprint.py       the part of an array that a work-group reads, in one box; or why that can't be said
tile.py            the copies that a work-group makes, and the barrier after them
box_copy.py        a copy of that part: which cell each read takes, and the address of each cell
place.py           a copy of the whole array, and the array's addresses in another address space
strips.py          loops cut into strips
chunks.py          copies of boxes before each strip
together.py        what is under a guard once more, for groups that go there together
tiled_loops.py     all loops of a kernel: which arrays are copied in which, and why others are not
"""
