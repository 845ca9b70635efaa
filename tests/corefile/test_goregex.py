"""Regular expressions in Go's syntax, as Python's engine runs them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pydns.corefile.goregex import translate

# What Go's regexp finds first in the text; None for no match.
MATCHES = [
    ("a.c", "xabc", "abc"),
    ("a$", "a\n", None),
    ("(?m)a$", "a\nb", "a"),
    ("(?m:a$)b$", "ab", None),
    (r"a\z", "a\n", None),
    (r"\Aa", "ba", None),
    ("(?i)ABC", "abc", "abc"),
    ("a(?i)b", "aB", "aB"),
    ("a(?i)b", "AB", None),
    ("a(?i)b|c", "aB", "aB"),
    ("a(?i)b|c", "C", "C"),
    ("(a(?i)b)c", "aBC", None),
    ("(?i)a(?-i)b", "AB", None),
    ("(?i-s:A.)", "a\n", None),
    ("(?s)a.b", "a\nb", "a\nb"),
    ("(?P<n>a)b", "ab", "ab"),
    ("(?<n>a)b", "ab", "ab"),
    ("(?:a|b)+", "abab", "abab"),
    ("a+?", "aa", "a"),
    ("a{2}", "aaa", "aa"),
    ("a{2,}", "aaa", "aaa"),
    ("a{1,2}?", "aaa", "a"),
    ("a{,2}", "a{,2}", "a{,2}"),
    ("a{x}", "a{x}", "a{x}"),
    ("{", "{", "{"),
    ("x}", "x}", "x}"),
    ("a#b c", "a#b c", "a#b c"),
    (r"\Qa.b\E+", "a.bb", "a.bb"),
    (r"\Qa+", "a+", "a+"),
    (r"\x41\x{42}\103", "ABC", "ABC"),
    (r"\x{1F600}", "\U0001f600", "\U0001f600"),
    (r"\t\n\v\f\r\a", "\t\n\v\f\r\a", "\t\n\v\f\r\a"),
    (r"\.\-\_\/", ".-_/", ".-_/"),
    (r"\d+\D\w\W\s\S", "12xa- b", "12xa- b"),
    (r"\bfoo\b", "a foo", "foo"),
    ("[[:alpha:]]+", "1ab2", "ab"),
    ("[[:^digit:]x]+", "12ab", "ab"),
    ("[^[:space:]]+", " a ", "a"),
    ("[]a]+", "]a", "]a"),
    ("[^]a]+", "b]", "b"),
    ("[[a]+", "[a", "[a"),
    ("[a&&b]+", "&b", "&b"),
    ("[a||b~~d]+", "|~", "|~"),
    ("[+--]+", "+,-.", "+,-"),
    ("[--0]+", "-./01", "-./0"),
    ("[a-]+", "a-", "a-"),
    (r"[\d\-.]+", "1-2.3", "1-2.3"),
    (r"[\d-z]+", "1-zy", "1-z"),
    (r"[[:digit:]-z]+", "1-zy", "1-z"),
    (r"[\]]", "]", "]"),
    ("(?i)", "x", ""),
    ("(?)a", "a", "a"),
    ("()|a", "a", ""),
    ("^*a$?", "ba", "a"),
    (r"\b{2}a", "b a", "a"),
    ("^coredns\\.(.*)\\.svc$", "coredns.a.svc", "coredns.a.svc"),
]


@pytest.mark.parametrize(("pattern", "text", "found"), MATCHES)
def test_match(pattern: str, text: str, found: str | None) -> None:
    match = re.compile(translate(pattern), re.ASCII).search(text)
    assert (match and match[0]) == found


@pytest.mark.parametrize(
    "pattern",
    [
        *("(", ")", "a)", "[", "[a", "[]", "*", "+a", "?", "|*", "a**", "a*+", "a++", "a???", "a{2}{3}", "a{1001}"),
        *("a{2,1}", "(?=a)", "(?!a)", "(?<=a)", "(?<!a)", "(?>a)", "(?P=n)", "(?#c)", "(?x)a", "(?U)a", "(?", "(?i"),
        *("(?i-)a", "(?-)a", r"(a)\1", r"\Z", r"\pL", r"\p{Greek}", r"\C", r"\G", r"\h", r"\x{110000}", r"\x4"),
        *("\\", r"[\b]", "[[:nosuch:]]", "[b-a]", "(?P<n>a)(?P<n>b)", "(?P<1>a)", r"\8", r"\N{DIGIT ONE}", r"\u0041"),
    ],
)
def test_refused(pattern: str) -> None:
    with pytest.raises((ValueError, re.error)):
        re.compile(translate(pattern), re.ASCII)


@given(st.text(alphabet="ab(){}[]*+?|^$\\.-:<>P=!i&~#1,xQEz", max_size=20))
def test_only_regular_errors(pattern: str) -> None:
    try:
        re.compile(translate(pattern), re.ASCII)
    except (ValueError, re.error, OverflowError):
        pass
