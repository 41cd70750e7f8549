"""A small agent in the manner of Claude Code: Anthropic's Messages, streamed, with one tool."""

import json
import os
import subprocess
import sys
import urllib.request

TOOL = {"name": "bash", "description": "Runs a command.", "input_schema": {"type": "object", "properties": {}}}


def ask(messages):
    """Return the blocks of one streamed answer."""
    body = {"model": os.environ["MODEL"], "max_tokens": 500, "stream": True, "messages": messages, "tools": [TOOL]}
    headers = {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "Content-Type": "application/json"}
    address = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
    blocks, ended = [], False
    with urllib.request.urlopen(urllib.request.Request(address, json.dumps(body).encode(), headers)) as stream:
        for line in stream:
            if not line.startswith(b"data: "):
                continue
            event = json.loads(line[6:])
            if event["type"] == "content_block_start":
                blocks.append({**event["content_block"], "json": ""})
            elif event["type"] == "content_block_delta" and blocks[-1]["type"] == "text":
                blocks[-1]["text"] += event["delta"]["text"]
            elif event["type"] == "content_block_delta":
                blocks[-1]["json"] += event["delta"]["partial_json"]
            ended = ended or event["type"] == "message_stop"
    assert ended, "the stream was cut"
    for block in blocks:
        text = block.pop("json")
        if block["type"] == "tool_use":
            block["input"] = json.loads(text)
    return blocks


def main():
    messages = [{"role": "user", "content": sys.stdin.read()}]
    while True:
        blocks = ask(messages)
        messages.append({"role": "assistant", "content": blocks})
        calls = [block for block in blocks if block["type"] == "tool_use"]
        if not calls:
            break
        results = []
        for call in calls:
            done = subprocess.run(["bash", "-c", call["input"]["command"]], capture_output=True, text=True)
            results.append({"type": "tool_result", "tool_use_id": call["id"], "content": done.stdout + done.stderr})
        messages.append({"role": "user", "content": results})
    print(messages[-1]["content"][0]["text"])


main()
