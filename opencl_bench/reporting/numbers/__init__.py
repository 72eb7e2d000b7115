"""Numbers of the figures, apart from their drawing."""
