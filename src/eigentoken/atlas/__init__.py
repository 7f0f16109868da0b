"""The atlas: a static site of all statements, with the dependency graph and a sphere to play with."""

from eigentoken.atlas.build import build

__all__ = ["build"]
