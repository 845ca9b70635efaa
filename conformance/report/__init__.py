"""What a run found, as people and programs read it: terminal, JUnit, JSON, one HTML page."""
