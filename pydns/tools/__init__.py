"""Commands beside serving."""
