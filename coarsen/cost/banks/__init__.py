"""Banks of local memory: how many accesses of a sub-group meet in one, and which padding keeps them apart."""
