"""Values that are computed more than once are computed once; `shared_values.py` says which."""
