"""The *forward* plugin."""
