"""Rules of a mixture: the default, single hedgers by name, and hedgers of the user's own."""

from normalhedge._core import (
    CONTEXTS as CONTEXTS,
    CORRECTED_BY_CONTEXTS as CORRECTED_BY_CONTEXTS,
    CORRECTIONS as CORRECTIONS,
    TRUST_IN_BASE as TRUST_IN_BASE,
)
from normalhedge.mixtures.rules._automatic import (
    BASE as BASE,
    Automatic as Automatic,
    Prior as Prior,
)
from normalhedge.mixtures.rules._components import ledger_weights as ledger_weights
from normalhedge.mixtures.rules._insurance import levels_of as levels_of, part_of as part_of
from normalhedge.mixtures.rules._own_hedgers import OwnStates as OwnStates
from normalhedge.mixtures.rules._rule_names import (
    MEMORY as MEMORY,
    automatic_of as automatic_of,
    hedger_of as hedger_of,
    is_automatic as is_automatic,
    with_memory as with_memory,
)
