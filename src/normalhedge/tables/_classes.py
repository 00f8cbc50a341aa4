"""Class probabilities in tables: columns of classes, or one probability of what may happen.

Columns alone decide which classes there are; outcomes must be among them. So the classes of a row
do not depend on later rows.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from normalhedge.boundary import extras
from normalhedge.mixtures import Mixture
from normalhedge.mixtures.losses import CLASS_LOSS, Loss, loss_of
from normalhedge.mixtures.state import named_classes
from normalhedge.tables._cleaning import Labels, class_names
from normalhedge.tables.frames import (
    MODELS,
    TARGETS,
    Columns,
    encode,
    free_numbers,
    is_text,
    replace_column,
)

FORECASTS = ("forecast", "prediction", "value")
"""The usual names of the column of forecasts of a long table."""

HAPPENED = {"yes": 1, "no": 0, "true": 1, "false": 0, "y": 1, "n": 0, "t": 1, "f": 0}
"""Texts that say whether something happened."""


def with_loss(options: Mapping[str, Any], columns: Columns) -> dict[str, Any]:
    """Return the options of a new mixture, with the default loss of class probabilities."""
    if columns.of_classes and options.get("loss") is None:
        return {**options, "loss": CLASS_LOSS}
    return dict(options)


def check_classes(mixture: Mixture, columns: Columns) -> None:
    """Refuse columns of other classes than a mixture names, or in another order."""
    named = named_classes(mixture.live.classes)
    if named and named not in class_names(columns.classes or [""]):
        shown = ", ".join(columns.classes) or "probabilities of one event"
        raise ValueError(
            f"the classes of the mixture are {', '.join(named)}: the table must have a column for "
            f"each, and classes must name them in this order, got {shown}"
        )


def find_classes(
    table: Any, spec: Columns, mixture: Mixture | None, options: Mapping[str, Any]
) -> tuple[Any, Columns, Labels | None]:
    """Return a table of numbers, its columns and its labels, if forecasts are probabilities.

    Otherwise the same table and columns, and no labels.
    """
    loss = _loss(mixture, options)
    names, target = table.column_names, spec.target
    target = target or next((name for name in TARGETS if name in names), None)
    if target not in names or (loss is not None and not loss.of_classes):
        return table, spec, None
    kind = table.schema.field(target).type
    if not spec.classes and loss is None and is_text(kind):
        found = _columns_of_classes(table, spec, str(target))
        words = set(filter(None, encode(table[target])[0]))
        if found.classes or not words or not all(word.lower() in HAPPENED for word in words):
            if not found.classes and len(words) == 2:
                raise ValueError(
                    f"column {target} must hold numbers, it holds the texts "
                    f"{' and '.join(map(repr, sorted(words)))}: if the forecasts are probabilities "
                    "of one of them, name both with classes, that one last"
                )
            return table, found, None
    of_columns = any(name in names for name in spec.classes)
    boolean = extras.require("pyarrow.types").is_boolean(kind)
    if of_columns or (loss is None and not (boolean or is_text(kind)) and not spec.classes):
        return table, spec, None
    found = _columns_of_classes(table, spec, str(target)) if is_text(kind) else spec
    if found.classes and not spec.classes:
        return table, found, None
    return _one_probability(table, spec, str(target))


def _loss(mixture: Mixture | None, options: Mapping[str, Any]) -> Loss | None:
    """Return the loss that was named; None if none was."""
    if mixture is not None:
        return mixture.settings.loss
    named = options.get("loss")
    if named == "zero-one":  # of labels: see `Labels`
        named = "absolute"
    return None if named is None else loss_of(named)


def _columns_of_classes(table: Any, spec: Columns, target: str) -> Columns:
    """Return the columns with the classes of a long table whose outcomes are text, if it is one."""
    names = table.column_names
    long = spec.model or next((name for name in MODELS if name in names), None)
    given = spec.classes or spec.forecast or spec.experts is not None
    if long is None or given or any(name in names for name in FORECASTS):
        return spec
    free = free_numbers(table, spec, {target, long})
    words = set(filter(None, encode(table[target])[0]))
    if len(free) < 2 or not words:
        return spec
    if not any(words <= set(labels) for labels in class_names(free)):
        unknown = sorted(words - set(class_names(free)[1]))
        raise ValueError(
            f"column {target} has {unknown[0]!r}, and none of the columns of probabilities has "
            f"this name: {', '.join(free[:6])}; name the columns with classes, or the column of "
            "forecasts with forecast"
        )
    note = f"classes: {', '.join(free[:6])}{', ...' if len(free) > 6 else ''}"
    return replace(spec, classes=tuple(free), notes=[*spec.notes, note])


def _one_probability(table: Any, spec: Columns, target: str) -> tuple[Any, Columns, Labels | None]:
    """Return a table whose forecasts are probabilities of one event, with outcomes 0 and 1."""
    kind = table.schema.field(target).type
    columns = replace(spec, classes=(), binary=True)
    if not is_text(kind):
        if spec.classes:
            raise ValueError(
                f"classes must name columns of probabilities, or two texts of column {target}; "
                f"it holds {kind}, and there is no column {spec.classes[0]}"
            )
        numbers = table[target].cast(extras.require("pyarrow").float64(), safe=False)
        return replace_column(table, target, numbers), columns, None
    words = sorted(filter(None, encode(table[target])[0]))
    if len(spec.classes) == 2:
        numbers = {spec.classes[0]: 0, spec.classes[1]: 1}
    elif words and all(word.lower() in HAPPENED for word in words):
        numbers = {word: HAPPENED[word.lower()] for word in words}
    else:
        shown = ", ".join(map(repr, words[:3])) + ", ..." * (len(words) > 3)
        raise ValueError(
            f"column {target} must say whether something happened (0 and 1, true and false, yes "
            f"and no), it holds {shown}: name its two texts with classes, the one that the "
            "probabilities are of last"
        )
    labels = Labels(numbers, [target])
    return labels.encode(table), columns, labels
