"""Gains from arrays and files."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from normalhedge.research.games import Replay, natures
from tests.research.games.natures.examples import drawn


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
    monkeypatch.setattr(natures._replay, "BLOCK", 30)
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
