"""Whatever one team sends, the run ends, and a sentence names the team and the file."""

import csv
import gzip
import io
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from normalhedge.tables.hubs import HubBlend, blend_hub
from tests.tables.hubs.examples import CHANGE, COUNT, DATES, LAST, make_hub, read_csv, write_csv
from tests.tables.hubs.hostile import Rows, target_of, variants, written

WHOLE = (
    "nothing", "blank lines", "a head only", "noise", "zeros", "no column", "every row twice",
    "two spellings", "value 'much'", "target_end_date 'TBD'",
)  # fmt: skip
"""The beginnings of variants of which nothing may be used."""


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    return make_hub(tmp_path / "hub")


def submission(hub: Path, team: str = "Good-arima") -> Path:
    return hub / "model-output" / team / f"{LAST}-{team}.csv"


def same(first: HubBlend, second: HubBlend) -> bool:
    return first.submission == second.submission and first.weights == second.weights


def add(hub: Path, team: str, ending: str, data: bytes) -> Path:
    path = hub / "model-output" / team / f"{LAST}-{team}.{ending}"
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    return path


def tasks_of(result: HubBlend) -> list[tuple[object, ...]]:
    names = ("target", "horizon", "location", "output_type", "output_type_id")
    return list(zip(*(result.submission[name] for name in names), strict=True))


@pytest.mark.parametrize("seed", range(6))
def test_a_sentence_names_the_team_and_the_file(hub: Path, seed: int) -> None:
    plain = blend_hub(hub, date=LAST)
    files = {}
    for k, (wrong, ending, data) in enumerate(variants(read_csv(submission(hub)), seed, 80)):
        path = add(hub, f"Bad-{k}", ending, data)
        files[f"{path.parent.name}/{path.name}"] = wrong
    found = blend_hub(hub, date=LAST)
    for name, wrong in files.items():
        own = [note for note in found.notes if f"{name}: " in note]
        own += [n for n in found.notes if n.startswith(f"{name.removesuffix('.csv')}: ")]
        assert own, f"no sentence about {wrong}"
        assert all("\n" not in note and len(note) < 600 for note in own), (wrong, own)
        if wrong.startswith(WHOLE):
            assert own[0].startswith(f"left out {name}: "), (wrong, own)
            assert name.partition("/")[0] not in found.weights["model_id"], wrong
    assert tasks_of(found) == tasks_of(plain)
    assert all(map(math.isfinite, found.submission["value"]))


def test_files_that_are_left_out_change_nothing(hub: Path) -> None:
    plain = blend_hub(hub, date=LAST)
    good = read_csv(submission(hub))
    for k, (wrong, ending, data) in enumerate(variants(good, 0, 200)):
        if wrong.startswith(WHOLE):
            add(hub, f"Bad-{k}", ending, data)
    assert same(blend_hub(hub, date=LAST), plain)


def respelled(path: Path, change: Callable[[Rows], Rows], **dialect: object) -> None:
    path.write_bytes(written(change(read_csv(path)), **dialect))


def grouped(text: str) -> str:
    return f"{float(text):,.3f}" if text and float(text) > 1000 else text


SPELLINGS: dict[str, Callable[[dict[str, str]], dict[str, str]]] = {
    "spaces": lambda row: {k: f" {v}\t" for k, v in row.items()},
    "quotes": lambda row: {k: f'" {v}"' for k, v in row.items()},
    "plus": lambda row: {**row, "value": f"+{row['value']}"},
    "powers": lambda row: {**row, "value": f"{float(row['value']):.17e}"},
    "a hard space": lambda row: {**row, "value": f"\u00a0{row['value']}\u202f"},
    "levels": lambda row: {**row, "output_type_id": row["output_type_id"].replace("0.", ".")},
    "steps": lambda row: {**row, "horizon": row["horizon"].replace("1", "1.0")},
    "times": lambda row: {**row, "target_end_date": f"{row['target_end_date']} 00:00:00".replace(
        "NA 00:00:00", "")},
    "names": lambda row: {f" {k}": v for k, v in row.items()},
}  # fmt: skip


@pytest.mark.parametrize("name", SPELLINGS)
def test_numbers_and_ids_are_read_as_people_write_them(hub: Path, name: str) -> None:
    plain = blend_hub(hub, date=LAST)
    for day in DATES:
        path = hub / "model-output" / "Good-arima" / f"{day}-Good-arima.csv"
        respelled(path, lambda rows: [SPELLINGS[name](row) for row in rows])
    assert same(blend_hub(hub, date=LAST), plain)


def test_the_cell_of_a_real_season(hub: Path) -> None:
    """A quoted number with a space before it."""
    plain = blend_hub(hub, COUNT, LAST)
    path = submission(hub)
    lines = path.read_text().splitlines()
    place = lines[0].split(",").index("value")
    for k, line in enumerate(lines[1:], 1):
        cells = line.split(",")
        cells[place] = f'" {cells[place]}"'
        lines[k] = ",".join(cells)
    path.write_text("\n".join(lines))
    assert same(blend_hub(hub, COUNT, LAST), plain)


@pytest.mark.parametrize("mark", [",", " ", "'", "\u202f"])
def test_marks_of_thousands(hub: Path, mark: str) -> None:
    def thousands(rows: Rows) -> Rows:
        return [{**row, "value": f"{1000 * float(row['value']):.3f}"} for row in target_of(rows)]

    path = submission(hub)
    respelled(path, thousands)
    plain = blend_hub(hub, COUNT, LAST)
    respelled(
        path,
        lambda rows: [{**row, "value": grouped(row["value"]).replace(",", mark)} for row in rows],
    )
    found = blend_hub(hub, COUNT, LAST)
    assert same(found, plain)
    said = [note for note in found.notes if "commas are read as marks of thousands" in note]
    assert len(said) == (mark == ",")


def test_a_decimal_comma_is_never_guessed(hub: Path) -> None:
    path = submission(hub)
    rows = target_of(read_csv(path))
    values = [f"{float(row['value']):.2f}".replace(".", ",") for row in rows]
    mixed = [{**row, "value": value} for row, value in zip(rows, values, strict=True)]
    mixed[0]["value"] = "1,234"  # one cell alone would be a thousand
    write_csv(path, mixed)
    notes = blend_hub(hub, COUNT, LAST).notes
    own = next(note for note in notes if note.startswith(f"left out Good-arima/{path.name}: "))
    assert "value must be a number, it is '" in own
    assert "write 12.5 for 12,5" in own


def test_one_step_that_leads_to_another_date_adds_no_task(hub: Path) -> None:
    path = submission(hub, "Bad-guess")
    plain = blend_hub(hub, date=LAST)
    respelled(
        path,
        lambda rows: [
            {**row, "target_end_date": row["target_end_date"].replace("2024-02-24", "2024-02-26")}
            for row in rows
        ],
    )
    found = blend_hub(hub, date=LAST)
    assert tasks_of(found) == tasks_of(plain)
    text = f"Bad-guess/{LAST}-Bad-guess: 24 rows of {COUNT} left out: target_end_date is 2024-02-26"
    assert any(note.startswith(text) for note in found.notes)


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_a_file_larger_than_the_budget_is_refused(hub: Path, ending: str) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    plain = blend_hub(hub, date=LAST)
    good = read_csv(submission(hub))
    long = [{**row, "location": "x" * 20_000} for row in good] * 20
    columns = {name: [row[name] for row in long] for name in long[0]}
    file = io.BytesIO()
    parquet.write_table(pa.table(columns), file, compression="zstd")
    data = {"csv": written(long), "csv.gz": gzip.compress(written(long))}
    path = add(hub, "Large-file", ending, data.get(ending, file.getvalue()))
    if ending != "csv":
        assert path.stat().st_size < 200_000
    found = blend_hub(hub, date=LAST, largest_file=1_000_000)
    own = [note for note in found.notes if f"left out Large-file/{path.name}: " in note]
    assert len(own) == 1
    assert "it has more than 1,000,000 bytes after decompression (largest_file)" in own[0]
    assert same(found, plain)


def test_no_more_than_the_budget_is_unpacked(hub: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(hub, "Large-file", "csv.gz", gzip.compress(bytes(50_000_000)))
    sizes = []
    read = gzip.GzipFile.read

    def counted(self: gzip.GzipFile, size: int | None = -1) -> bytes:
        data = read(self, size)
        sizes.append(len(data))
        return data

    monkeypatch.setattr(gzip.GzipFile, "read", counted)
    blend_hub(hub, date=LAST, largest_file=1_000_000)
    assert sum(sizes) == 1_000_001


@pytest.mark.parametrize("value", ["1e99", "-1e99", "1e-300", "0", "-0.0"])
def test_extreme_numbers_are_numbers(hub: Path, value: str) -> None:
    plain = blend_hub(hub, [COUNT, CHANGE], LAST)
    respelled(submission(hub, "Bad-guess"), lambda rows: [{**row, "value": value} for row in rows])
    found = blend_hub(hub, [COUNT, CHANGE], LAST)
    assert tasks_of(found) == tasks_of(plain)
    assert all(map(math.isfinite, found.submission["value"]))


def test_names_of_files_that_are_no_submissions(hub: Path) -> None:
    plain = blend_hub(hub, date=LAST)
    folder = hub / "model-output" / "Good-arima"
    (folder / f"{LAST}-Good-arima.parquet").write_bytes(b"")
    (folder / "2024-02-31-Good-arima.csv").write_bytes(b"")
    (folder / f"{LAST}-Good-arima.CSV").write_bytes(b"")
    (folder / "2023-01-07-Good-arima.csv").mkdir()
    found = blend_hub(hub, date=LAST)
    assert same(found, plain)
    text = "\n".join(found.notes)
    for reason in (
        f"left out Good-arima/{LAST}-Good-arima.parquet: {LAST}-Good-arima.csv is of the same date",
        "left out Good-arima/2024-02-31-Good-arima.csv: 2024-02-31 is not a date",
        f"left out Good-arima/{LAST}-Good-arima.CSV: it is not named DATE-Good-arima.csv",
        "left out Good-arima/2023-01-07-Good-arima.csv: it is not a file",
    ):
        assert reason in text


def test_the_oracle_of_spellings_reads_what_it_writes() -> None:
    rows = [{"a": 'x"y', "b": "1,5"}]
    assert list(csv.DictReader(io.StringIO(written(rows).decode()))) == rows
