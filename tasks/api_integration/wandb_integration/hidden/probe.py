# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Read a .wandb file: a header of 7 bytes, then blocks of 32 KiB with records in pieces, as LevelDB writes its log."""

import json
import struct
from pathlib import Path

HEADER, BLOCK, PIECE = 7, 32768, 7
FULL, LAST = 1, 4


def records(raw):
    place, gathered = HEADER, b""
    while place + PIECE <= len(raw):
        left = BLOCK - place % BLOCK
        if left < PIECE:
            place += left
            continue
        _, length, kind = struct.unpack_from("<IHB", raw, place)
        gathered += raw[place + PIECE : place + PIECE + length]
        place += PIECE + length
        if kind in (FULL, LAST):
            yield gathered
            gathered = b""


def fields(items):
    return {".".join(item.nested_key) or item.key: json.loads(item.value_json) for item in items}


def probe(inputs):
    from wandb.proto import wandb_internal_pb2

    raw = Path(inputs["path"]).read_bytes()
    if raw[:4] != b":W&B":
        raise ValueError("this is no file of a wandb run")
    answer = {"runs": [], "rows": [], "exits": []}
    for piece in records(raw):
        record = wandb_internal_pb2.Record()
        record.ParseFromString(piece)
        kind = record.WhichOneof("record_type")
        if kind == "run":
            run = record.run
            answer["runs"].append(
                {
                    "run_id": run.run_id,
                    "project": run.project,
                    "name": run.display_name,
                    "tags": list(run.tags),
                    "started": run.start_time.seconds,
                    "config": fields(run.config.update),
                }
            )
        elif kind == "config" and answer["runs"]:
            answer["runs"][-1]["config"].update(fields(record.config.update))
        elif kind == "history":
            answer["rows"].append(fields(record.history.item))
        elif kind == "exit":
            answer["exits"].append(record.exit.exit_code)
    return {"told": answer}
