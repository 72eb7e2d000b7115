"""Placements: an argument's array read through constant memory, as unchanging memory, or from local memory.

uses.py            all uses of the argument, or why that can't be said; and what the kernel may write
footprint.py       the part of an array that a work-group reads, in one box; or why that can't be said
tile.py            the copies that a work-group makes at the kernel's start: of the whole, or of that part
place.py           the whole of it, and the array's addresses in another address space
"""
