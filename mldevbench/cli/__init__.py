"""The command line; nothing heavy is imported until a command needs it."""

from __future__ import annotations

import gc
import os
import sys
from typing import NoReturn

# A tenth of a command's time would go into looking for rings among the modules that it has just imported.
NEW_OBJECTS = 50_000


def main() -> None:
    """Run one command; errors that people can mend are one line and exit code 2."""
    gc.set_threshold(NEW_OBJECTS)
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
        _leave_at_once(130)
    except SystemExit as end:
        if end.code == 130:
            _leave_at_once(130)
        raise
    except BrokenPipeError:  # the reader of our output, `head` for example, has seen enough
        sys.stderr.close()
        raise SystemExit(0) from None


def _leave_at_once(code: int) -> NoReturn:
    """Spare who stops us the interpreter's own tidying, which takes a busy machine seconds; nothing is left to do."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
