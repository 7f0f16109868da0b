"""eigentoken: state a result about tokens once, derive it, attack it, check it on real weights."""
