"""Tests of the conformance suite itself: its parsers, codec, comparison and fakes."""
