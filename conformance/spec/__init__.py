"""The Kubernetes DNS specification as demands on any server, derived from the objects of a cluster."""
