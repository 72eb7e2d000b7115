"""What other layouts of arrays of records are worth, and whether searches find the best: `METHOD.md` says how."""
