"""Label selectors, as CoreDNS reads them."""

import pytest

from pydns.k8s.selectors import EVERYTHING, Selector

LABELS = {"app": "web", "env": "prod", "example.com/tier": "db"}


@pytest.mark.parametrize(
    ("text", "sent", "selects"),
    [
        ("", "", True),
        ("app=web", "app=web", True),
        ("app==web", "app=web", True),
        ("app=api", "app=api", False),
        ("missing=", "missing=", False),
        ("env in (prod, qa)", "env in (prod,qa)", True),
        ("env in (qa,dev)", "env in (dev,qa)", False),
        ("app in (web)", "app in (web)", True),
        ("env notin (dev)", "env notin (dev)", True),
        ("missing notin (dev)", "missing notin (dev)", True),
        ("env notin (prod)", "env notin (prod)", False),
        ("app", "app", True),
        ("missing", "missing", False),
        ("!missing", "!missing", True),
        ("!app", "!app", False),
        ("example.com/tier=db", "example.com/tier=db", True),
        ("env in (b,a), !x , y", "env in (a,b),!x,y", False),
        ("b=c,a=d", "a=d,b=c", False),
        ("a=b,a=c", "a=c", False),
        ("a in (b,,c)", "a in (,b,c)", False),
        ("a in ()", "a in ()", False),
        ("in in (in)", "in in (in)", False),
        ("z in (q),a=b,c", "a=b,c,z in (q)", False),
    ],
)
def test_selector(text: str, sent: str, selects: bool) -> None:
    """The second column is the labelSelector that CoreDNS 1.14.7 was seen to send for the first."""
    selector = Selector.parse(text)
    assert str(selector) == sent
    assert selector.matches(LABELS) is selects


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("app==web, tier != db", '"!=" is not a valid label selector operator'),
        ("a > 1", '"gt" isn\'t supported in label selectors'),
        ("a < 1", '"lt" isn\'t supported in label selectors'),
    ],
)
def test_operators_that_coredns_refuses(text: str, error: str) -> None:
    with pytest.raises(ValueError) as caught:
        Selector.parse(text)
    assert str(caught.value) == error


NAME_RULE = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
PREFIX_RULE = (
    "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and "
    "must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
KEY = "unable to parse requirement: <nil>: Invalid value: "
LONG = 64 * "x"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("a=b,,c=d", "found ',', expected: identifier after ','"),
        ("a=b,", "found '', expected: identifier after ','"),
        (",", "found ',', expected: !, identifier, or 'end of string'"),
        ("=b", "found '=', expected: !, identifier, or 'end of string'"),
        ("a=b c", "found 'c', expected: ',' or 'end of string'"),
        ("a=b=c", "found '=', expected: ',' or 'end of string'"),
        ("!a=b", "found '=', expected: ',' or 'end of string'"),
        ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ("a in b", "unable to parse requirement: found 'b' expected: '('"),
        ("a in (b", "unable to parse requirement: found '', expected: ',' or ')'"),
        ("-a=b", f'{KEY}"-a": name part {NAME_RULE}'),
        ("A.com/x", f'{KEY}"A.com/x": {PREFIX_RULE}'),
        (
            "a/b/c=d",
            f'{KEY}"a/b/c": a valid label key {NAME_RULE} '
            "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
        ),
        ("a=-b", f'unable to parse requirement: values[0][a]: Invalid value: "-b": {VALUE_RULE}'),
        ("a in (b,é)", f'unable to parse requirement: values[1][a]: Invalid value: "é": {VALUE_RULE}'),
        (LONG, f'{KEY}"{LONG}": name part must be no more than 63 bytes'),
        (
            f"a={LONG}",
            f'unable to parse requirement: values[0][a]: Invalid value: "{LONG}": must be no more than 63 bytes',
        ),
    ],
)
def test_errors_are_worded_as_coredns_words_them(text: str, error: str) -> None:
    with pytest.raises(ValueError) as caught:
        Selector.parse(text)
    assert str(caught.value) == f'couldn\'t parse the selector string "{text}": {error}'


def test_everything_is_the_empty_selector() -> None:
    assert Selector.parse("  ") == EVERYTHING
    assert EVERYTHING.matches({})
