"""The plugin that calls our hooks from OpenCode, which runs no commands at events, but JavaScript."""

import json
from collections.abc import Sequence

MARK = "// crabmem for OpenCode."

_PLUGIN = """\
{mark} `crabmem install opencode` writes this file anew, `crabmem uninstall opencode` removes it.
import {{ spawn }} from "node:child_process"

const PROGRAM = {program}
const PATIENCE = 3_000
const LONGER = {{ "session-start": 6_000, "subagent-start": 6_000 }}
const MOST = 1_000_000

// What the hook says about an event, in the words it has for Claude Code; "" when it is silent, fails, is late or says
// too much. Then nobody waits for it any more, nor for what it has started.
const ask = (event, input) =>
  new Promise((resolve) => {{
    let hook
    try {{
      const words = [...PROGRAM.slice(1), "hook", event, "--host", "opencode"]
      hook = spawn(PROGRAM[0], words, {{ cwd: input.cwd, stdio: ["pipe", "pipe", "ignore"] }})
    }} catch {{
      return resolve("")
    }}
    const pieces = []
    let size = 0
    const end = (said) => {{
      clearTimeout(timer)
      resolve(said)
      hook.kill("SIGKILL")
      hook.stdout?.destroy()
      hook.stdin?.destroy()
    }}
    const timer = setTimeout(() => end(""), LONGER[event] ?? PATIENCE)
    hook.stdout?.on("data", (piece) => {{
      pieces.push(piece)
      size += piece.length
      if (size > MOST) end("")
    }})
    hook.stdin?.on("error", () => {{}})
    hook.on("error", () => end(""))
    hook.on("close", (status) => {{
      try {{
        const said = status === 0 ? JSON.parse(Buffer.concat(pieces).toString()) : {{}}
        end(said.hookSpecificOutput?.additionalContext ?? "")
      }} catch {{
        end("")
      }}
    }})
    hook.stdin?.end(JSON.stringify(input))
  }})

export const Crabmem = async ({{ directory }}) => {{
  const input = (session, event, more) => ({{ hook_event_name: event, session_id: session, cwd: directory, ...more }})
  const starts = new Map()
  const sent = new Set() // the sessions of agents that another agent has sent
  const start = (session, source) => {{
    const [event, called] = sent.has(session) ? ["subagent-start", "SubagentStart"] : ["session-start", "SessionStart"]
    return starts.set(session, ask(event, input(session, called, {{ source }}))).get(session)
  }}

  return {{
    // Identity, overview and guidance are part of every request, and read anew after a compaction.
    "experimental.chat.system.transform": async ({{ sessionID }}, {{ system }}) => {{
      if (!sessionID) return
      const said = await (starts.get(sessionID) ?? start(sessionID, "startup"))
      if (said) system.push(said)
    }},
    // What memory has about a message goes beside it, unseen by the person.
    "chat.message": async ({{ sessionID }}, {{ message, parts }}) => {{
      const texts = parts.filter((part) => part.type === "text" && !part.synthetic)
      const prompt = texts.map((part) => part.text).join("\\n")
      const said = prompt && (await ask("prompt", input(sessionID, "UserPromptSubmit", {{ prompt }})))
      if (!said) return
      const id = parts.at(-1).id + "m" // after the others, for parts are sorted by id
      parts.push({{ id, sessionID, messageID: message.id, type: "text", text: said, synthetic: true }})
    }},
    event: async ({{ event }}) => {{
      const session = event.properties?.sessionID
      if (event.type === "session.created" && event.properties.info?.parentID) sent.add(event.properties.info.id)
      if (event.type === "session.compacted") start(session, "compact")
      if (event.type === "session.deleted") {{
        starts.delete(event.properties.info?.id)
        sent.delete(event.properties.info?.id)
        await ask("session-end", input(event.properties.info?.id, "SessionEnd", {{ reason: "other" }}))
      }}
    }},
  }}
}}
"""


def plugin(program: Sequence[str]) -> str:
    """Return the JavaScript of the plugin; `program` is the command by which it calls crabmem, with its options."""
    return _PLUGIN.format(mark=MARK, program=json.dumps(list(program), ensure_ascii=False))
