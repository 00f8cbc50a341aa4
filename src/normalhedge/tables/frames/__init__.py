"""Tables as columns of arrays: the forms of frames, the roles of columns, times, panels."""

from normalhedge.tables.frames._columns import (
    MODELS as MODELS,
    SERIES as SERIES,
    TARGETS as TARGETS,
    TIMES as TIMES,
    Columns as Columns,
    as_tuple as as_tuple,
    count_experts as count_experts,
    guess as guess,
)
from normalhedge.tables.frames._dates import (
    Grouping as Grouping,
    as_dates as as_dates,
    calendar as calendar,
)
from normalhedge.tables.frames._frames import (
    encoded as encoded,
    floats as floats,
    is_empty as is_empty,
    is_number as is_number,
    is_text as is_text,
    may_hold_numbers as may_hold_numbers,
    refuse_other_than_numbers as refuse_other_than_numbers,
    sortable as sortable,
    time_kind as time_kind,
    to_arrow as to_arrow,
    words as words,
)
from normalhedge.tables.frames._panels import (
    Panel as Panel,
    agreed as agreed,
    named_items as named_items,
    read_panel as read_panel,
    refuse_outcomes as refuse_outcomes,
)
from normalhedge.tables.frames._whole import WholeTable as WholeTable
