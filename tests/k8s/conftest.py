"""A certificate for all tests of a module."""

import pytest

from tests.k8s.peer import Pair, make_pair


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return make_pair(tmp_path_factory.mktemp("tls"))
