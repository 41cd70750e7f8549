# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Ask each address, keep what is whole, write down what is not."""

import hashlib
import http.client
import io
import json
import os
import tarfile
import time
import urllib.error
import urllib.request
from pathlib import Path

MIRROR = os.environ["MIRROR_URL"]


class Missing(Exception):
    pass


def ask(path, tries=5):
    for number in range(tries):
        try:
            with urllib.request.urlopen(f"{MIRROR}/{path}", timeout=60) as response:
                return response.read()
        except urllib.error.HTTPError as error:
            if error.code != 503 or number == tries - 1:
                raise Missing(error.code, json.loads(error.read()).get("incident")) from None
            time.sleep(0.2)
        except http.client.IncompleteRead as error:
            raise Missing("cut", len(error.partial)) from None


def fetch(path):
    checksum = ask(f"{path}.sha256").decode().split()[0]
    data = ask(path)
    found = hashlib.sha256(data).hexdigest()
    if found != checksum:
        raise Missing("damaged", found)
    return data, found


def main():
    info, missing = {}, []
    for path in Path("addresses.txt").read_text().split():
        name = Path(path).stem
        try:
            data, digest = fetch(path)
        except Missing as error:
            missing.append(f"{name} {error.args[0]}")
            continue
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            archive.extractall("datasets", filter="data")
        files = len(os.listdir(f"datasets/{name}"))
        info[name] = {"dataset_path": f"datasets/{name}", "files": files, "sha256": digest}
    Path("dataset_info.json").write_text(json.dumps(info, indent=2))
    Path("dataset_not_available.txt").write_text("".join(f"{line}\n" for line in missing))


main()
