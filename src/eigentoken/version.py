"""The one version number: the metadata of the package and every document take it from here."""

__version__ = "0.2.0"
