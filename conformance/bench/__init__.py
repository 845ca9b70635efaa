"""Speed and memory of a subject beside real CoreDNS, in one run: `python -m conformance.bench --help`."""
