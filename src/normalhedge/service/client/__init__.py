"""Mixtures and routers of a server of ``normalhedge serve``, used as if they were here."""

from normalhedge.service.client._asynchronous import AsyncClient
from normalhedge.service.client._blocking import Client, ServedMixture, ServedRouter
from normalhedge.service.client._mixtures import AsyncServedMixture
from normalhedge.service.client._routers import AsyncServedRouter
from normalhedge.service.client._summaries import ServedRouterSummary, ServedSummary
from normalhedge.service.client._transport import NotAcknowledged

__all__ = [
    "AsyncClient",
    "AsyncServedMixture",
    "AsyncServedRouter",
    "Client",
    "NotAcknowledged",
    "ServedMixture",
    "ServedRouter",
    "ServedRouterSummary",
    "ServedSummary",
]
