"""The Corefile: its grammar, its server blocks, and options declared once."""
