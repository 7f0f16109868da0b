"""Geshkovski, Letrouit, Polyanskiy, Rigollet and others: clusters of tokens (CL-*)."""
