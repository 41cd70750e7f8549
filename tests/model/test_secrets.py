from __future__ import annotations

import base64
import json
import urllib.parse
from pathlib import Path

import pytest

from mldevbench.errors import UserError
from mldevbench.model.secrets import Scrubber, read_env_file

KEY = 'sk-test/"quoted"+0123456789'


@pytest.mark.parametrize(
    "text",
    [
        KEY,
        json.dumps({"key": KEY}),
        urllib.parse.quote(KEY, safe=""),
        base64.b64encode(KEY.encode()).decode(),
        KEY.encode().hex(),
        f"{KEY}{KEY}",
    ],
)
def test_every_form_is_blotted_out(text: str) -> None:
    scrubbed = Scrubber([KEY])(f"before {text} after")
    assert text.strip('{}"= ') not in scrubbed and KEY not in scrubbed
    assert scrubbed.startswith("before ") and scrubbed.endswith(" after")


def test_short_and_missing_values_blot_out_nothing() -> None:
    assert Scrubber(["none", "", None])("none of it") == "none of it"


def test_env_file(tmp_path: Path) -> None:
    path = tmp_path / "keys.env"
    path.write_text("# keys\n\nexport A=1\nB = 'two words'\nC=\"x=y\"\n", encoding="utf-8")
    assert read_env_file(path) == {"A": "1", "B": "two words", "C": "x=y"}
    path.write_text("no equals sign\n", encoding="utf-8")
    with pytest.raises(UserError, match="line 1"):
        read_env_file(path)
    with pytest.raises(UserError, match="no such file"):
        read_env_file(tmp_path / "absent")
