"""From a path, a hub name, a sample or an object in memory to a model, and back to an edited checkpoint.

For: ``load`` and ``save_edited``.
Enters: files.  Leaves: a :class:`~eigentoken.models.loading.model.Model`, with what was left out of the theory.
Below it: convention, families, formats.
"""
