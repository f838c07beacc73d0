"""Whose suites can be run, by the name that the command line takes."""

from collections.abc import Mapping

from . import anthropic, conformance, langchain, langgraph
from .peer import Peer

PEERS: Mapping[str, Peer] = {
    "langgraph": langgraph.PEER,
    "langgraph-postgres": langgraph.POSTGRES,
    "langchain": langchain.PEER,
    "anthropic": anthropic.PEER,
    "conformance": conformance.PEER,
}
