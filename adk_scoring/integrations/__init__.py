"""One module for each harness that this library fits into; each needs that harness, which an extra installs."""
