"""pydns: a CoreDNS-compatible Kubernetes cluster DNS server."""

__version__ = "0.1.0"
