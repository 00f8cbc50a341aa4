"""A mixture behind HTTP: an event log, snapshots, and the server that owns them.

Its libraries (msgspec, prometheus-client, Starlette, uvicorn) are the extra ``serve``. `app` is the
service as an application of ASGI, made from `Settings`.
"""

from typing import TYPE_CHECKING

from normalhedge.boundary import extras

if TYPE_CHECKING:
    from normalhedge.service._limits import Limits as Limits
    from normalhedge.service.server import app as app
    from normalhedge.service.settings import Settings as Settings

__all__ = ["Limits", "Settings", "app"]

__getattr__ = extras.lazily(
    __name__,
    {
        "Limits": ("_limits", "msgspec"),
        "Settings": ("settings", "msgspec"),
        "app": ("server", "starlette"),
    },
)
