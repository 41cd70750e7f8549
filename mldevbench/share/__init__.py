"""Sharing studies: one file out, one file in, several into one, and disk given back."""
