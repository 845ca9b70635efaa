"""Proofs of `deploy/` on a real kube-apiserver: manifests, rights, alerts. `make deploy-check` runs them."""
