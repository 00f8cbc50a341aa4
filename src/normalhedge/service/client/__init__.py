"""Mixtures of a server of ``normalhedge serve``, used as if they were here."""

from normalhedge.service.client._asynchronous import AsyncClient, AsyncServedMixture
from normalhedge.service.client._blocking import Client, ServedMixture
from normalhedge.service.client._summaries import ServedSummary
from normalhedge.service.client._transport import NotAcknowledged

__all__ = [
    "AsyncClient",
    "AsyncServedMixture",
    "Client",
    "NotAcknowledged",
    "ServedMixture",
    "ServedSummary",
]
