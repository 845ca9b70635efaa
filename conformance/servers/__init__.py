"""Processes of the suite: servers under test, their ports and folders, and that nothing outlives a run."""
