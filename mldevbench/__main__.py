"""`python -m mldevbench`."""

from mldevbench.cli import main

main()
