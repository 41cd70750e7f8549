"""First tests: python -m unittest test_mcts. Do not change this file; the real checks are others."""

import math
import unittest

from grid import Grid
from mcts import Node, Search


class SearchTest(unittest.TestCase):
    def test_uct(self):
        parent, child = Node(Grid()), Node(Grid(), action="down")
        child.parent = parent
        parent.visits, child.visits, child.total = 10, 4, 2.0
        self.assertAlmostEqual(child.uct(1.0), 0.5 + math.sqrt(math.log(10) / 4))

    def test_expand_takes_the_first(self):
        root = Node(Grid())
        child = Search().expand(root)
        self.assertEqual((child.action, root.untried), ("down", ["right"]))
        self.assertEqual(root.state.place, (0, 0))

    def test_rewards_reach_the_root(self):
        root = Node(Grid())
        search = Search()
        search.backpropagate(search.expand(root), 0.5)
        self.assertEqual((root.visits, root.total), (1, 0.5))

    def test_visits(self):
        root = Search(simulations=60).run(Grid())
        self.assertEqual(root.visits, 60)
        self.assertEqual(sum(child.visits for child in root.children.values()), 60)

    def test_near_the_goal(self):
        search = Search(simulations=200)
        self.assertEqual(search.best_action(search.run(Grid(place=(2, 1)))), "down")


if __name__ == "__main__":
    unittest.main()
