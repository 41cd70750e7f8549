"""Runs mini-swe-agent inside the sandbox, with the gateway's model, and tells what its commands did."""

import gc
import json
import os
import sys
import time

gc.disable()  # until all is imported: looking through it again and again takes a sixth of the time
sys.path.insert(0, "/run")
os.environ |= {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # its import fetches a price list otherwise
    "MSWEA_COST_TRACKING": "ignore_errors",  # the gateway counts
    "MSWEA_SILENT_STARTUP": "1",
    "MSWEA_CONFIGURED": "true",
    "MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT": "1",  # the gateway tries again; what it refuses stays refused
}

from minisweagent.agents.default import DefaultAgent
from minisweagent.config import builtin_config_dir, get_config_from_spec
from minisweagent.environments.local import LocalEnvironment
from minisweagent.models.litellm_model import LitellmModel
from report import tell

gc.freeze()
gc.enable()


class ToldEnvironment(LocalEnvironment):
    def execute(self, action, *args, **kwargs):
        started = time.monotonic()
        output = {"output": "", "returncode": 0}
        try:
            output = super().execute(action, *args, **kwargs)
            return output
        finally:  # the command that hands in the work ends by an exception
            seconds = time.monotonic() - started
            command, code = action.get("command"), output["returncode"]
            tell("tool", output["output"], tool="bash", arguments={"command": command}, exit_code=code, seconds=seconds)


def main():
    settings = json.load(sys.stdin)
    config = get_config_from_spec(builtin_config_dir / "mini.yaml")
    sampling = {} if settings["temperature"] is None else {"temperature": settings["temperature"]}
    gateway = {"api_base": os.environ["OPENAI_BASE_URL"], "api_key": os.environ["OPENAI_API_KEY"]}
    model = LitellmModel(
        **{**config["model"], "model_name": "openai/benchmark"}
        | {"model_kwargs": {**config["model"]["model_kwargs"], **gateway, **sampling}}
    )
    environment = ToldEnvironment(**{**config["environment"], "timeout": settings["shell_seconds"]})
    prompts = {name: config["agent"][name] for name in ("system_template", "instance_template")}
    # The budget is the gateway's to keep; limits of its own would end it for another reason.
    agent = DefaultAgent(model, environment, **prompts, step_limit=0, cost_limit=0)
    ended = agent.run(settings["instruction"])
    tell("note", f"mini-swe-agent ended: {ended.get('exit_status')}")


main()
