"""Studies for developers of coarsen, run by hand; not part of the installed package."""
