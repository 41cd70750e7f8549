"""`mldevbench doctor`: one line for each thing, a remedy where something is missing, and the right exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support import Cli

from cluster import look
from mldevbench.cli import examining
from mldevbench.errors import UserError


def test_every_finding_is_one_line(cli: Cli, task_venv: Path) -> None:
    done = cli("doctor")
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stdout
    assert all(line.startswith(("ok  ", "note")) for line in lines)
    found = json.loads(cli("doctor", "--json").stdout)
    assert [one["what"] for one in found] == [line[6:16].strip() for line in lines]
    assert {"where", "sandbox", "storage", "disk", "Ray", "GPUs", "model keys", "W&B"} <= {one["what"] for one in found}


def test_what_every_study_needs_fails_it(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    done = cli("doctor", "--storage", "file/below", "--address", "127.0.0.1:9")
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAIL")]
    assert done.returncode == 1 and len(failed) == 2, done.stdout
    assert "choose another with --storage" in failed[0] and "nobody answers at 127.0.0.1:9" in failed[1]


def test_inside_a_job_a_relative_storage_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_JOB_CONFIG_JSON_ENV_VAR", "{}")
    assert examining.where().startswith("inside a Ray job")
    with pytest.raises(UserError, match="would be lost with the job's folder"):
        examining.storage("results")
    assert examining.storage(str(tmp_path)).endswith("can be written")


def test_a_cluster_file_that_tells_of_a_dead_cluster_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ray").mkdir()
    (tmp_path / "ray" / "ray_current_cluster").write_text("127.0.0.1:9", encoding="utf-8")
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    assert look.cluster_here() is None
    monkeypatch.setattr(look, "answers", lambda address: True)
    assert look.cluster_here() == "127.0.0.1:9"


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"RAY_ADDRESS": "head:6379"}, "off here"),
        ({"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": "/gone"}, "names /gone, which isn't there"),
        ({"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": "open"}, "can be read by others"),
    ],
)
def test_a_token_that_does_not_protect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clean_environment: None, environment: dict[str, str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("open").write_text("0" * 64, encoding="ascii")
    Path("open").chmod(0o644)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(UserError, match=said):
        examining.token(None)


def test_wandb_online_without_a_key_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETRC", str(tmp_path / "none"))
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    monkeypatch.setenv("WANDB_MODE", "online")
    with pytest.raises(UserError, match="there is no key"):
        examining.wandb()
    monkeypatch.setenv("WANDB_API_KEY", "0" * 40)
    assert examining.wandb() == "online, project mldevbench"


def test_certificates_that_are_not_there_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/gone.pem")
    with pytest.raises(UserError, match=r"SSL_CERT_FILE names /gone\.pem"):
        examining.network()
