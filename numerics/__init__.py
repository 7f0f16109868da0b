"""Numbers with error bounds: certified linear algebra, flows and maps, instances, search, and the re-check.

For: what is decided about given numbers, never by a float alone.
Enters: arrays, exact instances, words.  Leaves: verdicts with certificates, trajectories, counterexamples.
Below: theory.  Inside: certified, dynamics < instances, author_code < readings < lab; layers and experiments beside them;
recheck imports none of what it judges.
"""
