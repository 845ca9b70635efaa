"""Replicas behind the address of the cluster's DNS are exchanged and killed while Pods keep asking."""
