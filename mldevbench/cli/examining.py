"""What `mldevbench doctor` looks at; each look says what is there, or raises with what to do."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from mldevbench.errors import UserError

LEAST_FREE_GB = 5
PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY")
CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")


def where() -> str:
    from cluster.look import cluster_here, inside_job

    machine = f"Python {sys.version.split()[0]}, {os.cpu_count()} CPUs"
    if inside_job():
        return f"inside a Ray job; {machine}"
    here = cluster_here()
    if here:
        return f"on a node of the cluster {here}, which --address auto means; {machine}"
    return f"on a machine of its own; {machine}"


def task_venv(fix: bool) -> str:
    from mldevbench import task_venv

    if fix:
        constraints = Path(__file__).resolve().parents[2] / "constraints.txt"
        task_venv.build(constraints if constraints.is_file() else None)
    return str(task_venv.path())


def sandbox() -> str:
    from mldevbench.sandbox import Limits, cgroup
    from mldevbench.sandbox.opening import available

    why = available("bubblewrap")
    if why:
        raise UserError(f"bubblewrap doesn't work: {why}")
    group = cgroup.make(Limits())
    if group is None:
        return "bubblewrap works; memory and processes are watched, since no cgroup can be made here"
    group.remove()
    return f"bubblewrap works; memory and processes are limited by cgroups (version {group.version})"


def storage(name: str) -> str:
    from cluster.look import inside_job
    from mldevbench.store.place import check_writable, open_place

    if inside_job() and "://" not in name and not Path(name).is_absolute():
        raise UserError(f"{name!r} would be lost with the job's folder; give --storage as a full path or a URL")
    check_writable(open_place(name))
    return f"{name} can be written"


def disk(name: str, scratch: str | None) -> str:
    folders = {
        "storage": Path(name) if "://" not in name else Path.cwd(),
        "scratch": Path(scratch or tempfile.gettempdir()),
    }
    free = {what: _free_gb(folder) for what, folder in folders.items()}
    for what, gigabytes in free.items():
        if gigabytes < LEAST_FREE_GB:
            raise UserError(
                f"only {gigabytes:.1f} GB free for {what} ({folders[what]}); make room for {LEAST_FREE_GB} GB, "
                f"or choose another folder with --{what}"
            )
    return ", ".join(f"{gigabytes:.0f} GB free for {what}" for what, gigabytes in free.items())


def _free_gb(folder: Path) -> float:
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free / 1e9


def tasks(roots: Iterable[Path]) -> str:
    from mldevbench.catalog import Catalog

    catalog = Catalog.of(list(roots))
    broken = []
    for name in catalog.task_folders:
        try:
            catalog.task(name)
        except UserError as error:
            broken.append(str(error))
    if broken:
        raise UserError("; ".join(broken))
    return f"{len(catalog.task_folders)} tasks"


def agents(roots: Iterable[Path]) -> str:
    from mldevbench.agent_venv import installed
    from mldevbench.catalog import Catalog

    catalog = Catalog.of(list(roots))
    missing = []
    for name in catalog.agent_folders:
        agent = catalog.agent(name)
        if agent.file.venv is not None and installed(agent.folder, agent.file.venv) is None:
            missing.append(name)
    if missing:
        raise UserError(f"not installed: {', '.join(missing)}; 'mldevbench agents install NAME' does it where wanted")
    return f"{len(catalog.agent_folders)} agents, all installed"


def ray(address: str | None) -> str:
    from importlib.metadata import version

    from cluster.look import cluster_here, describe

    said = address or os.environ.get("RAY_ADDRESS")
    chosen = cluster_here() if said == "auto" else said
    if said == "auto" and not chosen:
        raise UserError(
            "this machine is no node of a cluster, so --address auto finds none; 'ray start --head' makes one"
        )
    if not chosen or chosen == "local":
        return f"Ray {version('ray')}, embedded while a study runs; --address or RAY_ADDRESS points to a cluster"
    return describe(chosen)


def token(address: str | None) -> str:
    from cluster.look import cluster_here

    mode = os.environ.get("RAY_AUTH_MODE", "")
    file = os.environ.get("RAY_AUTH_TOKEN_PATH")
    if mode != "token" and not (address or os.environ.get("RAY_ADDRESS") or cluster_here()):
        return "not needed: embedded Ray listens on this machine only"
    if mode != "token":
        raise UserError("off here; a cluster that others can reach wants RAY_AUTH_MODE=token (docs/cluster.md)")
    if file and not Path(file).is_file():
        raise UserError(f"RAY_AUTH_TOKEN_PATH names {file}, which isn't there; copy the cluster's token to it")
    if file and Path(file).stat().st_mode & 0o077:
        raise UserError(f"{file} can be read by others; chmod 600 {file}")
    return "token authentication is on"


def gpus() -> str:
    devices = sorted(path.name for path in Path("/dev").glob("nvidia[0-9]*"))
    if not devices:
        raise UserError("none here; mini needs none, full profiles want one on some node")
    return f"{len(devices)}: {', '.join(devices)}"


def keys() -> str:
    from mldevbench.model.spec import KEY_NAMES

    found = sorted({name for name in KEY_NAMES.values() if os.environ.get(name)})
    if not found:
        raise UserError("none in the environment; a model wants one, such as OPENAI_API_KEY, there or in --env-file")
    return f"set: {', '.join(found)}"


def wandb() -> str:
    from mldevbench.tracking.choice import choose

    choice = choose(None, None, os.environ)
    if not choice.on:
        return "off; --wandb offline or online turns it on"
    known = os.environ.get("WANDB_API_KEY") or "api.wandb.ai" in _netrc()
    if choice.mode == "online" and not known:
        raise UserError("online, but there is no key; set WANDB_API_KEY, or studies are logged offline")
    return f"{choice.mode}, project {choice.project}"


def _netrc() -> str:
    file = Path(os.environ.get("NETRC") or Path.home() / ".netrc")
    return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""


def network() -> str:
    proxies = [name for name in PROXIES if os.environ.get(name) or os.environ.get(name.lower())]
    for name in CERTIFICATES:
        if os.environ.get(name) and not Path(os.environ[name]).exists():
            raise UserError(f"{name} names {os.environ[name]}, which isn't there; calls over TLS will fail")
    bundles = [name for name in CERTIFICATES if os.environ.get(name)]
    return f"proxies: {', '.join(proxies) or 'none'}; own certificates: {', '.join(bundles) or 'none'}"
