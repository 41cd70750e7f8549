"""What starts nodes for an autoscaler in tests: Ray's own stand-in for a cloud, which can't be told of memory."""

from __future__ import annotations

from typing import Any

from nodes import give_nodes_time
from ray.autoscaler._private.fake_multi_node.node_provider import FakeMultiNodeProvider


class Provider(FakeMultiNodeProvider):
    def _create_node_with_resources_and_labels(
        self, node_config: dict[str, Any], tags: dict[str, str], count: int, resources: dict[str, float], labels: Any
    ) -> None:
        give_nodes_time()
        known = {name: amount for name, amount in resources.items() if name != "memory"}
        super()._create_node_with_resources_and_labels(node_config, tags, count, known, labels)
