"""The settings of a server: their safety, and their sources."""

from pathlib import Path

import pytest

from normalhedge.service.settings import Settings, read_settings


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.1", "example.org"])
def test_other_machines_need_tokens(host: str) -> None:
    with pytest.raises(ValueError, match="--token-file"):
        Settings(host=host).check()
    Settings(host=host, insecure=True).check()
    Settings(host=host, token_file="x").check()


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.5", "::1", "localhost"])
def test_this_machine_needs_none(host: str) -> None:
    Settings(host=host).check()


def test_settings_come_from_a_file_the_environment_and_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('port = 1\nhost = "::1"\nkeep_days = 3\n[limits]\nbody = 10\nline = 11\n')
    environment = {"NORMALHEDGE_PORT": "2", "NORMALHEDGE_LIMITS_BODY": "12", "PATH": ""}
    found = read_settings(file, environment, db="x.db", host=None)
    assert (found.port, found.host, found.db, found.keep_days) == (2, "::1", "x.db", 3.0)
    assert (found.limits.body, found.limits.line) == (12, 11)
    file.write_text("prot = 1\n")
    with pytest.raises(ValueError, match="did you mean port"):
        read_settings(file, {})
    file.write_text('port = "x"\n')
    with pytest.raises(ValueError, match="port must be of type int"):
        read_settings(file, {})
    with pytest.raises(ValueError, match="NORMALHEDGE_INSECURE"):
        read_settings(None, {"NORMALHEDGE_INSECURE": "maybe"})
    with pytest.raises(ValueError, match="NORMALHEDGE_LIMITS_BODY"):
        read_settings(None, {"NORMALHEDGE_LIMITS_BODY": "much"})
