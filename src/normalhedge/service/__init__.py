"""A mixture behind HTTP: an event log, snapshots, and the server that owns them.

Its libraries (msgspec, prometheus-client, Starlette, uvicorn) are the extra ``serve``.
"""
