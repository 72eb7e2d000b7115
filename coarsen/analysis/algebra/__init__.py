"""What the algebras of indices share: those that predict, that prove addresses, that compute bit by bit."""
