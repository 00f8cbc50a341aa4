"""Which panels to develop on, and which to judge on: a rule that has seen no loss."""

from zlib import crc32

SALT = 3
DECREED = frozenset(
    {"eu-deaths", "flusight", "trump-approval", "stations", "innsbruck", "prices-be", "prices-de"}
)
KINDS = ("develop", "judge")


def kind(source: str) -> str:
    """Return whether to develop or to judge on the panels of a source.

    Examples
    --------
    >>> kind("trump-approval")
    'develop'
    """
    if source in DECREED:
        return "develop"
    return KINDS[crc32(f"{SALT} {source}".encode()) % 2]
