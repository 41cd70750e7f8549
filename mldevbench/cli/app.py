"""The commands, put together."""

from __future__ import annotations

import typer

from mldevbench import __version__
from mldevbench.cli import (
    agents,
    assets,
    cancel,
    compare,
    doctor,
    plan,
    regrade,
    report,
    rerun,
    run,
    runs,
    scale,
    share,
    show,
    status,
    submit,
    tasks,
    variance,
    view,
    void,
)
from mldevbench.cli.studying import PASS_ON

RUN, LOOK, ANALYSE = "Run", "Look at results", "Tell what they mean"
KEEP, SET_UP = "Share and tidy", "Set up, tasks and agents"

app = typer.Typer(
    name="mldevbench",
    help="Evaluate AI agents on machine-learning development work, on a laptop or a Ray cluster.",
    epilog="Start with: mldevbench run --agent oracle --task hello_world",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    pass


app.command("run", rich_help_panel=RUN)(run.run)
app.command("submit", rich_help_panel=RUN, context_settings=submit.SETTINGS)(submit.submit)
app.command("status", rich_help_panel=RUN)(status.status)
app.command("cancel", rich_help_panel=RUN)(cancel.cancel)
app.command("rerun", rich_help_panel=RUN)(rerun.rerun)
app.command("void", rich_help_panel=RUN)(void.void)
app.command("regrade", rich_help_panel=RUN)(regrade.regrade)
app.command("runs", rich_help_panel=LOOK)(runs.runs)
app.command("show", rich_help_panel=LOOK)(show.show)
app.command("report", rich_help_panel=LOOK)(report.report)
app.command("view", rich_help_panel=LOOK)(view.view)
app.command("compare", rich_help_panel=ANALYSE)(compare.compare)
app.command("plan", rich_help_panel=ANALYSE)(plan.plan)
app.command("variance", rich_help_panel=ANALYSE, context_settings=PASS_ON)(variance.variance)
app.command("scale", rich_help_panel=ANALYSE, context_settings=PASS_ON)(scale.scale)
app.command("export", rich_help_panel=KEEP)(share.export)
app.command("import", rich_help_panel=KEEP)(share.import_)
app.command("merge", rich_help_panel=KEEP)(share.merge)
app.command("prune", rich_help_panel=KEEP)(share.prune)
app.command("doctor", rich_help_panel=SET_UP)(doctor.doctor)
app.add_typer(tasks.app, name="tasks", rich_help_panel=SET_UP, help="List, prove and make tasks.")
app.add_typer(
    assets.app, name="assets", rich_help_panel=SET_UP, help="List, fetch and verify the data that profiles need."
)
app.add_typer(agents.app, name="agents", rich_help_panel=SET_UP, help="List, install, check and make agents.")
