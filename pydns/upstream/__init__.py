"""Queries to other DNS servers."""
