"""Go modules that hold nothing but the tools to build, and the script that builds them."""
