"""The version of this package, which is that of the binary it drives."""

__version__ = "0.2.0-dev"
