"""What is decided before a line is written: which values are folded, share a variable, have which type or name."""
