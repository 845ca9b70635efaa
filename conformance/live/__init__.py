"""Servers and clusters that run already: their objects, the way to their DNS, and the cleaning up."""
