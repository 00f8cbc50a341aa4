"""Mixtures on streams of JSON lines, and the file in which a stream keeps its mixture."""

from normalhedge.mixtures.streams._budget import Budget as Budget
from normalhedge.mixtures.streams._lines import LONGEST as LONGEST, batches as batches
from normalhedge.mixtures.streams._state_file import MixtureFile as MixtureFile
from normalhedge.mixtures.streams._stream import (
    Stream as Stream,
    plain_prediction as plain_prediction,
)
