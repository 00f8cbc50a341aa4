"""Tables in files of many kinds."""

import json
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest

from normalhedge.boundary.table_files import read_arrow

EXPECTED = {"name": ["a", "é"], "x": [1.5, -2.25], "n": [1, 2]}


def sheet(path: Path, rows: list[list[object]]) -> Path:
    """Write the smallest workbook that there is."""
    cells = "".join(
        "<row>" + "".join(
            f"<c><v>{cell}</v></c>" if isinstance(cell, int | float)
            else f'<c t="inlineStr"><is><t>{cell}</t></is></c>' for cell in row
        ) + "</row>" for row in rows
    )  # fmt: skip
    main = "http://schemas.openxmlformats.org"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{main}/package/2006/content-types"><Default '
        'Extension="xml" ContentType="application/xml"/><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{main}/package/2006/relationships"><Relationship '
        f'Id="r" Type="{main}/officeDocument/2006/relationships/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}/spreadsheetml/2006/main" xmlns:r="{main}/'
        'officeDocument/2006/relationships"><sheets><sheet name="s" sheetId="1" r:id="r1"/>'
        "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{main}/package/2006/relationships">'
        f'<Relationship Id="r1" Type="{main}/officeDocument/2006/relationships/worksheet" '
        'Target="worksheets/s.xml"/></Relationships>',
        "xl/worksheets/s.xml": f'<worksheet xmlns="{main}/spreadsheetml/2006/main"><sheetData>'
        f"{cells}</sheetData></worksheet>",
    }
    with zipfile.ZipFile(path, "w") as file:
        for name, text in parts.items():
            file.writestr(name, text)
    return path


def test_csv_of_many_kinds(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for text, encoding in (
        ("name,x,n\na,1.5,1\né,-2.25,2\n", "utf-8"),
        ("\ufeffname;x;n\na;1,5;1\né;-2,25;2\n", "utf-8"),
        ("name\tx\tn\r\na\t1,5\t1\r\né\t-2,25\t2\r\n", "latin-1"),
        ('name;"x";n\na;"1,5";1\né;"-2,25";2\n', "cp1252"),
        ("name,x,n\na,1.5,1\né,-2.25,2\n", "utf-16"),
    ):
        path.write_bytes(text.encode(encoding))
        assert read_arrow(path, encoding).to_pydict() == EXPECTED
    path.write_bytes("name,x\né,1\n".encode("latin-1"))
    with pytest.raises(ValueError, match="name its encoding, such as latin-1"):
        read_arrow(path)
    with pytest.raises(
        ValueError, match="encoding must be the name of a Python codec, got 'klingon'"
    ):
        read_arrow(path, "klingon")


def test_json_lines_and_sheets(tmp_path: Path) -> None:
    lines = tmp_path / "a.jsonl"
    rows = [dict(zip(EXPECTED, row, strict=True)) for row in zip(*EXPECTED.values(), strict=True)]
    lines.write_text("\n".join(map(json.dumps, rows)))
    assert read_arrow(lines).to_pydict() == EXPECTED
    book = sheet(tmp_path / "a.xlsx", [["name", "x", "n"], ["a", 1.5, 1], ["é", -2.25, 2]])
    assert read_arrow(book).to_pydict() == EXPECTED
    mixed = read_arrow(sheet(tmp_path / "b.xlsx", [["x", "y"], [1.5, "?"], ["n/a", 2.0]]))
    assert mixed["x"].to_pylist() == ["1.5", "n/a"]
    assert mixed.schema.field("x").type == pa.string()
    for name, data, match in (
        ("c.xlsx", b"no zip", "cannot be read"),
        ("c.docx", b"", "must end in .csv"),
        ("c.jsonl", b"{", "cannot be read"),
    ):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ValueError, match=match):
            read_arrow(tmp_path / name)
