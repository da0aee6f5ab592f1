"""A person's sentence as a Lucene query."""

from __future__ import annotations

import re

import pytest

from mcp_neo4j_vector_graphrag.retrieval.lucene import LuceneQuery, depth, from_sentence


@pytest.mark.parametrize(
    ("sentence", "query"),
    [
        ("doc", "doc"),
        ("what is doc?", "what is doc"),
        ("  (doc)  \n", "doc"),
        ("the the THE", "the THE"),
        ("who directed: x", "who directed x"),
        ("doc -s1 +s2 !s3", "doc s1 s2 s3"),
        ("this AND that OR NOT those", 'this "AND" that "OR" "NOT" those'),
        ("and Or nOT", "and Or nOT"),
        ("well-known AC/DC a:b a*b c?d", r"well\-known AC\/DC a\:b a\*b c\?d"),
        ('say "yes" [a TO z] {b} x^2 y~1', r"say yes a TO z b x\^2 y\~1"),
        (r"C:\dir\u0041 C++ &&both|| a&&b", r"C\:\\dir\\u0041 C both a\&\&b"),
        ("_exists_:title", r"exists_\:title"),
        ("a<b>=c", r"a\<b\>\=c"),
        ("don't stop, it\u2019s O\u2019Neill's", "don't stop it\u2019s O\u2019Neill's"),
        ("千と千尋の神隠し\uff1f", "千と千尋の神隠し"),
        ("🐉!", "🐉"),
        ("naïve\u00a0Zoë\u3000x", "naïve Zoë x"),
    ],
)
def test_the_words_stay_and_nothing_is_syntax(sentence: str, query: str):
    assert from_sentence(sentence) == LuceneQuery(query)


@pytest.mark.parametrize("sentence", ["", " \n\t", "?", '... "" (!) ^^ \\ || && $ +=', "\x00\x1f"])
def test_a_sentence_without_a_word_is_no_query(sentence: str):
    assert from_sentence(sentence) is None


@pytest.mark.parametrize(("properties", "kept"), [(1, 1024), (2, 512), (3, 341), (2000, 1)])
def test_there_are_no_more_words_than_lucene_takes(properties: int, kept: int):
    sentence = " ".join(f"w{chr(97 + i // 100)}{chr(97 + i % 100 // 10)}{chr(97 + i % 10)}" for i in range(1500))
    query = from_sentence(sentence, properties)
    assert query == LuceneQuery(" ".join(sentence.split()[:kept]), is_cut=True)


def test_just_as_many_words_as_lucene_takes_are_not_cut():
    words = [chr(0x4E00 + i) for i in range(1024)]
    assert from_sentence(" ".join(words)) == LuceneQuery(" ".join(words))


@pytest.mark.parametrize(
    ("word", "terms"),
    [
        ("word", 1),
        ("Zoë", 1),
        ("e\u0301tude", 1),
        ("2001", 1),
        ("b52", 2),
        ("a-b", 3),
        ("千と千尋", 4),
        ("🐉🐉", 2),
        ("x" * 255, 1),
        ("x" * 256, 2),
        ("x" * 511, 3),
    ],
)
def test_a_word_that_can_become_several_terms_counts_as_often(word: str, terms: int):
    """As many different words as fit beside it are kept, and one more is not."""
    room = 1024 - terms
    others = [chr(0x5000 + i) for i in range(room + 1)]
    assert from_sentence(" ".join([word, *others[:-1]])) == LuceneQuery(
        " ".join([re.sub("-", r"\\-", word), *others[:-1]])
    )
    cut = from_sentence(" ".join([word, *others]))
    assert cut is not None
    assert cut.is_cut
    assert cut.text.split()[1:] == others[:-1]


def test_a_text_without_blanks_is_cut_within():
    query = from_sentence("千" * 100_000, properties=2)
    assert query == LuceneQuery("千" * 512, is_cut=True)


def test_a_very_long_word_is_cut_to_what_lucene_takes():
    query = from_sentence("x" * 1_000_000)
    assert query is not None
    assert query.is_cut
    assert query.text == "x" * 1024


@pytest.mark.parametrize(("query", "expected"), [("a", 0), ("(a)", 1), ("(a (b)) (c)", 2), ("(((", 3), (")))(", 0)])
def test_brackets_are_counted_as_deep_as_they_go(query: str, expected: int):
    assert depth(query) == expected
