"""The plugins, one module each; see `pydns.registry` for their order."""
