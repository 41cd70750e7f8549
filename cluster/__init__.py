"""The Ray half: the only package that imports Ray."""
