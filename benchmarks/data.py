"""Vectors whose neighbours are known exactly: made by a generator with a fixed seed, answered by numpy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

WORDS = 20_000
TOPICS = 200
WORDS_A_TOPIC = 400
DECAY = 0.55
"""Exponent of the power law by which the variance of the word vectors falls."""


@dataclass(frozen=True)
class Data:
    """Unit vectors to be indexed, (n, d), and held-out questions, (q, d)."""

    name: str
    vectors: Matrix
    questions: Matrix

    def nearest(self, question: Matrix, k: int, among: NDArray[np.int64] | None = None) -> set[int]:
        """Return the exact k nearest to a question, by cosine, of all vectors or of some."""
        places = np.arange(len(self.vectors)) if among is None else among
        scores = self.vectors[places] @ question
        return set(places[np.argsort(-scores)[:k]].tolist())


def text_like(size: int, questions: int, dimensions: int = 384) -> Data:
    """Return what averaging word vectors gives: words by Zipf's law, half of each text's from one topic.

    As in embeddings of text, few directions hold most of the variance. The decay is set so that a plain query finds as
    many of the nearest as it was seen to find on embeddings of 50,000 real docstrings: about 0.7 of ten.
    """
    rng = np.random.default_rng(20_261)
    spectrum = (1 + np.arange(dimensions, dtype=np.float32)) ** -DECAY
    words = rng.normal(size=(WORDS, dimensions)).astype(np.float32) * spectrum
    words @= np.linalg.qr(rng.normal(size=(dimensions, dimensions)))[0].astype(np.float32)
    frequency = 1 / (1 + np.arange(WORDS))
    frequency /= frequency.sum()
    topics = rng.integers(WORDS, size=(TOPICS, WORDS_A_TOPIC))
    made = np.empty((size + questions, dimensions), np.float32)
    for place in range(len(made)):
        length = int(rng.integers(8, 40))
        common = rng.choice(WORDS, size=length, p=frequency)
        special = topics[rng.integers(TOPICS)][rng.integers(WORDS_A_TOPIC, size=length)]
        made[place] = words[common].sum(axis=0) + words[special].sum(axis=0)
    return _split("text-like", made, size)


def clustered(size: int, questions: int, dimensions: int = 384) -> Data:
    """Return 500 Gaussian clusters."""
    rng = np.random.default_rng(20_262)
    centres = rng.normal(size=(500, dimensions)).astype(np.float32)
    member = rng.integers(len(centres), size=size + questions)
    made = centres[member] + 0.5 * rng.normal(size=(size + questions, dimensions)).astype(np.float32)
    return _split("clustered", made, size)


def _split(name: str, made: Matrix, size: int) -> Data:
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return Data(name, made[:size], made[size:])
