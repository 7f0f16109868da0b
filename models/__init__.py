"""eigentoken.models: checkpoints to heads and layers."""
