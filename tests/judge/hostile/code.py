"""Code as an attacker submits it: it must double its input, does not, and wants to be believed nevertheless."""

from __future__ import annotations

import textwrap
from typing import NamedTuple

FORGE = """
    import json, os, struct
    header = json.dumps({header}).encode()
    name = [n for n in os.listdir(".") if n.startswith(".answer-")][0]
    open(name, "wb").write(b"MLDBROOM" + struct.pack("<Q", {length}) + header + {data})
    os._exit(0)
"""


class Code(NamedTuple):
    name: str
    files: dict[str, str]  # laid into the workspace; model.py is what the probe imports
    seen: str  # what the failed check says


def model(body: str, *, top: str = "") -> dict[str, str]:
    """Return a model.py whose `double` has this body, after some lines at its top."""
    inner = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    return {"model.py": f"{textwrap.dedent(top)}\ndef double(x):\n{inner}\n"}


def forged(header: str, length: str = "len(header)", data: str = "b''") -> dict[str, str]:
    return model(FORGE.format(header=header, length=length, data=data))


HONEST = "def double(x):\n    return x * 2\n"
WRONG = "values are not"
NO_ANSWER = "before it answered"

TABLE = [
    Code("ends at import with success", model("return x * 2", top="import os; os._exit(0)"), NO_ANSWER),
    Code("ends at import by SystemExit", model("return x * 2", top="raise SystemExit(0)"), "exit code"),
    Code(
        "prints success and ends",
        model("print('all tests passed', flush=True); import os; os._exit(0)"),
        "all tests passed",
    ),
    Code("raises", model("raise RuntimeError('no')"), "RuntimeError: no"),
    Code("does not compile", {"model.py": "def double(x:"}, "SyntaxError"),
    Code("is missing", {"other.py": ""}, "no file model.py"),
    Code("never ends", model("while True: pass"), "none by then"),
    Code("sleeps at import", model("return x * 2", top="import time; time.sleep(1000)"), "none by then"),
    Code("returns nothing", model("return None"), "no array of plain numbers"),
    Code("returns the input", model("return x"), WRONG),
    Code("returns zeros", model("return x * 0"), WRONG),
    Code("returns NaN", model("return x * float('nan')"), "NaN or infinite"),
    Code("returns infinity", model("return x * float('inf')"), "NaN or infinite"),
    Code("returns one value for all", model("return x[:1]"), "shape"),
    Code("returns a whole-number array", model("return (x * 2).astype('int64')"), "whole-number"),
    Code("returns text", model("return [str(v * 2) for v in x]"), "no array of plain numbers"),
    Code("returns an array of objects", model("return (x * 2).astype(object)"), "can't be handed over"),
    Code("returns complex numbers", model("return x * (2 + 0j)"), "can't be handed over"),
    Code("returns a generator", model("return (v * 2 for v in x)"), "not JSON serializable"),
    Code("returns more than it may", model("import numpy; return numpy.zeros(10**8)"), "larger than"),
    Code(
        "returns a view of a terabyte",
        model("import numpy; return numpy.broadcast_to(x[:1], (10**6, 10**6))"),
        "larger than",
    ),
    Code(
        "always equal",
        model("return Yes()", top="class Yes:\n    def __eq__(self, other): return True\n    __le__ = __ge__ = __eq__"),
        "not JSON serializable",
    ),
    Code(
        "array that claims to be close",
        model(
            "return x.view(Yes)",
            top="""
            import numpy
            class Yes(numpy.ndarray):
                def __eq__(self, other): return numpy.ones(self.shape, bool)
                def __sub__(self, other): return numpy.zeros(self.shape)
                __rsub__ = __sub__
                def __array_function__(self, *a): return True
                def __array_ufunc__(self, *a, **k): return numpy.zeros(self.shape)
            """,
        ),
        WRONG,
    ),
    Code(
        "patches every comparison",
        model(
            "return x",
            top="""
            import builtins, math, numpy
            numpy.allclose = numpy.array_equal = numpy.isclose = lambda *a, **k: True
            numpy.testing.assert_allclose = lambda *a, **k: None
            math.isclose = lambda *a, **k: True
            builtins.all = lambda *a: True
            """,
        ),
        WRONG,
    ),
    Code(
        "replaces the runner's own functions",
        model(
            "return x",
            top="""
            import json, os, sys, struct
            runner = sys.modules["__main__"]
            runner.encode = lambda *a: [b"MLDBROOM", struct.pack("<Q", 2), b"{}"]
            runner.decode = None
            os.write = print
            json.dumps = lambda *a, **k: "{}"
            """,
        ),
        "in the form",
    ),
    Code("empties sys.modules", model("import sys; sys.modules.clear(); return x"), ""),
    Code("forges: empty object", forged("{}"), "wrong form"),
    Code("forges: header of 2^63 bytes", forged("{}", "1 << 63"), "too long"),
    Code("forges: not JSON", forged("{}", "1"), ""),
    Code("forges: NaN", forged("{'values': {'outputs': float('nan')}, 'arrays': []}"), "NaN is no JSON number"),
    Code(
        "forges: object dtype",
        forged("{'values': {}, 'arrays': [['outputs', 'O8', [1]]]}", data="b'12345678'"),
        "described",
    ),
    Code("forges: list as dtype", forged("{'values': {}, 'arrays': [['outputs', ['f4'], [1]]]}"), "described"),
    Code(
        "forges: huge shape", forged("{'values': {}, 'arrays': [['outputs', 'f8', [2 ** 40]]]}"), "shorter than it says"
    ),
    Code("forges: negative shape", forged("{'values': {}, 'arrays': [['outputs', 'f8', [-1]]]}"), "described"),
    Code("forges: empty but huge", forged("{'values': {}, 'arrays': [['outputs', 'f8', [0, 2 ** 61, 2 ** 61]]]}"), ""),
    Code(
        "forges: 40 dimensions",
        forged("{'values': {}, 'arrays': [['outputs', 'f8', [1] * 40]]}", data="b'12345678'"),
        "dimensions",
    ),
    Code(
        "forges: impossible booleans",
        forged("{'values': {}, 'arrays': [['outputs', 'b1', [1]]]}", data="b'7'"),
        "neither 0 nor 1",
    ),
    Code("forges: bytes left over", forged("{'values': {'outputs': 1}, 'arrays': []}", data="b'x'"), "no array"),
    Code(
        "forges: name twice",
        forged("{'values': {'outputs': 1}, 'arrays': [['outputs', 'u1', [1]]]}", data="b'x'"),
        "twice",
    ),
    Code(
        "puts a link in the answer's place",
        model(
            """
            import os
            name = [n for n in os.listdir(".") if n.startswith(".answer-")][0]
            os.unlink(name)
            os.symlink("/etc/passwd", name)
            os._exit(0)
            """
        ),
        "can't be read",
    ),
    Code(
        "puts a FIFO in the answer's place",
        model(
            """
            import os
            name = [n for n in os.listdir(".") if n.startswith(".answer-")][0]
            os.unlink(name)
            os.mkfifo(name)
            os._exit(0)
            """
        ),
        "no regular file",
    ),
    Code(
        "puts a terabyte in the answer's place",
        model(
            """
            import os
            name = [n for n in os.listdir(".") if n.startswith(".answer-")][0]
            os.truncate(name, 1 << 40)
            os._exit(0)
            """
        ),
        "",
    ),
    Code(
        "kills its parent and its group",
        model("import os, signal; os.kill(os.getppid(), 9); os.kill(0, 9); return x"),
        "",
    ),
    Code(
        "leaves a thread that goes on",
        model(
            """
            import threading, time
            threading.Thread(target=lambda: time.sleep(1000)).start()
            return x
            """
        ),
        WRONG,
    ),
    Code(
        "leaves a child that goes on",
        model("import subprocess; subprocess.Popen(['sleep', '1000'], start_new_session=True); return x"),
        WRONG,
    ),
    Code(
        "plants sitecustomize.py",
        {"model.py": "def double(x): return x", "sitecustomize.py": "import os; os._exit(0)"},
        WRONG,
    ),
    Code(
        "plants usercustomize.py",
        {"model.py": "def double(x): return x", "usercustomize.py": "import os; os._exit(0)"},
        WRONG,
    ),
    Code("plants conftest.py", {"model.py": "def double(x): return x", "conftest.py": "import os; os._exit(0)"}, WRONG),
    Code("plants a .pth file", {"model.py": "def double(x): return x", "x.pth": "import os; os._exit(0)"}, WRONG),
    Code("plants pyvenv.cfg", {"model.py": "def double(x): return x", "pyvenv.cfg": "home = /nowhere"}, WRONG),
    Code("shadows json", {"model.py": "def double(x): return x", "json.py": "raise SystemExit(0)"}, WRONG),
    Code("shadows numpy", {"model.py": "def double(x): return x", "numpy.py": "raise SystemExit(0)"}, WRONG),
    Code(
        "shadows traceback and struct",
        {"model.py": "raise OSError", "traceback.py": "1/0", "struct.py": "1/0"},
        "OSError",
    ),
    Code("shadows the probe", {"model.py": "def double(x): return x", "__probe__.py": "1/0"}, WRONG),
    Code(
        "fills the disk",
        model("file = open('big', 'wb', 0)\nfor _ in range(300): file.write(bytes(1 << 20))\nreturn x"),
        "",
    ),
    Code(
        "eats memory by and by", model("kept = [bytearray(b'x' * (1 << 24)) for _ in range(200)]; return x"), "memory"
    ),
    Code(
        "forks without end",
        model(
            """
            import os
            while True:
                try:
                    os.fork()
                except OSError:
                    pass
            """
        ),
        "",
    ),
    Code(
        "looks for earlier inputs",
        model(
            """
            import glob, os
            places = ["/tmp", "/dev/shm", "/var/tmp", os.path.expanduser("~"), "."]
            found = [p for place in places for p in glob.glob(place + "/kept*")]
            for place in places:
                try:
                    x.tofile(place + "/kept")
                except OSError:
                    pass
            return x * 2 if found else x
            """
        ),
        WRONG,
    ),
    Code(
        "digs deeper than anybody can follow",
        model("import os\nfor _ in range(3000):\n    os.mkdir('d')\n    os.chdir('d')\nreturn x"),
        "",
    ),
    Code(
        "rewrites itself for later calls",
        model("open('model.py', 'w').write('def double(x): return x * 2'); return x"),
        WRONG,
    ),
    Code("prints without end", model("while True: print('x' * 10000)"), ""),
    Code(
        "prints what no terminal wants",
        model("print('\\x1b[2J\\x00\\ud83d'.encode('utf-8', 'surrogatepass')); raise OSError('\\x1b[31m')"),
        "\\x1b",
    ),
    Code("wants memory without end", model("return bytearray(1 << 45)"), "MemoryError"),
]

# One of each kind: enough to notice in a minute that something broke.
QUICK = frozenset(
    {
        "ends at import with success",
        "raises",
        "returns the input",
        "always equal",
        "patches every comparison",
        "forges: huge shape",
        "puts a link in the answer's place",
        "plants sitecustomize.py",
        "shadows numpy",
        "rewrites itself for later calls",
        "digs deeper than anybody can follow",
    }
)


def endless(case: Code) -> bool:
    """Tell whether a case is ended by nothing but the time that it is given."""
    return "none by then" in case.seen or case.name == "prints without end"
