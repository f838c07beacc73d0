// crabmem for OpenClaw: the plugin of its memory slot. It calls crabmem alone, by `crabmem mcp` for the tools and
// `crabmem hook` for what goes before a turn, and keeps nothing itself.
import { spawn } from "node:child_process"
import { existsSync, readFileSync, realpathSync } from "node:fs"
import { homedir } from "node:os"
import { resolve, sep } from "node:path"

const { version, offers } = JSON.parse(readFileSync(new URL("./tools.json", import.meta.url), "utf8"))
const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28", // the first one without a handshake
  "io.modelcontextprotocol/clientInfo": { name: "openclaw", version },
  "io.modelcontextprotocol/clientCapabilities": {},
}
const CALL_MS = 30_000
const HOOK_MS = { "session-start": 6_000, wrote: 6_000 }
const MOST_SESSIONS = 500

const real = (path) => (existsSync(path) ? realpathSync(path) : resolve(path))

// The kind of a session, by what began its turn and by its key, such as agent:main:telegram:group:-100.
const kindOf = ({ sessionKey = "", trigger }) => {
  const has = (...words) => sessionKey.toLowerCase().split(":").some((word) => words.includes(word))
  if (has("group", "channel")) return "group"
  if (has("subagent", "acp")) return "subagent"
  if (trigger === "heartbeat" || has("heartbeat")) return "heartbeat"
  return trigger === "cron" || has("cron") ? "scheduled" : "main"
}

// A `crabmem mcp`, which begins with the first call, and again with the next one when it has ended.
class Server {
  waiting = new Map()
  last = 0

  constructor(words) {
    this.words = words
  }

  call(name, given, sessionId) {
    const child = (this.child ??= this.start())
    const id = ++this.last
    return new Promise((done, fail) => {
      const timer = setTimeout(() => child.kill("SIGKILL"), CALL_MS)
      const end = (answer) => {
        clearTimeout(timer)
        this.waiting.delete(id)
        this.hold(child)
        ;(answer instanceof Error ? fail : done)(answer)
      }
      this.waiting.set(id, { child, end })
      this.hold(child)
      const params = { name, arguments: given, _meta: { ...ENVELOPE, sessionId } }
      child.stdin?.write(JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params }) + "\n")
    })
  }

  start() {
    const child = spawn(this.words[0], this.words.slice(1))
    let [line, complaint] = ["", ""]
    const over = (why) => {
      if (this.child === child) this.child = undefined
      for (const each of [...this.waiting.values()]) if (each.child === child) each.end(new Error(why))
    }
    child.on("error", (error) => over(`${this.words[0]} cannot be run: ${error.message}`))
    child.on("close", (status) => over(`crabmem mcp ended with ${status}: ${complaint}`))
    child.stdin?.on("error", () => {})
    child.stderr?.on("data", (piece) => (complaint = (complaint + piece).slice(-500)))
    child.stdout?.setEncoding("utf8").on("data", (piece) => {
      const lines = (line + piece).split("\n")
      line = lines.pop()
      for (const { id, result, error } of lines.map((each) => JSON.parse(each)))
        this.waiting.get(id)?.end(error ? new Error(error.message) : result)
    })
    return child
  }

  // While no call waits, the server does not keep a program alive that is done: it ends with that.
  hold(child) {
    const how = this.waiting.size ? "ref" : "unref"
    for (const each of [child, ...child.stdio]) each?.[how]?.()
  }
}

// What a hook says about an event; "" when it is silent, fails or is late.
const ask = (words, event, input) =>
  new Promise((done) => {
    const stdio = ["pipe", "pipe", "ignore"]
    const hook = spawn(words[0], [...words.slice(1), "hook", event, "--host", "opencode"], { stdio })
    let said = ""
    const end = () => {
      clearTimeout(timer)
      try {
        done(JSON.parse(said).hookSpecificOutput?.additionalContext ?? "")
      } catch {
        done("")
      }
    }
    const late = () => {
      hook.kill("SIGKILL")
      end() // what it has started may hold its output open
    }
    const timer = setTimeout(late, HOOK_MS[event] ?? 3_000)
    hook.stdout?.setEncoding("utf8").on("data", (piece) => (said += piece))
    hook.stdin?.on("error", () => {})
    hook.on("error", () => {}) // and then it is closed, too
    hook.on("close", end)
    hook.stdin?.end(JSON.stringify(input))
  })

export default {
  id: "crabmem",
  kind: "memory",

  register(api) {
    const { command = "crabmem", dir = "", profile, context = true, recall = true } = api.pluginConfig ?? {}
    const folder = real(dir.replace(/^~(?=$|\/)/, homedir()) || process.env.CRABMEM_DIR || `${homedir()}/.crabmem`)
    const { guide, tools } = offers[profile] ?? offers.crab
    const words = (kind) => {
      const profiled = profile ? ["--profile", profile] : []
      return [command, "--dir", folder, ...profiled, "--agent", "openclaw", "--kind", kind]
    }
    const servers = {}
    const names = tools.map((tool) => tool.calls).join(",")
    const server = (kind) => (servers[kind] ??= new Server([...words(kind), "mcp", "--tools", names]))

    // What is known of a session: the folder it works in, what began it, and what came before its last message.
    const sessions = new Map()
    const session = (id) => {
      if (!sessions.has(id)) sessions.set(id, {})
      if (sessions.size > MOST_SESSIONS) sessions.delete(sessions.keys().next().value)
      return sessions.get(id)
    }
    const hook = (event, ctx, more) =>
      ask(words(kindOf(ctx)), event, { session_id: ctx.sessionId, cwd: session(ctx.sessionId).workspace, ...more })
    const begin = (ctx, source) => hook("session-start", ctx, { source })

    api.registerMemoryCapability?.({
      promptBuilder: ({ availableTools }) => (availableTools.has("memory_search") ? [...guide, ""] : []),
    })
    api.registerTool(
      (ctx) => {
        session(ctx.sessionId).workspace = ctx.workspaceDir
        return tools.map(({ calls, ...tool }) => ({
          ...tool,
          execute: async (_id, given) => {
            const { content, isError } = await server(kindOf(ctx)).call(calls, given, ctx.sessionId)
            const text = content.map((part) => part.text).join("\n")
            if (isError) throw new Error(text)
            return { content: [{ type: "text", text }], details: {} }
          },
        }))
      },
      { names: tools.map((tool) => tool.name) },
    )
    api.on("before_prompt_build", async (event, ctx) => {
      const known = session(ctx.sessionId)
      known.workspace = ctx.workspaceDir
      // OpenClaw says itself what is in the files of its workspace.
      const isToldAnyway = !context || real(ctx.workspaceDir ?? "/") === folder
      if (!isToldAnyway) known.start ??= begin(ctx, "startup")
      const prompt = event.currentUserMessage ?? event.prompt
      const isOfPerson =
        kindOf(ctx) !== "subagent" &&
        (ctx.trigger ?? "user") === "user" &&
        (ctx.inputProvenance?.kind ?? "external_user") === "external_user"
      // The prompt may be built again for one message. OpenClaw keeps nothing of this in the conversation, and so memory is
      // asked as if there were no session: it says again what it said before.
      const message = event.currentUserMessageId ?? ctx.runId
      if (!message || known.message !== message)
        known.said = recall && isOfPerson && prompt ? hook("prompt", ctx, { prompt, session_id: null }) : ""
      known.message = message
      const [start, said] = await Promise.all([isToldAnyway ? "" : known.start, known.said])
      return { ...(start && { appendSystemContext: start }), ...(said && { prependContext: said }) }
    })
    // What OpenClaw's own tools write in the folder is recorded as the agent's, not as the person's.
    api.on(
      "after_tool_call",
      async ({ params, error }, ctx) => {
        const { workspace = "/" } = session(ctx.sessionId)
        const path = real(resolve(workspace, params.path ?? params.file_path ?? "."))
        if (!error && (path + sep).startsWith(folder + sep)) await hook("wrote", ctx, { tool_input: params })
      },
      { matcher: ["write", "edit", "apply_patch"] },
    )
    api.on("after_compaction", async (_event, ctx) => {
      session(ctx.sessionId).start = begin(ctx, "compact")
    })
    api.on("session_end", async (_event, ctx) => {
      await hook("session-end", ctx, { reason: "other" })
      sessions.delete(ctx.sessionId)
    })
    const stop = () => Object.values(servers).forEach((each) => each.child?.stdin?.end())
    api.registerService?.({ id: "crabmem", start() {}, stop })
  },
}
