"""The shipped Ray configurations: valid where Ray has a schema, with tokens on, no keys in them, and true options."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

CONFIGS = Path(__file__).parents[1] / "ray_configs"
CLUSTERS = ("machines.yaml", "gpu-cluster.yaml")
KUBERAY = ("kuberay-cluster.yaml", "kuberay-job.yaml")


def read(name: str) -> Any:
    return yaml.safe_load((CONFIGS / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", CLUSTERS)
def test_ray_up_takes_it(name: str) -> None:
    from ray.autoscaler._private.util import prepare_config, validate_config

    validate_config(prepare_config(read(name)))


@pytest.mark.parametrize("name", CLUSTERS)
def test_every_ray_start_of_a_cluster_has_the_token(name: str) -> None:
    config = read(name)
    starts = [line for key in ("head", "worker") for line in config[f"{key}_start_ray_commands"] if "ray start" in line]
    assert len(starts) == 2 and all("RAY_AUTH_MODE=token" in line for line in starts)
    assert "~/.ray/auth_token" in config["file_mounts"]


def cluster_of(name: str) -> dict[str, Any]:
    spec = read(name)["spec"]
    return spec.get("rayClusterSpec", spec)


def containers(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    spec = cluster_of(name)
    for kind, group in [("head", spec["headGroupSpec"]), *(("worker", one) for one in spec["workerGroupSpecs"])]:
        for container in group["template"]["spec"]["containers"]:
            yield kind, container


@pytest.mark.parametrize("name", KUBERAY)
def test_pods_can_open_sandboxes_and_take_keys_from_a_secret(name: str) -> None:
    spec = cluster_of(name)
    assert spec["authOptions"] == {"mode": "token"}
    for kind, container in containers(name):
        context = container["securityContext"]
        assert context["capabilities"]["add"] == ["SYS_ADMIN"] and context["procMount"] == "Unmasked"
        assert context["seccompProfile"]["type"] == context["appArmorProfile"]["type"] == "Unconfined"
        assert ("envFrom" in container) == (kind == "head")
        assert "env" not in container


@pytest.mark.parametrize("name", KUBERAY)
def test_versions_agree_with_the_package(name: str) -> None:
    pinned = re.search(r'"ray\[default\]==([\d.]+)"', (CONFIGS.parent / "pyproject.toml").read_text(encoding="utf-8"))
    assert pinned and cluster_of(name)["rayVersion"] == pinned[1]


def test_a_job_that_ended_is_not_started_again_by_itself() -> None:
    spec = read("kuberay-job.yaml")["spec"]
    assert spec["backoffLimit"] == 0 and spec["submitterConfig"]["backoffLimit"] == 0
    assert set(yaml.safe_load(spec["runtimeEnvYAML"])["env_vars"]) == {"RAY_JOB_STOP_WAIT_TIME_S"}


def test_slurm_script_is_sound() -> None:
    done = subprocess.run(["bash", "-n", str(CONFIGS / "slurm.sh")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    text = (CONFIGS / "slurm.sh").read_text(encoding="utf-8")
    assert "RAY_AUTH_MODE=token" in text and "umask 077" in text


def fake_programs(folder: Path, driver: str) -> None:
    """Put stand-ins for Slurm, Ray and the driver where the script looks for them."""
    programs = {
        "scontrol": "echo localhost; echo localhost",
        "srun": 'while [[ $1 == --* ]]; do shift; done; exec "$@"',
        "ray": 'if [ "$1" = start ]; then echo "$@" >> "$STARTS"; exec sleep 600; fi',
        "mldevbench": f'trap "exit 130" TERM; echo "$@" > "$STARTS.run"; {driver}',
    }
    folder.mkdir(parents=True)
    for name, text in programs.items():
        (folder / name).write_text(f"#!/usr/bin/env bash\n{text}\n", encoding="utf-8")
        (folder / name).chmod(0o755)


@pytest.mark.parametrize(
    ("driver", "told", "code"),
    [("exit 3", False, 3), ("exit 0", False, 0), ("while true; do sleep 0.1; done", True, 130)],
)
def test_the_slurm_script_ends_with_the_code_of_its_driver(tmp_path: Path, driver: str, told: bool, code: int) -> None:
    fake_programs(tmp_path / ".venv" / "bin", driver)
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(tmp_path), "SLURM_SUBMIT_DIR": str(tmp_path), "SLURM_JOB_ID": "7",
        "SLURM_JOB_NODELIST": "localhost", "STARTS": str(tmp_path / "starts"), "SLURM_GPUS_ON_NODE": "4",
    }  # fmt: skip
    script = subprocess.Popen(["bash", str(CONFIGS / "slurm.sh"), "--task", "all"], env=environment, cwd=tmp_path)
    deadline = time.monotonic() + 60
    while told and not (tmp_path / "starts.run").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    if told:
        script.send_signal(signal.SIGTERM)
    assert script.wait(60) == code
    assert (tmp_path / "starts.run").read_text(encoding="utf-8").endswith("--task all\n")
    assert not list(tmp_path.glob(".mldevbench-*")), "the token was left behind"


def known_options() -> set[str]:
    import typer

    from mldevbench.cli.app import app

    command = typer.main.get_command(app).commands["run"]  # type: ignore[attr-defined]
    return {name for option in command.params for name in option.opts}


def test_commands_in_the_configurations_have_true_options() -> None:
    known = known_options() | {"--json"}
    entry = shlex.split(read("kuberay-job.yaml")["spec"]["entrypoint"])
    assert entry[:3] == ["python", "-m", "cluster"]
    used = {word for word in entry if word.startswith("--")}
    for line in (CONFIGS / "embedded.env").read_text(encoding="utf-8").splitlines():
        if match := re.match(r"MLDEVBENCH_(\w+)=", line):
            used.add("--" + match[1].lower().replace("_", "-"))
    used |= set(
        re.findall(r"(--(?:address|storage|scratch|env-file)) ", (CONFIGS / "slurm.sh").read_text(encoding="utf-8"))
    )
    assert used <= known, used - known


def test_what_the_image_copies_is_there() -> None:
    lines = (CONFIGS / "Dockerfile").read_text(encoding="utf-8").splitlines()
    copied = [name for line in lines if line.startswith("COPY ") for name in line.split()[1:-1]]
    assert copied and all((CONFIGS.parent / name).exists() for name in copied)
    assert {"mldevbench", "cluster", "tasks", "agents"} <= set(copied)


def test_no_configuration_holds_a_key() -> None:
    for path in CONFIGS.iterdir():
        assert not re.search(r"(sk-[A-Za-z0-9]|API_KEY\s*[:=]\s*[A-Za-z0-9]{8})", path.read_text(encoding="utf-8")), (
            path
        )
