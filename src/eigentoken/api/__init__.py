"""The functions of ``import eigentoken as et`` that put several rooms together; the others are the rooms' own.

For: a notebook or a script.
Enters: arrays, tensors, words, ids, files.  Leaves: verdicts, reports, derivations, each of which shows itself.
"""
