"""A stream of JSON lines, each of which is answered."""

import json

import numpy as np
import pytest

from normalhedge.latent import Live, Regimes
from normalhedge.latent.regimes._encoding import Encoding
from tests.latent.regimes.examples import answers, bits, weather


def test_every_line_is_answered() -> None:
    said = answers(
        Live(Regimes("gaussian", (1, 2)), Encoding("numbers")),
        "0.5", '{"y": 1.5}', "null", "", '{"y": null}', *(f"{k / 7}" for k in range(40)),
    )  # fmt: skip
    assert said[3] is None
    assert said[0] == {
        "line": 1, "round": 1, "state": None, "probabilities": [], "switch": None, "next": None,
    }  # fmt: skip
    last = said[-1]
    assert (last["line"], last["round"], last["state"]) == (45, 44, 0)
    assert sum(last["probabilities"]) == pytest.approx(1.0)
    low, high = last["next"]["interval"]
    assert low < last["next"]["mean"] < high
    json.dumps(said, allow_nan=False)


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("x", "this is not JSON"),
        (b"\xff", "this is not UTF-8"),
        ("[" * 100_000, "nested too deeply"),
        ('"word"', "values must be numbers, got 'word'"),
        ("[1, 2]", "the observation must be one number"),
        ("true", "the observation must be a number, got true"),
        ("1e999", "within ±1e100"),
        ("Infinity", "within ±1e100"),
        ('{"x": 1}', "a line is an observation"),
        ('{"y": {"y": 1}}', "values must be words or numbers"),
        ("{}", "a line is an observation"),
        ("9" * 5000, "not JSON"),
    ],
)
def test_bad_lines_are_answered_and_change_nothing(line: str | bytes, word: str) -> None:
    regimes = Regimes("gaussian", (1, 2))
    regimes.run(np.sin(np.arange(60.0) ** 2))
    before = bits(regimes)
    (said,) = answers(Live(regimes, Encoding("numbers")), line)
    assert word in said["error"]
    assert "in row" not in said["error"]
    assert len(said["error"]) < 1000
    assert bits(regimes) == before


def test_streams_of_other_kinds() -> None:
    symbols = Live(Regimes("categorical", (1, 2), symbols=2), Encoding("symbols", ("dry", "wet")))
    said = answers(symbols, *(json.dumps(word) for word in weather(40)), '"hot"', "null")
    assert "'hot' is not one of the symbols dry, wet" in said[-2]["error"]
    assert sum(said[-1]["next"].values()) == pytest.approx(1.0)
    both = Live(Regimes("full", (1,)), Encoding("numbers", columns=("a", "b")))
    noise = np.random.default_rng(0).normal(size=(20, 2)).tolist()
    said = answers(both, "null", *map(json.dumps, noise), "[1, null]", "[1]", "3")
    assert "an observation must have 2 numbers" in said[-1]["error"]
    assert "an observation must have 2 numbers" in said[-2]["error"]
    assert np.shape(said[-3]["next"]["interval"]) == (2, 2)
    limit = Live(
        Regimes("categorical", (1,), symbols=2), Encoding("symbols", ("at most 1", "above 1"), 1.0)
    )
    assert set(answers(limit, *("2", "0") * 4)[-1]["next"]) == {"at most 1", "above 1"}
    counts = Live(Regimes("poisson", (1,)), Encoding("counts"))
    assert "counts" in answers(counts, "1.5")[0]["error"]
