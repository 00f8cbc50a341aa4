"""The examples of docs/adapters.md that need libraries which are no dependency of development."""

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "adapters.md"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("title", "library"), [("sktime", "sktime"), ("Darts", "darts")])
def test_examples(title: str, library: str) -> None:
    """Each ``print`` of a section prints what stands behind it as a comment."""
    (section,) = re.findall(rf"^## {title}\n(.*?)^## ", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    code = "\n".join(re.findall(r"```python\n(.*?)```", section, re.DOTALL))
    expected = re.findall(r"^print\(.*\)  # (.*)$", code, re.MULTILINE)
    assert len(expected) == code.count("print(") >= 4
    pytest.importorskip(library, reason=f"{library} is apart: nox -s adapters has it")
    printed, names = io.StringIO(), dict[str, Any]()
    with contextlib.redirect_stdout(printed):
        exec(code, names)
    assert printed.getvalue().splitlines() == expected
