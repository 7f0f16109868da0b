"""A derivation as a document: LaTeX, Markdown, HTML, the book.

For: ``derive``; what is printed is what was checked.
Enters: verified statements.  Leaves: text.
Below it: theory.printing, proofs.verify.
"""
