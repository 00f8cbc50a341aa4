"""Mixtures of a server of ``normalhedge serve``, used as if they were here."""

from normalhedge.service.client.asynchronous import AsyncClient, AsyncServedMixture
from normalhedge.service.client.clients import Client, ServedMixture
from normalhedge.service.client.retrying import NotAcknowledged
from normalhedge.service.client.summaries import ServedSummary

__all__ = [
    "AsyncClient",
    "AsyncServedMixture",
    "Client",
    "NotAcknowledged",
    "ServedMixture",
    "ServedSummary",
]
