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


app.command("run")(run.run)
app.command("submit", context_settings=submit.SETTINGS)(submit.submit)
app.command("status")(status.status)
app.command("cancel")(cancel.cancel)
app.command("runs")(runs.runs)
app.command("show")(show.show)
app.command("rerun")(rerun.rerun)
app.command("void")(void.void)
app.command("regrade")(regrade.regrade)
app.command("report")(report.report)
app.command("compare")(compare.compare)
app.command("plan")(plan.plan)
app.command("variance", context_settings=PASS_ON)(variance.variance)
app.command("scale", context_settings=PASS_ON)(scale.scale)
app.command("view")(view.view)
app.command("export")(share.export)
app.command("import")(share.import_)
app.command("merge")(share.merge)
app.command("prune")(share.prune)
app.command("doctor")(doctor.doctor)
app.add_typer(tasks.app, name="tasks", help="List, prove and make tasks.")
app.add_typer(assets.app, name="assets", help="List, fetch and verify the data that profiles need.")
app.add_typer(agents.app, name="agents", help="List agents.")
