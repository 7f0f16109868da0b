"""New theorems and repairs made here: regions of attraction, conserved cross-ratios, rings, the residual map."""
