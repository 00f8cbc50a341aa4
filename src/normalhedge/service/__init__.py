"""A mixture behind HTTP: an event log, snapshots, and the server that owns them.

Its libraries (msgspec, uvicorn, prometheus-client) are the extra ``serve``.
"""
