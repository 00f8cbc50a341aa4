"""The lock that one process holds on a state."""

import os
from pathlib import Path

import pytest

from normalhedge.live.owner import Owner


def test_a_lock_says_who_holds_it(tmp_path: Path) -> None:
    path, link = tmp_path / "state.json", tmp_path / "link.json"
    link.symlink_to(path)
    with Owner(path):
        assert f"process {os.getpid()} on " in Path(f"{path}.lock").read_text()
        for name in (path, link):
            with (
                pytest.raises(ValueError, match=rf"in use by process {os.getpid()} on"),
                Owner(name),
            ):
                pass
    assert not Path(f"{path}.lock").exists()
    Path(f"{path}.lock").write_text("process 1 on nowhere")
    with Owner(path):
        pass
