"""`docs/tools.md`: the tools that agents are offered, by profile, with their schemas."""

import json
import re
import tempfile
from typing import Any

from crabmem import Memory, Tool
from crabmem.prompt.profile import load_profile, profile_names
from crabmem.tools.tool import described
from crabmem.tools.toolsets import SHARED, SYNC, toolset

_WIDTH = 120
_HEAD = """# Tools and their schemas

What an agent is offered, and what a model reads of it. A profile says which: `crab` unless the settings name another.
`crabmem tools` prints what yours offers, with `--format` in the form of another API; `crabmem call TOOL JSON` calls
one as a host does. The tools `soul` and `sync` are offered where the settings say so, and some others where somebody
asks by name: `crabmem mcp --tools`, `crabmem call --tools`, `memory.call(name, arguments, names)`.

Answers are text, labelled as data, for a model to read. Programs get data with the schema that is named here: by
`Result.data` in Python, by `crabmem mcp --data`, over HTTP by `?data=1` in the URL. What a caller does wrong is an
answer marked as an error that says what to do, and nothing was written then.
"""


def page() -> str:
    """The whole page."""
    parts, seen = [_HEAD], dict[str, dict[str, Tool]]()
    for profile in ["crab", *sorted(set(profile_names()) - {"crab"})]:
        tools = _tools(profile)
        parts.append(f"## Profile `{profile}`\n\n{load_profile(profile).about}\n")
        rows, sections = [], []
        for tool in tools:
            alike = seen.setdefault(tool.name, {})
            heading = next((heading for heading, other in alike.items() if other == tool), "")
            if not heading:  # families have tools of one name that are not the same
                heading = f"{tool.name} in {profile}" if alike else tool.name
                sections.append(_section(tool, heading))
                alike[heading] = tool
            rows.append(_row(tool, heading))
        parts += ["\n".join([_TABLE, *rows]) + "\n", *sections]
    parts.append("## Tools to ask for by name\n")
    parts += [_section(tool, tool.name) for tool in _named() if tool.name not in seen]
    parts.append("## Where `[sync] tool = true`\n")
    parts += [_section(tool, tool.name) for tool in _syncing()]
    return "\n".join(parts).rstrip() + "\n"


_TABLE = "| tool | for people | it |\n|---|---|---|"


def _tools(profile: str) -> list[Tool]:
    with tempfile.TemporaryDirectory() as folder, Memory(folder, profile=profile, soul_editable=True) as memory:
        return memory.tools


def _named() -> list[Tool]:
    with tempfile.TemporaryDirectory() as folder, Memory(folder, soul_editable=True) as memory:
        return memory.tools_named([item.name for name in SHARED for item in toolset(name)])


def _syncing() -> list[Tool]:
    with tempfile.TemporaryDirectory() as folder, Memory(folder) as memory:
        return [described(item, memory) for item in toolset(SYNC)]


def _row(tool: Tool, heading: str) -> str:
    hints = tool.annotations
    what = "reads" if hints.read_only else "replaces or removes" if hints.destructive else "saves"
    again = "" if hints.idempotent or hints.read_only else "; twice is not once"
    return f"| [`{tool.name}`](#{heading.replace(' ', '-')}) | {tool.title} | {what}{again} |"


def _section(tool: Tool, heading: str) -> str:
    properties: dict[str, Any] = tool.input_schema.get("properties", {})
    required = tool.input_schema.get("required", [])
    rows = [
        f"| `{name}` | {_type(rules)} | {'yes' if name in required else ''} | {_cell(rules.get('description', ''))} |"
        for name, rules in properties.items()
    ]
    table = (
        "\n".join(["| argument | type | needed | |", "|---|---|---|---|", *rows]) if rows else "It takes no arguments."
    )
    quoted = "\n".join(f"> {line}".rstrip() for line in tool.description.splitlines())
    schemas = "".join(
        f"\n<details><summary>Schema of its {what}</summary>\n\n```json\n{_json(schema)}\n```\n\n</details>\n"
        for what, schema in (("arguments", tool.input_schema), ("data", tool.output_schema))
    )
    return f"### {heading}\n\n{quoted}\n\n{table}\n{schemas}"


def _json(schema: dict[str, Any]) -> str:
    """A schema as JSON, what is innermost in it on one line each where it fits."""
    text = json.dumps(schema, indent=2, ensure_ascii=False)
    return re.sub(r"[\[{]\n[^\[\]{}]*[\]}]", lambda found: _on_one_line(found[0]), text)


def _on_one_line(text: str) -> str:
    line = re.sub(r"\n\s*", " ", text)
    return f"{line[0]}{line[1:-1].strip()}{line[-1]}" if len(line) <= _WIDTH else text


def _type(rules: dict[str, Any]) -> str:
    if "enum" in rules:
        return " or ".join(f"`{value}`" for value in rules["enum"])
    kind = str(rules.get("type", "any"))
    return f"list of {rules.get('items', {}).get('type', 'any')}" if kind == "array" else kind


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
