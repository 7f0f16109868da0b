"""The JSON schema of a certificate."""
