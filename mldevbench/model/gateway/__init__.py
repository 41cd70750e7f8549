"""The gateway: the one door from a sandbox to the run's model, in OpenAI's form."""

from mldevbench.model.gateway.server import FORWARDER, PORT, SOCKET, Gateway

__all__ = ["FORWARDER", "PORT", "SOCKET", "Gateway"]
