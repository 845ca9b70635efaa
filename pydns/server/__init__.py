"""Sockets, dispatch and the life of the process."""
