"""The JSON documents as types: one file a document, from which its schema is generated.

For: whoever writes, reads or type-checks what the commands print.
Enters: nothing.  Leaves: TypedDicts, and JSON schemas (:func:`~eigentoken.documents.schema_language.schema_of`).
Below it: nothing of the house.
"""
