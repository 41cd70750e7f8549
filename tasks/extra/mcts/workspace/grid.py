"""A walk on a grid, as an example of a state. Do not change this file."""

MOVES = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}


class Grid:
    """Reach the goal in few steps."""

    def __init__(self, size: int = 3, place=(0, 0), goal=None, steps: int = 0, limit: int = 8) -> None:
        self.size, self.place, self.steps, self.limit = size, place, steps, limit
        self.goal = goal or (size - 1, size - 1)

    def actions(self) -> list[str]:
        return [name for name in MOVES if self._inside(self._after(name))]

    def apply(self, action: str) -> None:
        self.place = self._after(action)
        self.steps += 1

    def clone(self) -> "Grid":
        return Grid(self.size, self.place, self.goal, self.steps, self.limit)

    def terminal(self) -> bool:
        return self.place == self.goal or self.steps >= self.limit

    def reward(self) -> float:
        return 1.0 - 0.05 * self.steps if self.place == self.goal else 0.0

    def _after(self, action: str) -> tuple[int, int]:
        return self.place[0] + MOVES[action][0], self.place[1] + MOVES[action][1]

    def _inside(self, place: tuple[int, int]) -> bool:
        return 0 <= place[0] < self.size and 0 <= place[1] < self.size
