"""Thread coarsening: the configuration, the rewriting of ids, the replication."""
