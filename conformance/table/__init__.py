"""The table of case files: read, run step by step on the servers, judged, recorded."""
