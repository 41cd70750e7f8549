# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Run the submitted search on given problems; knows no expected value."""

import random


class Problem:
    """A tree of states in one list: the children of i are i * branch + 1 and the next ones."""

    def __init__(self, spec, index=0, depth=0):
        self.spec, self.index, self.depth = spec, index, depth

    def actions(self):
        return list(self.spec["names"])

    def apply(self, action):
        if self.depth >= self.spec["depth"]:
            raise ValueError("an action after the end")
        self.index = self.index * self.spec["branch"] + 1 + self.spec["names"].index(action)
        self.depth += 1

    def clone(self):
        return Problem(self.spec, self.index, self.depth)

    def terminal(self):
        return self.depth >= self.spec["depth"]

    def reward(self):
        return self.spec["rewards"][self.index]


class Endless(Problem):
    """Never ends; its reward tells how far it went."""

    def apply(self, action):
        self.depth += 1
        if self.depth > 5000:
            raise RecursionError("no end was found")

    def clone(self):
        return Endless(self.spec, self.index, self.depth)

    def terminal(self):
        return False

    def reward(self):
        return float(self.depth)


def probe(inputs: dict) -> dict:
    from mcts import Node, Search

    random.seed(inputs["seed"])
    state = Problem(inputs["trees"][0])
    bounds = []
    for above, visits, total, exploration in inputs["bounds"]:
        parent, child = Node(state.clone()), Node(state.clone())
        child.parent, parent.visits, child.visits, child.total = parent, above, visits, total
        bound = child.uct(exploration)
        bounds.append(bound if bound != float("inf") else "infinity")
    answers = {"bounds": bounds, "trees": [_tree(Search, spec) for spec in inputs["trees"]]}
    answers["endless"] = [Search(max_depth=limit).rollout(Endless(state.spec)) for limit in inputs["limits"]]
    answers |= _rollouts(Search, inputs["flat"], inputs["rollout seeds"])
    answers["most visited"] = [_most_visited(Node, Search, state, visits) for visits in inputs["visits"]]
    answers["decisions"] = [_decision(Search, spec) for spec in inputs["problems"]]
    return answers


def _tree(search_class, spec):
    class Known(search_class):
        def rollout(self, state):
            return state.reward()

    start = Problem(spec)
    root = Known(simulations=spec["simulations"], exploration=spec["exploration"]).run(start)
    rows, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        rows.append([node.state.index, node.visits, node.total])
        waiting.extend(node.children.values())
    return [start.index, sorted(rows)]


def _rollouts(search_class, spec, seeds):
    start = Problem(spec)
    by_seed = []
    for seed in seeds:
        search = search_class(seed=seed)
        by_seed.append([search.rollout(start) for _ in range(3000)])
    return {"rollouts": by_seed, "rollout start": [start.index, start.depth]}


def _most_visited(node_class, search_class, state, visits):
    root = node_class(state.clone())
    search = search_class()
    for count in visits:
        child = search.expand(root)
        child.visits, child.total = count, 100.0 / count
    root.visits = sum(visits)
    return search.best_action(root)


def _decision(search_class, spec):
    search = search_class(simulations=400, exploration=spec["exploration"], seed=spec["seed"])
    return search.best_action(search.run(Problem(spec)))
