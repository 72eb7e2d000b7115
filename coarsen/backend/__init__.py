"""Writers: from a kernel in normal form to the forms that a user or a device takes."""
