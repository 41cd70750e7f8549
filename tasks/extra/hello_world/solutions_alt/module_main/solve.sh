# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
python - <<'PYTHON'
from pathlib import Path

line = Path("greeting.txt").read_text(encoding="utf-8").strip()
Path("hello.py").write_text(
    "import sys\n\n\ndef main() -> int:\n"
    f"    sys.stdout.write({line!r} + '\\n')\n    return 0\n\n\n"
    "if __name__ == '__main__':\n    sys.exit(main())\n",
    encoding="utf-8",
)
PYTHON
