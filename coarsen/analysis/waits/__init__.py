"""Loops in which a work-item waits for others through memory, and where merging it with them would never end.

memory     what instructions see of others, and change for them
states     the ways round one loop, and what a way that was taken says of values
progress   whether a loop ends by itself
locks      locks that nobody holds for longer than an iteration
refusal    whether those for whom a loop waits may be merged with whoever waits
"""
