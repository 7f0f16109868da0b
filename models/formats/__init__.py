"""One file a format: safetensors, shards, npz, pickles read without executing them, GGUF, llama2.c.

For: tensors by name, exactly as stored.
Enters: bytes.  Leaves: a store of tensors; nothing is executed, nothing is converted silently.
Below it: convention.
"""
