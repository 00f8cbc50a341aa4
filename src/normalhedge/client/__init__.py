"""Mixtures of a server of ``normalhedge serve``, used as if they were here."""

from normalhedge.client.asynchronous import AsyncClient, AsyncServedMixture
from normalhedge.client.clients import Client, ServedMixture
from normalhedge.client.retrying import NotAcknowledged
from normalhedge.client.summaries import ServedSummary

__all__ = [
    "AsyncClient",
    "AsyncServedMixture",
    "Client",
    "NotAcknowledged",
    "ServedMixture",
    "ServedSummary",
]
