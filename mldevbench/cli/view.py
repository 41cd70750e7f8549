"""`mldevbench view`: the pages over a study, while it runs or later."""

from __future__ import annotations

from typing import Annotated

import typer

from mldevbench.cli.output import Storage, StudyName, note


def view(
    study: StudyName,
    storage: Storage = "results",
    port: Annotated[int, typer.Option("--port", envvar="MLDEVBENCH_PORT", help="0 takes a free one.")] = 8377,
    browser: Annotated[bool, typer.Option("--browser", help="Open the page in the browser.")] = False,
) -> None:
    """Serve a page that follows a study: runs, trajectories, checks, figures. Only this machine can reach it.

    From elsewhere: ssh -L 8377:127.0.0.1:8377 HOST, or kubectl port-forward POD 8377, then open http://localhost:8377/
    """
    from mldevbench.store.study_store import find_study
    from mldevbench.view import serve

    with serve(find_study(study, storage), study.rstrip("/").rsplit("/", 1)[-1], port) as server:
        note(f"study {study}: {server.url} (Ctrl-C ends it)")
        if browser:
            import webbrowser

            webbrowser.open(server.url)
        try:
            server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            note("ended")
