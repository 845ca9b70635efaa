"""The *cache* plugin."""
