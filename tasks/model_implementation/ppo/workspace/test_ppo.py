"""First tests: python -m unittest test_ppo. Do not change this file; the real checks are others."""

import unittest

import torch

from ppo import PPO


def filled(agent, steps=20):
    for step in range(steps):
        agent.select_action([0.1 * step, -0.2, 0.3])
        agent.buffer.rewards.append(1.0)
        agent.buffer.terminals.append(step % 7 == 6)
    return agent


class PPOTest(unittest.TestCase):
    def test_actions(self):
        self.assertEqual(len(PPO(3, 2, continuous=True).select_action([0.0, 0.1, 0.2])), 2)
        self.assertIn(PPO(3, 4, continuous=False).select_action([0.0, 0.1, 0.2]), range(4))

    def test_returns_restart_at_terminals(self):
        agent = PPO(3, 2, continuous=True, discount=0.5, trace=1.0)
        rewards, values = torch.tensor([1.0, 1.0, 1.0, 1.0]), torch.zeros(4)
        _, returns = agent.advantages(rewards, values, [False, True, False, False], 4.0)
        torch.testing.assert_close(returns, torch.tensor([1.5, 1.0, 2.5, 3.0]))

    def test_update_changes_and_empties(self):
        for continuous in (True, False):
            agent = filled(PPO(3, 2, continuous=continuous))
            before = [value.clone() for value in agent.policy.parameters()]
            agent.update([0.0, 0.0, 0.0])
            after = list(agent.policy.parameters())
            self.assertTrue(any(not torch.equal(one, other) for one, other in zip(before, after)))
            self.assertEqual(len(agent.buffer.states), 0)


if __name__ == "__main__":
    unittest.main()
