# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Proximal policy optimisation for continuous and discrete actions."""

import math

import torch
from torch import nn


class Buffer:
    """What was seen since the last update; one entry per step in every list."""

    def __init__(self):
        self.clear()

    def clear(self):
        self.states, self.actions, self.log_probabilities, self.values = [], [], [], []
        self.rewards, self.terminals = [], []


class ActorCritic(nn.Module):
    """A policy and a value, each with a network of its own."""

    def __init__(self, state_width: int, actions: int, continuous: bool, spread: float = 0.6, hidden: int = 24):
        super().__init__()
        self.continuous = continuous
        self.spread = spread  # standard deviation of continuous actions
        self.actor = nn.Sequential(nn.Linear(state_width, hidden), nn.Tanh(), nn.Linear(hidden, actions))
        self.critic = nn.Sequential(nn.Linear(state_width, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def scores(self, states, actions):
        """Return log-probability and entropy by their formulas."""
        made = self.actor(states)
        if self.continuous:
            one = 0.5 * math.log(2 * math.pi) + math.log(self.spread)
            squares = ((actions - made) / self.spread).pow(2).sum(-1) / 2
            width = made.shape[-1]
            return -squares - width * one, torch.full_like(squares, width * (one + 0.5))
        logs = made.log_softmax(-1)
        return logs.gather(-1, actions.long()[:, None])[:, 0], -(logs.exp() * logs).sum(-1)

    @torch.no_grad()
    def act(self, states):
        """Draw actions for states (batch, state_width); return actions, log-probabilities, values."""
        made = self.actor(states)
        if self.continuous:
            actions = made + self.spread * torch.randn_like(made)
        else:
            actions = torch.multinomial(made.softmax(-1), 1)[:, 0]
        return actions, self.scores(states, actions)[0], self.critic(states)[:, 0]

    def evaluate(self, states, actions):
        """Return log-probabilities of given actions, values and entropies, each (batch,), with gradients."""
        logs, entropies = self.scores(states, actions)
        return logs, self.critic(states)[:, 0], entropies


class PPO:
    """Collects steps with select_action, learns from them with update."""

    def __init__(
        self,
        state_width: int,
        actions: int,
        continuous: bool,
        rate: float = 0.003,
        discount: float = 0.99,
        trace: float = 0.95,
        clip: float = 0.2,
        epochs: int = 4,
        value_weight: float = 0.5,
        entropy_weight: float = 0.01,
        spread: float = 0.6,
    ):
        self.policy = ActorCritic(state_width, actions, continuous, spread)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=rate, eps=1e-5)
        self.buffer = Buffer()
        self.discount, self.trace, self.clip, self.epochs = discount, trace, clip, epochs
        self.value_weight, self.entropy_weight = value_weight, entropy_weight

    def select_action(self, state):
        """Draw an action for one state (state_width,), remember the step, return the action."""
        batch = torch.tensor(list(state), dtype=torch.float32).unsqueeze(0)
        made = self.policy.act(batch)
        names = ("states", "actions", "log_probabilities", "values")
        for name, value in zip(names, (batch, *made)):
            getattr(self.buffer, name).append(value.squeeze(0))
        return made[0][0].tolist()

    def advantages(self, rewards, values, terminals, last_value):
        """Return advantages and returns, each (steps,)."""
        # The same sum, forwards: every step adds its surprise to itself and to the steps before it.
        alive = 1 - torch.as_tensor(terminals, dtype=torch.float32)
        following = torch.cat([values[1:], torch.as_tensor(last_value, dtype=values.dtype).reshape(1)])
        surprise = rewards + self.discount * alive * following - values
        found = torch.zeros_like(surprise)
        weights = torch.zeros_like(surprise)
        for step in range(len(surprise)):
            weights[step] = 1
            found = found + weights * surprise[step]
            weights = weights * self.discount * self.trace * alive[step]
        return found, found + values

    def loss(self, states, actions, log_probabilities, advantages, returns):
        """Return the loss of a batch, a number with gradients."""
        new, values, entropies = self.policy.evaluate(states, actions)
        ratio = torch.exp(new - log_probabilities)
        limit = torch.where(advantages >= 0, (1 + self.clip) * advantages, (1 - self.clip) * advantages)
        policy_loss = -torch.minimum(ratio * advantages, limit)
        value_loss = torch.nn.functional.mse_loss(values, returns, reduction="none")
        return (policy_loss + self.value_weight * value_loss - self.entropy_weight * entropies).mean()

    def update(self, last_state):
        """Learn from the buffer and empty it; last_state came after its last step."""
        kept = self.buffer
        states, actions, old, values = map(torch.stack, (kept.states, kept.actions, kept.log_probabilities, kept.values))
        last_value = self.policy.critic(torch.tensor(list(last_state), dtype=torch.float32)).detach()
        rewards = torch.tensor([float(reward) for reward in kept.rewards])
        advantages, returns = self.advantages(rewards, values, kept.terminals, last_value)
        centred = advantages - advantages.mean()
        advantages = centred / (centred.square().mean().sqrt() + 1e-8)
        for _ in range(self.epochs):
            loss = self.loss(states, actions, old, advantages, returns)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        self.buffer = Buffer()
