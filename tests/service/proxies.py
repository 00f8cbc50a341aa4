"""Reverse proxies of Debian in front of a server, as the documents set them up."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
SERVER = "http://127.0.0.1:8008"  # the address of the server in the documents

NGINX = """
daemon off;
pid {folder}/pid;
error_log stderr;
events {{ }}
http {{
    access_log off;
    client_body_temp_path {folder}/bodies;
    proxy_temp_path {folder}/proxied;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port};
        {location}
    }}
}}
"""


def program(name: str) -> str | None:
    """Return the path of a proxy; None if it is not installed."""
    return shutil.which(name, path="/usr/sbin:/usr/bin:/usr/local/bin")


def caddy_version() -> tuple[int, ...]:
    """Return the version of Caddy."""
    path = program("caddy")
    assert path is not None
    said = subprocess.run([path, "version"], capture_output=True, check=True, text=True).stdout
    return tuple(map(int, said.split()[0].lstrip("v").split("-")[0].split(".")))


def documented() -> str:
    """Return the block for nginx of docs/service.md."""
    text = (ROOT / "docs" / "service.md").read_text("utf-8")
    return text.partition("```nginx\n")[2].partition("```")[0]


def _command(name: str, folder: Path, url: str, port: int) -> list[str]:
    path = program(name)
    assert path is not None
    if name == "nginx":
        assert SERVER in documented()
        location = documented().replace(SERVER, url)
        config = folder / "nginx.conf"
        config.write_text(NGINX.format(folder=folder, port=port, location=location))
        return [path, "-p", str(folder), "-c", str(config)]
    text = (ROOT / "deploy" / "Caddyfile").read_text("utf-8")
    site, server = "forecasts.example.com", SERVER.removeprefix("http://")
    assert site in text
    assert server in text
    text = text.replace(site, f"http://127.0.0.1:{port}").replace(server, url.partition("://")[2])
    config = folder / "Caddyfile"
    both_ways = "\tservers {\n\t\tenable_full_duplex\n\t}\n" if caddy_version() >= (2, 8) else ""
    config.write_text(f"{{\n\tadmin off\n{both_ways}}}\n{text}")
    return [path, "run", "--config", str(config), "--adapter", "caddyfile"]


@contextmanager
def proxied(name: str, folder: Path, url: str) -> Iterator[str]:
    """Run a proxy in front of a server; yield its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = _command(name, folder, url, port)
    home = {"HOME": str(folder), "PATH": "/usr/bin"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=home) as child:
        try:
            for _ in range(200):
                assert child.poll() is None, child.stderr and child.stderr.read()
                with socket.socket() as tried:
                    if tried.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}"
        finally:
            child.terminate()
