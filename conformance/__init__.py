"""Conformance suite: asks a reference server (CoreDNS) and a server under test the same questions and compares.

Duty: judge any DNS server by what it sends. Nothing in this package imports pydns; a subject is a command line
or an address, and only its replies, its log and its HTTP pages are looked at.
"""
