"""What each resolver asks, and what its program reports, as pure functions: one module for each algorithm.

Written from the resolvers' documented behaviour (reference: resolvers, sections 1 to 7 and 9); what was seen on the
wire and is not documented there is marked so. The host name of the machine has no dot: no search line, no search.
"""
