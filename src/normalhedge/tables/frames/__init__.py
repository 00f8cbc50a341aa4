"""Tables as columns of arrays: the forms of frames, the roles of columns, times, panels."""

from normalhedge.tables.frames._columns import (
    MODELS as MODELS,
    SERIES as SERIES,
    TARGETS as TARGETS,
    TIMES as TIMES,
    Columns as Columns,
    WholeTable as WholeTable,
    as_tuple as as_tuple,
    check_name as check_name,
    check_names as check_names,
    count_experts as count_experts,
    free_numbers as free_numbers,
    guess as guess,
)
from normalhedge.tables.frames._contexts import (
    DATE_PARTS as DATE_PARTS,
    STEP as STEP,
    Calendar as Calendar,
    RowContext as RowContext,
    check_contexts as check_contexts,
    local_date as local_date,
)
from normalhedge.tables.frames._conversion import to_arrow as to_arrow
from normalhedge.tables.frames._day_first import (
    WrittenDates as WrittenDates,
    read_dates as read_dates,
    written_order as written_order,
)
from normalhedge.tables.frames._frames import (
    encode as encode,
    floats as floats,
    free_name as free_name,
    is_empty as is_empty,
    is_number as is_number,
    is_text as is_text,
    may_hold_numbers as may_hold_numbers,
    refuse_other_than_numbers as refuse_other_than_numbers,
    replace_column as replace_column,
    words as words,
)
from normalhedge.tables.frames._panels import (
    BLOCK as BLOCK,
    Panel as Panel,
    merge_outcomes as merge_outcomes,
    named_items as named_items,
    read_panel as read_panel,
    refuse_outcomes as refuse_outcomes,
    repeated_rows as repeated_rows,
    series_of as series_of,
)
from normalhedge.tables.frames._times import (
    as_dates as as_dates,
    sortable as sortable,
    time_kind as time_kind,
)
