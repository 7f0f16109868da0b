"""Pham et al.: unnormalised token dynamics and positional encodings (PH-*)."""
