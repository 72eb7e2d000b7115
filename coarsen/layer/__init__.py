"""The recorder of any OpenCL program: a layer under the OpenCL loader, in C, and what is made of its log.

program.py: compile the layer, run a program with it ─▶ log.py: read what it wrote ─▶ recording.py: files, a table
"""
