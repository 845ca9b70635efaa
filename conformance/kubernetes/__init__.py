"""Kubernetes APIs with the objects of a case: a real control plane on loopback, or a fake one."""
