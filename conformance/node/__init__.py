"""A real Kubernetes node in namespaces of its own, and a DNS server's life on it: swaps, rollouts, edits, kills."""
