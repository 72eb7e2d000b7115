"""Contents of buffers whose shape is set by whole numbers and whose sizes aren't: what the same launch may meet.

lengths        of rows and segments: even, uniform, zipf, one heavy
keys           uniform, zipf, one heavy, sorted, partly sorted, runs
indices        into a table, near to each other or far
sparse         a matrix in compressed rows: spread, banded or in blocks, with lengths as above
measured       what a caller can say of such contents, as numbers
"""
