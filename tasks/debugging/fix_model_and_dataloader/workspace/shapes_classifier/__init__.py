"""A classifier of small pictures of shapes."""
