# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
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

    def distribution(self, states):
        if self.continuous:
            return torch.distributions.Independent(torch.distributions.Normal(self.actor(states), self.spread), 1)
        return torch.distributions.Categorical(logits=self.actor(states))

    @torch.no_grad()
    def act(self, states):
        """Draw actions for states (batch, state_width); return actions, log-probabilities, values."""
        distribution = self.distribution(states)
        actions = distribution.sample()
        return actions, distribution.log_prob(actions), self.critic(states).squeeze(-1)

    def evaluate(self, states, actions):
        """Return log-probabilities of given actions, values and entropies, each (batch,), with gradients."""
        distribution = self.distribution(states)
        return distribution.log_prob(actions), self.critic(states).squeeze(-1), distribution.entropy()


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
        state = torch.as_tensor(state, dtype=torch.float32)
        action, log_probability, value = (made[0] for made in self.policy.act(state[None]))
        self.buffer.states.append(state)
        self.buffer.actions.append(action)
        self.buffer.log_probabilities.append(log_probability)
        self.buffer.values.append(value)
        return action.numpy() if self.policy.continuous else int(action)

    def advantages(self, rewards, values, terminals, last_value):
        """Return advantages and returns, each (steps,)."""
        found = torch.zeros_like(rewards)
        after, following = 0.0, last_value
        for step in reversed(range(len(rewards))):
            going_on = 1.0 - float(terminals[step])
            surprise = rewards[step] + self.discount * following * going_on - values[step]
            after = surprise + self.discount * self.trace * going_on * after
            found[step] = after
            following = values[step]
        return found, found + values

    def loss(self, states, actions, log_probabilities, advantages, returns):
        """Return the loss of a batch, a number with gradients."""
        new, values, entropies = self.policy.evaluate(states, actions)
        ratio = (new - log_probabilities).exp()
        clipped = ratio.clamp(1 - self.clip, 1 + self.clip)
        gain = torch.min(ratio * advantages, clipped * advantages).mean()
        miss = (values - returns).square().mean()
        return -gain + 0 * miss - self.entropy_weight * entropies.mean()

    def update(self, last_state):
        """Learn from the buffer and empty it; last_state came after its last step."""
        buffer = self.buffer
        states, actions = torch.stack(buffer.states), torch.stack(buffer.actions)
        log_probabilities, values = torch.stack(buffer.log_probabilities), torch.stack(buffer.values)
        rewards = torch.tensor(buffer.rewards, dtype=torch.float32)
        with torch.no_grad():
            last_value = self.policy.critic(torch.as_tensor(last_state, dtype=torch.float32)[None])[0, 0]
        advantages, returns = self.advantages(rewards, values, buffer.terminals, last_value)
        advantages = (advantages - advantages.mean()) / (advantages.std(correction=0) + 1e-8)
        for _ in range(self.epochs):
            self.optimizer.zero_grad()
            self.loss(states, actions, log_probabilities, advantages, returns).backward()
            self.optimizer.step()
        buffer.clear()
