"""The *kubernetes* plugin: a cluster's Services, endpoints and Pods as DNS names."""
