"""Kubernetes objects and where they come from: the API or manifest files.  Knows nothing of DNS."""
