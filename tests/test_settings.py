"""Options of a mixture are written once: whoever offers them offers all of them."""

from typing import Any

import click
import msgspec
import pytest

from normalhedge.cli._blend import command
from normalhedge.mixtures.state._settings import OPTIONS
from normalhedge.service import _mixture_forms as forms
from normalhedge.service.client import _encoding as encoding

BY_OTHER_MEANS = {"shared", "half_life", *(n for n in OPTIONS if OPTIONS[n].kind == "limit")}
"""Options that the command line does not have: ``--pooled`` and ``--memory`` say two of them."""


def test_the_form_of_http_has_every_option() -> None:
    found = {one.name: one.default for one in msgspec.structs.fields(forms.NewMixture)}
    assert found.keys() == {"name", *OPTIONS}
    schema = msgspec.json.schema(forms.NewMixture)["$defs"]["NewMixture"]
    assert schema["required"] == ["name"]
    for name, option in OPTIONS.items():
        assert option.text in str(schema["properties"][name]), name
    assert schema["description"].startswith("The settings of a new mixture")


def test_what_the_form_of_http_refuses() -> None:
    for wrong in ({"even": 1.5}, {"history": -1}, {"max_age": 0}, {"combine": 3}, {"hedger": None}):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert({"name": "x", **wrong}, forms.NewMixture)
    form: Any = msgspec.convert({"name": "x", "history": 0, "interval": [0.5]}, forms.NewMixture)
    assert (form.history, form.interval, form.max_names, form.even) == (0, [0.5], None, 0.0)


def test_the_command_line_has_every_option() -> None:
    texts = {one.name: one.help for one in command.params if isinstance(one, click.Option)}
    assert OPTIONS.keys() - texts.keys() == BY_OTHER_MEANS
    for name in OPTIONS.keys() - BY_OTHER_MEANS:
        assert OPTIONS[name].text in str(texts[name])


def test_the_client_knows_every_option() -> None:
    given = {name: option.as_json for name, option in OPTIONS.items()}
    assert encoding.encode_settings(given) == given
    encoding.check_same("x", given, {})
