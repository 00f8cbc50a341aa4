"""The settings and the state of a mixture, and the forms of its rounds."""

from normalhedge.mixtures.state._classes import (
    join_classes as join_classes,
    named_classes as named_classes,
    number_classes as number_classes,
    number_outcome as number_outcome,
    order_classes as order_classes,
    shape_classes as shape_classes,
)
from normalhedge.mixtures.state._combining import combine as combine
from normalhedge.mixtures.state._contexts import (
    MOST_CELLS as MOST_CELLS,
    check_cells as check_cells,
    check_count as check_count,
    check_name as check_name,
    contexts_of as contexts_of,
    plan_cells as plan_cells,
    read_context as read_context,
    refuse_contexts as refuse_contexts,
    takes_contexts as takes_contexts,
    value_text as value_text,
)
from normalhedge.mixtures.state._core_settings import (
    RoundInput as RoundInput,
    RoundRecord as RoundRecord,
    Schedule as Schedule,
)
from normalhedge.mixtures.state._forecasts import (
    SUM_TOLERANCE as SUM_TOLERANCE,
    Keys as Keys,
    as_mapping as as_mapping,
    check_confidence as check_confidence,
    read as read,
    read_outcome as read_outcome,
)
from normalhedge.mixtures.state._mixture_state import (
    INSIDE as INSIDE,
    MixtureState as MixtureState,
    item_indices as item_indices,
    let_sleep as let_sleep,
    widen as widen,
)
from normalhedge.mixtures.state._operations import (
    CANNOT_BE_REPEATED as CANNOT_BE_REPEATED,
    Operation as Operation,
    id_text as id_text,
)
from normalhedge.mixtures.state._settings import (
    HISTORY as HISTORY,
    LIMITS as LIMITS,
    MAX_NAMES as MAX_NAMES,
    MAX_PENDING as MAX_PENDING,
    OPTIONS as OPTIONS,
    PLAIN as PLAIN,
    RECIPE as RECIPE,
    SINGLE as SINGLE,
    MixtureOptions,
    MixtureSettings,
    Option as Option,
)
from normalhedge.mixtures.state._table_facts import (
    DeferredOutcome as DeferredOutcome,
    LastTable as LastTable,
    TableFacts as TableFacts,
)
from normalhedge.mixtures.state._tickets import (
    PendingRound as PendingRound,
    Prediction,
    shape_values as shape_values,
)
from normalhedge.mixtures.state.sum_rows import (
    EXPERT_SUMS as EXPERT_SUMS,
    LAST as LAST,
    REGRET as REGRET,
    SETTLED as SETTLED,
    STEPS as STEPS,
    TOTAL_SUMS as TOTAL_SUMS,
    WILD as WILD,
)

__all__ = ["MixtureOptions", "MixtureSettings", "Prediction"]
