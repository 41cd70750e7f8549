# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Run parts of the submitted PPO on given parameters and steps, or one round of training; knows no reward rule."""

import numpy as np
import torch


def probe(inputs: dict) -> dict:
    torch.manual_seed(inputs["seed"])
    if "round" in inputs:
        return _round(inputs)
    answers = {}
    for number, case in enumerate(inputs["cases"]):
        given = {key.removesuffix(f" {number}"): value for key, value in inputs.items() if key.endswith(f" {number}")}
        answers |= {f"{kind} {number}": value for kind, value in _case(case, given).items()}
    return answers


def _made(case: dict, weights: np.ndarray):
    from ppo import PPO

    agent = PPO(**case)
    start = 0
    with torch.no_grad():
        for _, value in sorted(agent.policy.named_parameters()):
            part = weights[start : start + value.numel()]
            if part.size == value.numel():  # else the shapes tell
                value.copy_(torch.from_numpy(part.copy()).reshape(value.shape))
            start += value.numel()
    return agent


def _case(case: dict, given: dict) -> dict:
    agent = _made(case, given["weights"])
    policy = agent.policy
    tensors = {name: torch.from_numpy(value.copy()) for name, value in given.items()}
    states, actions = tensors["states"], tensors["actions"]
    answers = {"shapes": {name: list(value.shape) for name, value in sorted(policy.named_parameters())}}
    found = policy.evaluate(states, actions)
    pulled = sum((one * pull).sum() for one, pull in zip(found, tensors["pulls"], strict=True))
    pulled.backward()
    answers |= dict(zip(("logs", "values", "entropies"), (one.detach() for one in found), strict=True))
    answers["evaluation gradients"] = _gradients(policy)
    terminals = [bool(one) for one in given["terminals"]]
    gains, returns = agent.advantages(tensors["rewards"], tensors["values"], terminals, float(given["last"][0]))
    answers |= {"advantages": gains.detach(), "returns": returns.detach()}
    policy.zero_grad()
    loss = agent.loss(states, actions, tensors["logs"], tensors["gains"], tensors["targets"])
    loss.backward()
    answers |= {"loss": loss.detach().reshape(1), "loss gradients": _gradients(policy)}
    policy.zero_grad()
    drawn = policy.act(states[:1].repeat(2000, 1))
    answers |= dict(zip(("drawn", "drawn logs", "drawn values"), drawn, strict=True))
    return answers | _remembered(agent, given) | _updated(case, given, tensors, terminals)


def _remembered(agent, given: dict) -> dict:
    chosen = [agent.select_action(state) for state in given["states"][:5]]
    kept = agent.buffer
    return {
        "chosen": np.array([np.asarray(action, float) for action in chosen]),
        "kept states": torch.stack(kept.states).float(),
        "kept actions": torch.stack([torch.as_tensor(action) for action in kept.actions]).double(),
        "kept logs": torch.stack(kept.log_probabilities).reshape(-1),
        "kept values": torch.stack(kept.values).reshape(-1),
        "kept others": len(kept.rewards) + len(kept.terminals),
    }


def _updated(case: dict, given: dict, tensors: dict, terminals: list) -> dict:
    agent = _made(case, given["weights"])
    kept = agent.buffer
    kept.states, kept.actions = list(tensors["states"]), list(tensors["actions"])
    kept.log_probabilities, kept.values = list(tensors["logs"]), list(tensors["values"])
    kept.rewards, kept.terminals = [float(one) for one in given["rewards"]], terminals
    agent.update(given["last state"])
    kept = agent.buffer
    left = [kept.states, kept.actions, kept.log_probabilities, kept.values, kept.rewards, kept.terminals]
    return {"updated": _flat(agent.policy), "left": [len(one) for one in left]}


def _round(inputs: dict) -> dict:
    """Learn from the last round's steps, if there was one, then act in new states."""
    agent = _made(inputs["round"], inputs["weights"])
    if "rewards" in inputs:
        kept = agent.buffer
        kept.states, kept.actions = list(torch.from_numpy(inputs["states"])), list(torch.from_numpy(inputs["actions"]))
        kept.log_probabilities, kept.values = (list(torch.from_numpy(inputs[name])) for name in ("logs", "values"))
        kept.rewards = [float(one) for one in inputs["rewards"]]
        kept.terminals = [True] * len(kept.rewards)
        agent.update(inputs["states"][0])
    for state in inputs["new states"]:
        agent.select_action(state)
    kept = agent.buffer
    return {
        "weights": _flat(agent.policy),
        "actions": torch.stack(kept.actions),
        "logs": torch.stack(kept.log_probabilities).reshape(-1),
        "values": torch.stack(kept.values).reshape(-1),
    }


def _flat(policy) -> np.ndarray:
    return np.concatenate([value.detach().numpy().reshape(-1) for _, value in sorted(policy.named_parameters())])


def _gradients(policy) -> np.ndarray:
    values = [value for _, value in sorted(policy.named_parameters())]
    return np.concatenate(
        [(value * 0 if value.grad is None else value.grad).detach().numpy().reshape(-1) for value in values]
    )
