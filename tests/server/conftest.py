"""Every test of the server's sockets runs with the packet cache and without it."""

import pytest


@pytest.fixture(params=[True, False], ids=["cache", "no cache"])
def remember(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)
