"""What each resolver asks, and what its program reports, as pure functions: one module for each algorithm.

Written from the resolvers' documented behaviour (reference: resolvers, sections 1 to 7 and 9) and their sources. The
host name of the machine has no dot: no search line, no search.
"""

from conformance.clients.walks.expectation import Expectation, Question, Wave
from conformance.clients.walks.resolvers import MODELS, expect

__all__ = ["MODELS", "Expectation", "Question", "Wave", "expect"]
