#!/usr/bin/env bash
# Makes the harness venv: torch first and by its range, so that no other package chooses a build for us.
set -euo pipefail
python=$1 venv=$2
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "mldevbench needs Python 3.11 or newer; set PYTHON=" >&2; exit 1; }
if ! command -v bwrap >/dev/null; then
    echo "installing bubblewrap (the sandbox)" >&2
    bash "$(dirname "$0")/debian.sh" bubblewrap ||
        echo "bubblewrap could not be installed: going on with the weaker process sandbox; install the package 'bubblewrap'" >&2
fi
echo "making the harness venv (some minutes, once)" >&2
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
pip=("$venv/bin/python" -m pip install --quiet --disable-pip-version-check)
"${pip[@]}" --upgrade pip
"${pip[@]}" -c constraints.txt 'torch>=2.10,<2.14'
PYTHONWARNINGS=ignore "${pip[@]}" -c constraints.txt -e '.[dev]'  # setuptools has a word on every editable install
