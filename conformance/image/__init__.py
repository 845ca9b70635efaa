"""The image of deploy/image, built without a container engine or a registry, and run as a node would run it."""
