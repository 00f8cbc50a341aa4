"""``normalhedge hub``: files of the hub's format, byte for byte the same again."""

import subprocess
import sys
from pathlib import Path

import pytest

from normalhedge.cli import main
from tests.tables.hubs.examples import CHANGE, COUNT, DATES, LAST, make_hub, read_csv


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    return make_hub(tmp_path / "hub")


def test_a_submission_and_its_weights_are_written(
    hub: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, weights = tmp_path / "blend.csv", tmp_path / "weights.csv"
    asked = ["hub", str(hub), "--target", COUNT, "--date", str(LAST)]
    main([*asked, "--out", str(out), "--weights-out", str(weights), "--max-weight", "0.4"])
    printed = capsys.readouterr()
    assert f"wrote {out}" in printed.out
    assert "WIS" in printed.out
    assert "left out Toy-baseline: Toy is the hub's own team" in printed.err
    rows = read_csv(out)
    own = read_csv(hub / "model-output" / "Good-arima" / f"{LAST}-Good-arima.csv")
    assert set(rows[0]) == set(own[0])
    assert {row["location"] for row in rows} == {"US", "06", "36"}
    assert max(float(row["weight"]) for row in read_csv(weights)) <= 0.5 + 1e-12
    before = out.read_bytes(), weights.read_bytes()
    main([*asked, "--out", str(out), "--weights-out", str(weights), "--max-weight", "0.4"])
    assert (out.read_bytes(), weights.read_bytes()) == before


def test_columns_of_the_target_data_are_named(
    hub: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["hub", str(hub), "--target", COUNT, "--out", str(tmp_path / "blend.csv")]
    main(asked)
    before = (tmp_path / "blend.csv").read_bytes()
    path = hub / "target-data" / "target-toy-admissions.csv"
    path.write_text(path.read_text().replace("value", "cases").replace("location", "state"))
    capsys.readouterr()
    main(asked)
    assert "--column observation=..." in capsys.readouterr().err
    main([*asked, "--column", "observation=cases", "--column", "location=state"])
    assert (tmp_path / "blend.csv").read_bytes() == before


def test_another_process_writes_the_same_bytes(hub: Path, tmp_path: Path) -> None:
    asked = ["hub", str(hub), "--date", str(DATES[4]), "--out"]
    main([*asked, str(tmp_path / "one.csv")])
    command = [sys.executable, "-m", "normalhedge", *asked, str(tmp_path / "two.csv")]
    subprocess.run(command, check=True, capture_output=True)
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


def test_a_folder_gets_a_file_named_as_the_hub_wants_it(hub: Path, tmp_path: Path) -> None:
    own = hub / "model-output" / "My-blend"  # the first submission makes the folder
    main(["hub", str(hub), "--name", "My-blend", "--out", str(own)])
    first = (own / f"{LAST}-My-blend.csv").read_bytes()
    main(["hub", str(hub), "--name", "My-blend", "--out", str(own)])  # does not blend itself
    assert (own / f"{LAST}-My-blend.csv").read_bytes() == first
    parquet = tmp_path / "blend.parquet"
    main(["hub", str(hub), "--name", "My-blend", "--target", CHANGE, "--out", str(parquet)])
    assert parquet.exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "wk inc flu"], "unknown target 'wk inc flu': did you mean wk inc toy?"),
        (["--date", "2024-01-07"], "no team submitted forecasts of 2024-01-07"),
        (["--date", "soon"], "date must be a date such as 2024-01-06"),
        (["--max-weight", "2"], "max_weight must be more than 0 and at most 1, got 2.0"),
        (["--out", "blend.txt"], "must end in .csv or .parquet"),
        (["--out", "nowhere/blend.csv"], "there is no folder"),
        (["--hedger", "hegde"], "did you mean hedge"),
        (["--column", "date"], "--column must be NAME=COLUMN, such as target_end_date=week"),
        (["--column", "observation=cases"], "unknown column of target-data 'cases'"),
        (["--largest-file", "0"], "largest-file"),
    ],
)
def test_what_is_wrong_is_one_sentence(
    hub: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["hub", str(hub), *options])
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_hub_without_target_data_is_refused(
    hub: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in (hub / "target-data").iterdir():
        path.unlink()
    out = tmp_path / "blend.csv"
    with pytest.raises(SystemExit) as ended:
        main(["hub", str(hub), "--out", str(out)])
    assert ended.value.code == 2
    assert "has no target data" in capsys.readouterr().err
    assert not out.exists()
