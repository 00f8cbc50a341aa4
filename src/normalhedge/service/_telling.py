"""Whom an alarm is told to: an address that gets a POST, or a command that is run."""

import asyncio
import hashlib
import hmac
import json
import shlex
import shutil
import threading
import urllib.request
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

ADDRESS_SECONDS, COMMAND_SECONDS = 10.0, 60.0
"""How long an address may take to answer, and a command to end."""

Message: TypeAlias = dict[str, Any]
Target: TypeAlias = Callable[[Message], Awaitable[None]]
"""Tell somebody; raise `NotTold` if that failed."""


class NotTold(Exception):  # noqa: N818 -- it is tried again
    """An alarm that nobody took."""


def target_of(url: str | None, secret_file: str | None, command: str | None) -> Target | None:
    """Return whom alarms are told to; raise a ValueError that names a setting that is wrong."""
    if url is not None and command is not None:
        raise ValueError("give alarm_url or alarm_command, and not both")
    if secret_file is not None and url is None:
        raise ValueError("alarm_secret_file is for alarm_url, which is not given")
    if url is not None:
        return _address(url, None if secret_file is None else _secret(Path(secret_file)))
    return None if command is None else _command(command)


def _secret(path: Path) -> bytes:
    """Return the secret of a file, without spaces and ends of lines around it."""
    try:
        secret = path.read_bytes().strip()
    except OSError as error:
        raise ValueError(f"alarm_secret_file {path} cannot be read: {error.strerror}") from None
    if not secret:
        raise ValueError(f"alarm_secret_file {path} is empty")
    return secret


def _check_address(url: str) -> None:
    """Refuse an address that cannot be asked."""
    try:
        parts = urlsplit(url)
        fine = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
        fine = fine and not parts.username and url.isascii() and url.isprintable()
    except ValueError:
        fine = False
    if not fine or " " in url:
        raise ValueError(
            "alarm_url must be an address that begins with http:// or https://, without a name and "
            f"password, got {url!r}"
        )


def _address(url: str, secret: bytes | None) -> Target:
    _check_address(url)
    opener = urllib.request.build_opener(_NoRedirect)

    def post(body: bytes, number: int) -> None:
        headers = {
            "content-type": "application/json",
            "user-agent": "normalhedge",
            "idempotency-key": f"alarm-{number}",
        }
        if secret is not None:
            digest = hmac.new(secret, body, hashlib.sha256).hexdigest()
            headers["x-normalhedge-signature"] = f"sha256={digest}"
        request = urllib.request.Request(url, body, headers, method="POST")
        try:
            with opener.open(request, timeout=ADDRESS_SECONDS) as answer:
                status = answer.status
        except HTTPError as error:
            status = error.code
            error.close()
        except Exception as error:  # also of an answer that is no HTTP
            reason = error.reason if isinstance(error, URLError) else error
            raise NotTold(f"{url} does not answer: {reason!r}") from None
        if not 200 <= status < 300:
            raise NotTold(f"{url} answered with status {status}")

    async def tell(message: Message) -> None:
        await _in_daemon(post, json.dumps(message).encode(), message["id"])

    return tell


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirection is a failure: it would turn the POST into a GET, for somebody else."""

    def redirect_request(self, *_: Any) -> None:
        """Refuse a redirection."""


async def _in_daemon(call: Callable[..., None], *arguments: Any) -> None:
    """Call a function in a thread for which the end of the process does not wait."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[None] = loop.create_future()

    def settle(failure: BaseException | None) -> None:
        if not future.done():
            if failure is None:
                future.set_result(None)
            else:
                future.set_exception(failure)

    def work() -> None:
        failure: BaseException | None = None
        try:
            call(*arguments)
        except BaseException as error:
            failure = error
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, failure)

    threading.Thread(target=work, daemon=True).start()
    await future


def _command(command: str) -> Target:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ValueError(f"alarm_command cannot be read, {error}: {command!r}") from None
    if not words or shutil.which(words[0]) is None:
        raise ValueError(f"alarm_command must begin with a program, got {command!r}")

    async def tell(message: Message) -> None:
        try:
            process = await asyncio.create_subprocess_exec(
                *words,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
            )
        except OSError as error:
            raise NotTold(f"{words[0]} cannot be run: {error.strerror}") from None
        try:
            async with asyncio.timeout(COMMAND_SECONDS):
                await process.communicate(json.dumps(message).encode() + b"\n")
        except TimeoutError:
            raise NotTold(f"{words[0]} did not end within {COMMAND_SECONDS:g} s") from None
        finally:
            if process.returncode is None:
                process.kill()
        if process.returncode != 0:
            raise NotTold(f"{words[0]} ended with status {process.returncode}")

    return tell
