"""What real clients do with a cluster DNS: Pod sandboxes, the programs run in them, and what each must ask."""
