"""One convention: what a head and a layer are, whatever the checkpoint calls them.

For: P = Q^T K / scale, U = O V, norms, positions, feed-forward, exactly as stored.
Enters: tensors.  Leaves: heads, layers and embeddings with their convention stamped on them.
Below it: nothing of the house.
"""
