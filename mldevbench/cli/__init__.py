"""The command line; nothing heavy is imported until a command needs it."""

from __future__ import annotations

import sys


def main() -> None:
    """Run one command; errors that people can mend are one line and exit code 2."""
    from mldevbench.cli.app import app
    from mldevbench.errors import Fault, UserError

    try:
        app()
    except UserError as error:
        print(f"mldevbench: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except Fault as fault:
        print(f"mldevbench: {fault}; the same command goes on where this one stopped", file=sys.stderr)
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except BrokenPipeError:  # the reader of our output, `head` for example, has seen enough
        sys.stderr.close()
        raise SystemExit(0) from None
