import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from normalhedge import Hedge, NormalHedge
from normalhedge._names import make
from normalhedge.games import (
    BreakAway,
    Contrary,
    GoodAndBad,
    Greedy,
    IndependentCoins,
    Nature,
    Replay,
    natures,
    play,
)
from normalhedge.hedgers import HEDGERS, Squint
from tests.adversaries import alternate_then_break_away


def drawn(nature: Nature, rounds: int, seed: int = 0) -> np.ndarray:
    return np.concatenate(list(nature.gains(rounds, np.random.default_rng(seed))))


NATURES: list[Nature] = [
    GoodAndBad(30, 0.4, 0.1, 0.01),
    IndependentCoins(30, 0.2, 0.5),
    BreakAway(7, 0.05),
    Greedy(6, NormalHedge(0.05)),
    Contrary(6, Squint()),
    Replay(np.random.default_rng(0).uniform(-1, 1, (700, 3))),
]


@pytest.mark.parametrize("nature", NATURES, ids=repr)
def test_a_nature_is_a_nature(nature: Nature) -> None:
    assert isinstance(nature, Nature)
    gains = drawn(nature, 600)
    assert gains.shape == (600, nature.experts)
    assert np.abs(gains.astype(float)).max() <= 1.0
    np.testing.assert_array_equal(gains, drawn(nature, 600))
    for block in nature.gains(3, np.random.default_rng(0)):
        assert len(block) <= 3


def test_good_and_bad_is_section_4_2_1() -> None:
    n, gamma, f, alpha = 50, 0.6, 0.1, 0.001
    nature = GoodAndBad(n, gamma, f, alpha)
    rounds = 12_000
    gains = drawn(nature, rounds).reshape(12, 1000, n)
    for shift, part in enumerate(gains):
        good = (np.arange(5) + 5 * shift) % n
        np.testing.assert_array_equal(nature.good_set(1000 * shift), good)
        assert (part[:, good] == part[:, good[:1]]).all()  # one coin for all of them
        bad = np.delete(part, good, axis=1)
        assert not (bad == bad[:, :1]).all(axis=1).any()
        assert abs(bad.mean()) < 5 / math.sqrt(bad.size)
    coins = np.array([part[:, 5 * shift % n] for shift, part in enumerate(gains)])
    assert coins.mean() == pytest.approx(gamma, abs=4 * math.sqrt((1 - gamma**2) / rounds))
    assert set(np.unique(gains)) == {-1, 1}


def test_the_good_set_wraps_around() -> None:
    nature = GoodAndBad(10, 1.0, 0.4, 0.5)
    assert nature.good_set(4).tolist() == [8, 9, 0, 1]
    assert nature.good_set(5).tolist() == [8, 9, 0, 1]
    assert nature.good_set(6).tolist() == [2, 3, 4, 5]


def test_independent_coins() -> None:
    gains = drawn(IndependentCoins(40, 0.3, 0.25), 20_000)
    assert gains[:, :10].mean() == pytest.approx(0.3, abs=0.01)
    assert gains[:, 10:].mean() == pytest.approx(0.0, abs=0.01)
    assert abs(np.corrcoef(gains[:, :10].T) - np.eye(10)).max() < 0.05


def test_break_away_is_the_attack_of_the_errata() -> None:
    nature = BreakAway(9, 0.01)
    np.testing.assert_array_equal(drawn(nature, nature.rounds), alternate_then_break_away(9, 0.01))


@pytest.mark.parametrize("c", [1.0, 2.0, 4.0])
def test_greedy_approaches_what_can_be_reached(c: float) -> None:
    hedger = NormalHedge(0.01, c)
    trace = play([hedger], Greedy(20, hedger), 1500)
    reached = math.exp(trace.highest_potential[0])
    assert reached > 1 + 0.97 * (math.exp(1 / (4 * c - 2)) - 1)


def test_greedy_raises_the_potential_more_than_chance_and_diverges_at_one_half() -> None:
    hedger = NormalHedge(0.01, c=0.5)
    greedy = play([hedger], Greedy(20, hedger), 3000).highest_potential[0]
    chance = play([hedger], IndependentCoins(20), 3000).highest_potential[0]
    assert greedy > 4 * chance
    assert greedy > 10


def test_replay_of_arrays_and_files(tmp_path: Path) -> None:
    table = np.round(np.random.default_rng(1).uniform(-1, 1, (1000, 3)), 6)
    csv, bare, parquet = (tmp_path / name for name in ("a.csv", "b.csv", "c.parquet"))
    np.savetxt(csv, table, delimiter=",", header="x,y,z", comments="")
    np.savetxt(bare, table, delimiter=",")
    pq.write_table(pa.table({k: table[:, i] for i, k in enumerate("xyz")}), parquet)
    for source, names in ((table, "012"), (csv, "xyz"), (bare, "012"), (str(parquet), "xyz")):
        nature = Replay(source)
        assert (nature.experts, nature.rounds, "".join(nature.names)) == (3, 1000, names)
        np.testing.assert_array_equal(drawn(nature, 1000), table)
        np.testing.assert_array_equal(drawn(nature, 17), table[:17])


def test_replay_reads_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(natures.replay, "BLOCK", 30)
    table = np.random.default_rng(1).uniform(-1, 1, (100, 3))
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({k: table[:, i] for i, k in enumerate("xyz")}), path)
    np.savetxt(tmp_path / "a.csv", table, delimiter=",")
    for source in (table, path, tmp_path / "a.csv"):
        blocks = list(Replay(source).gains(95, np.random.default_rng(0)))
        assert [len(block) for block in blocks] == [10] * 9 + [5]
        np.testing.assert_array_equal(np.concatenate(blocks), table[:95])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,0\n0.5,x\n", ["column b is 'x' in row 2"]),
        ("a,b\n1,0\n0.5\n", ["row 2 has 1 entries, not 2"]),
        ("a,b\n1,0\n0.5,\n", ["column b is '' in row 2"]),
        ("a,b\n1,0\n0.5,1.5\n", ["round 2 of expert b is 1.5", "[-1, 1]"]),
        ("a,b\n1,0\n0.5,nan\n", ["round 2 of expert b is nan"]),
        ("", ["is empty"]),
        ("0.1,x\n0.3,0.4\n", ["column 1 is 'x' in row 1"]),
        ("a,b\n", ["rounds must be at most 0"]),
    ],
)
def test_files_that_cannot_be_replayed(tmp_path: Path, text: str, words: list[str]) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=r".+") as refusal:
        drawn(Replay(path), 1 if "rounds" in words[0] else 2)
    for word in words:
        assert word in str(refusal.value)


def test_parquet_that_cannot_be_replayed(tmp_path: Path) -> None:
    path = tmp_path / "bad.parquet"
    path.write_bytes(b"PAR1 nonsense")
    with pytest.raises(ValueError, match="not a readable Parquet file"):
        _ = Replay(path).experts
    pq.write_table(pa.table({"a": ["x"], "b": [1.0]}), path)
    with pytest.raises(ValueError, match="column a holds string, not numbers"):
        drawn(Replay(path), 1)
    pq.write_table(pa.table({"a": [1.0, None]}), path)
    with pytest.raises(ValueError, match="column a is empty in row 2"):
        drawn(Replay(path), 2)
    with pytest.raises(ValueError, match="there is no file"):
        Replay(tmp_path / "none.csv")
    with pytest.raises(ValueError, match=r"must end in \.csv or \.parquet"):
        Replay(__file__)


BAD: list[tuple[Callable[[], object], str]] = [
    (lambda: GoodAndBad(10, 1.2, 0.1, 0.01), r"gamma must be in \[0, 1\], got 1.2"),
    (lambda: GoodAndBad(10, -0.1, 0.1, 0.01), r"gamma must be in \[0, 1\], got -0.1"),
    (lambda: GoodAndBad(10, 0.2, 0.0, 0.01), r"f must be in \(0, 1\], got 0.0"),
    (lambda: GoodAndBad(10, 0.2, 1.1, 0.01), r"f must be in \[0, 1\], got 1.1"),
    (lambda: GoodAndBad(10, 0.2, 0.05, 0.01), "at least one good expert"),
    (lambda: GoodAndBad(0, 0.2, 0.1, 0.01), "experts must be at least 1, got 0"),
    (lambda: GoodAndBad(10, 0.2, 0.1, 1.0), "alpha must be strictly between 0 and 1"),
    (lambda: IndependentCoins(10, 0.2, 0.05), "at least one good expert"),
    (lambda: BreakAway(1, 0.1), "experts must be at least 2, got 1"),
    (lambda: Greedy(1, NormalHedge(0.1)), "experts must be at least 2, got 1"),
    (lambda: Replay(np.zeros((0, 3))), r"got shape \(0, 3\)"),
    (lambda: Replay(np.zeros(3)), r"got shape \(3,\)"),
    (lambda: drawn(Replay(np.zeros((3, 2))), 4), "rounds must be at most 3, as recorded, got 4"),
    (lambda: drawn(Replay(np.full((3, 2), 2)), 3), "round 1 of expert 0 is 2"),
]


@pytest.mark.parametrize(("call", "words"), BAD)
def test_bad_settings(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()


def test_a_target_without_a_potential() -> None:
    with pytest.raises(TypeError, match="target must be a hedger with a potential"):
        Greedy(3, "normal-hedge")  # type: ignore[arg-type]
    assert Greedy(3, Hedge(0.1, 1.0)).experts == 3


@pytest.mark.parametrize("name", [name for name in HEDGERS if name != "hedge-fixed"])
def test_against_the_contrary_nobody_earns_anything(name: str) -> None:
    target = make("hedger", name, HEDGERS, alpha=0.02, n_experts=9)
    gains = drawn(Contrary(9, target), 150)
    earned = target.run(gains).gains
    assert earned.max() <= 1e-8
    assert (gains == 1).any(axis=1).all() or name == "follow-the-leader"


def test_the_contrary_needs_a_hedger() -> None:
    with pytest.raises(TypeError, match="target must be a hedger"):
        Contrary(3, "hedge")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least 2"):
        Contrary(1, NormalHedge(0.1))


def test_natures_know_when_they_change() -> None:
    moving = GoodAndBad(10, 1.0, 0.1, 0.1)
    assert moving.switches(35).tolist() == [10, 20, 30]
    gains = np.concatenate(list(moving.gains(35, np.random.default_rng(0))))
    for start in (0, *moving.switches(35)):
        assert (gains[start : start + 5, start // 10] == 1).all()
    breaking = BreakAway(4, 0.5)
    gains = np.concatenate(list(breaking.gains(70, np.random.default_rng(0))))
    alone = (gains == [1, -1, -1, -1]).all(axis=1)
    assert breaking.switches(70).tolist() == (1 + np.flatnonzero(np.diff(alone))).tolist()
