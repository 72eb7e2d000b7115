"""The command line: `coarsen COMMAND KERNEL.cl [options]`, one module per command."""
