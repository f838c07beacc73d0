"""LangChain over a memory: its tools, and recall as a retriever.

model.bind_tools(tools(memory)); Retriever(memory=memory).invoke("deploy key")
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from ..memory import Memory
from ..results import Hit, Recall
from ..text.limits import MAX_QUERY
from ..tools.tool import Tool
from . import missing

try:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.tools import StructuredTool, ToolException
    from pydantic import AliasChoices, ConfigDict, Field
except ImportError as error:
    raise missing("langchain", "LangChain", "langchain") from error


def tools(memory: Memory) -> list[StructuredTool]:
    """Return the tools that `memory` offers now. An answer's artifact is its data.

    A tool that fails gives the model an answer with the status of an error, and ends no run.
    """
    return [_tool(memory, tool) for tool in memory.tools]


def _tool(memory: Memory, tool: Tool) -> StructuredTool:
    """Return a tool of ours as LangChain's. Its asynchronous call runs on a thread."""

    def call(**arguments: Any) -> tuple[str, dict[str, Any]]:
        result = memory.call(tool.name, arguments)
        if result.is_error:
            raise ToolException(result.text)
        return result.text, result.data

    async def acall(**arguments: Any) -> tuple[str, dict[str, Any]]:
        return await asyncio.to_thread(call, **arguments)

    return StructuredTool(
        name=tool.name,
        description=tool.description,
        args_schema=tool.input_schema,
        func=call,
        coroutine=acall,
        response_format="content_and_artifact",
        handle_tool_error=True,
    )


class Retriever(BaseRetriever):
    """Recall as a retriever of documents, best first: at most `k` facts (None: as many as the settings say) that carry
    all tags of `having`.

    Both may also be given to `invoke`, for one question. `limit` is another name of `k`.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")
    memory: Memory = Field(exclude=True)
    k: int | None = Field(default=None, validation_alias=AliasChoices("k", "limit"))
    having: Sequence[str] = ()

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **options: Any
    ) -> list[Document]:
        return list(map(_document, self._recall(query, **options)))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **options: Any
    ) -> list[Document]:
        return list(map(_document, await asyncio.to_thread(self._recall, query, **options)))

    def _recall(
        self, query: str, *, k: int | None = None, limit: int | None = None, having: Sequence[str] | None = None
    ) -> Recall:
        most = next((each for each in (k, limit) if each is not None), self.k)
        return self.memory.recall(query[:MAX_QUERY], most, self.having if having is None else having)


def _document(hit: Hit) -> Document:
    entry = hit.entry
    about = {"name": entry.name, "description": entry.description, "tags": list(entry.tags)}
    source = {"source": entry.path, "version": entry.version, "score": hit.score}
    source |= {"kind": "note"} if entry.is_note else {}
    return Document(hit.shown, id=entry.path, metadata={**about, **source})
