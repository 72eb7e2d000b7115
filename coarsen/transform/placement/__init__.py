"""Placements: an argument's array read through constant memory, as unchanging memory, or from local memory.

uses.py            all uses of the argument: addresses and reads; or why that can't be said
changes.py         the arguments through which the kernel may write: what must be apart from the array
spaces.py          its addresses in another address space
local_copy.py      the copy that a work-group makes at the kernel's start
boxes/             the part of an array that a work-group reads, and its copy
place.py           the whole of it
"""
