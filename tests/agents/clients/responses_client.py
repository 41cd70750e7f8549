"""A small agent in the manner of Codex: OpenAI's Responses, streamed, with one tool."""

import json
import os
import subprocess
import sys
import urllib.request

TOOL = {"type": "function", "name": "bash", "parameters": {"type": "object", "properties": {}}, "strict": False}


def ask(items):
    """Return the items of one streamed answer."""
    body = {"model": os.environ["MODEL"], "input": items, "tools": [TOOL], "stream": True, "store": False}
    headers = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"}
    address = os.environ["OPENAI_BASE_URL"] + "/responses"
    with urllib.request.urlopen(urllib.request.Request(address, json.dumps(body).encode(), headers)) as stream:
        events = [json.loads(line[6:]) for line in stream if line.startswith(b"data: ")]
    assert events[-1]["type"] == "response.completed", events[-1]
    return events[-1]["response"]["output"]


def main():
    items = [{"type": "message", "role": "user", "content": sys.stdin.read()}]
    while True:
        answer = ask(items)
        items += answer
        calls = [item for item in answer if item["type"] == "function_call"]
        if not calls:
            break
        for call in calls:
            command = json.loads(call["arguments"])["command"]
            done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
            items.append({"type": "function_call_output", "call_id": call["call_id"], "output": done.stdout})
    print(items[-1]["content"][0]["text"])


main()
