"""The forecast that nothing changes."""

import math

import pytest

from normalhedge.latent import (
    Persistence,
    follow,
)


def test_persistence() -> None:
    last = Persistence(3)
    assert last.predict().tolist() == [1 / 3] * 3
    last.observe(2)
    last.observe(None)
    assert last.predict().tolist() == [0.0, 0.0, 1.0]


def test_persistence_of_numbers() -> None:
    last = Persistence(width=0.5)
    assert last.score(1.0) == 0.0
    last.observe(1.0)
    last.observe(None)
    assert last.predict().tolist() == [1.0]
    assert (last.score(1.25), last.score(1.26)) == (1.0, 0.0)
    with pytest.raises(TypeError, match="either symbols or width"):
        Persistence()
    for one, wrong, word in (
        (Persistence(2), 2.0, r"a symbol in 0\.\.1, got 2"),
        (Persistence(2), 0.5, "a symbol"),
        (last, math.inf, "finite"),
    ):
        with pytest.raises(ValueError, match=word):
            one.observe(wrong)
    went = follow(Persistence(width=1.0), [1.0, 1.4, None, 3.0])
    assert went.losses[[0, 1, 3]].tolist() == [1.0, 0.0, 1.0]
    assert went.predictions[1:, 0].tolist() == [1.0, 1.4, 1.4]
