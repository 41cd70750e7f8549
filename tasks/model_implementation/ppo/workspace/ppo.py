"""Proximal policy optimisation for continuous and discrete actions."""

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

    @torch.no_grad()
    def act(self, states):
        """Draw actions for states (batch, state_width); return actions, log-probabilities, values."""
        raise NotImplementedError

    def evaluate(self, states, actions):
        """Return log-probabilities of given actions, values and entropies, each (batch,), with gradients."""
        raise NotImplementedError


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
        raise NotImplementedError

    def advantages(self, rewards, values, terminals, last_value):
        """Return advantages and returns, each (steps,)."""
        raise NotImplementedError

    def loss(self, states, actions, log_probabilities, advantages, returns):
        """Return the loss of a batch, a number with gradients."""
        raise NotImplementedError

    def update(self, last_state):
        """Learn from the buffer and empty it; last_state came after its last step."""
        raise NotImplementedError
