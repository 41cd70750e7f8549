"""Statistics of success and cost: pure functions of arrays, with numpy and scipy only."""
