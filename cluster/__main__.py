"""`python -m cluster ARGS` is `mldevbench run ARGS`."""

import sys

from mldevbench.cli import main

sys.argv[1:1] = ["run"]
main()
