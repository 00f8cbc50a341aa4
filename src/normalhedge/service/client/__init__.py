"""Mixtures of a server of ``normalhedge serve``, used as if they were here."""

from normalhedge.service.client._asynchronous import AsyncClient, AsyncServedMixture
from normalhedge.service.client._clients import Client, ServedMixture
from normalhedge.service.client._retrying import NotAcknowledged
from normalhedge.service.client._summaries import ServedSummary

__all__ = [
    "AsyncClient",
    "AsyncServedMixture",
    "Client",
    "NotAcknowledged",
    "ServedMixture",
    "ServedSummary",
]
