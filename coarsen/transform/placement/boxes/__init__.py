"""Boxes: the part of an array that a work-group reads, copied to local memory.

footprint.py     the cells that each read takes, in one box for all; or why that can't be said
executed.py      the reads that all work-items come to
tile.py          the copy of the cells, and reads from it
"""
