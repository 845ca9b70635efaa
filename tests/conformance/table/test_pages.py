"""Pages over HTTP: which lines of /metrics count as equal."""

import pytest

from conformance.table.pages import line_matches


@pytest.mark.parametrize(
    ("wanted", "line", "same"),
    [
        ("OK", "OK", True),
        ("OK", "OK!", False),
        ('a{b="1",c="2"} 3', 'a{c="2",b="1"} 3', True),
        ('a{b="1",le="0.5"} 3', 'a{le="0.5",b="1"} 3.0', True),
        ('a{le="100"} 3', 'a{le="100.0"} 3', True),
        ('a{le="100"} 3', 'a{le="100.5"} 3', False),
        ('a{b="1"} 3', 'a{b="2"} 3', False),
        ('a{b="1"} 3', 'a{b="1"} 30', False),
        ('a{server="dns://:..."} 3', 'a{server="dns://:1053"} 3.0', True),
        ("a_total 0", "a_total 0.0", True),
        ("a_total 0", "a_total 0.5", False),
        ('a{b="1"} ...', 'a{b="1"} 0.00125', True),
        ("# TYPE a counter", "# TYPE a counter", True),
        ("# TYPE a counter", "# TYPE a gauge", False),
    ],
)
def test_a_line_is_compared_by_its_meaning(wanted: str, line: str, same: bool) -> None:
    assert line_matches(wanted, line) is same
