// OpenClaw's side of a plugin, as its type definitions have it: loads the one in a folder, and does what lines on
// standard input ask for. An answer is a line, too.
import { readFileSync } from "node:fs"
import { createInterface } from "node:readline"
import { pathToFileURL } from "node:url"

const [folder, config] = process.argv.slice(2)
const manifest = JSON.parse(readFileSync(`${folder}/openclaw.plugin.json`, "utf8"))
const { openclaw } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"))
const plugin = (await import(pathToFileURL(`${folder}/${openclaw.extensions[0]}`))).default
const HOOKS = ["before_prompt_build", "after_tool_call", "after_compaction", "session_end"] // of those there are

const must = (is, what) => {
  if (!is) throw new Error(what)
}
const hooks = {}
const factories = []
let capability
let service
must(plugin.id === manifest.id && plugin.kind === manifest.kind, "plugin and manifest differ")
const registered = plugin.register({
  pluginConfig: JSON.parse(config),
  registerMemoryCapability: (given) => (capability = given),
  registerService: (given) => (service = given),
  registerTool: (factory, { names }) => {
    must(names.every((name) => manifest.contracts.tools.includes(name)), "a tool is undeclared")
    factories.push(factory)
  },
  on: (name, handler, { matcher } = {}) => {
    must(HOOKS.includes(name) && !hooks[name], `${name} is no hook, or is there twice`)
    must(!matcher || name.endsWith("tool_call"), `${name} takes no matcher`)
    hooks[name] = handler
  },
})
must(registered === undefined, "register is not synchronous")

const tools = (ctx) => factories.flatMap((factory) => factory(ctx) ?? [])
const doing = {
  tools: ({ ctx }) => tools(ctx).map(({ execute, ...tool }) => ({ ...tool, can: typeof execute === "function" })),
  call: ({ name, input, ctx }) => tools(ctx).find((tool) => tool.name === name).execute("1", input),
  hook: ({ name, event, ctx }) => hooks[name](event, ctx),
  section: ({ names }) => capability.promptBuilder({ availableTools: new Set(names) }),
  stop: () => service.stop({}),
}
for await (const line of createInterface({ input: process.stdin })) {
  const { what, ...given } = JSON.parse(line)
  const answer = await Promise.resolve()
    .then(() => doing[what](given))
    .then((value) => ({ value: value ?? null }), (error) => ({ error: error.message }))
  process.stdout.write(JSON.stringify(answer) + "\n")
}
