import { existsSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"

// One of them is loaded for each session.
let payload

const textOf = ({ content }) => content.filter((part) => part.type === "text").map((part) => part.text).join("\n")
// What the client puts around a prompt.
const unwrapped = (text) => text.replace(/^<user_input[^>]*>/, "").replace(/<\/user_input>$/, "")

export default {
  name: "recall",
  manifest: { capabilities: ["hooks", "rules"] },
  setup(api, { session, workspaceInfo }) {
    const id = session?.sessionId
    if (!id || !workspaceInfo?.rootPath) return
    const file = join(process.env.CLINE_DIR || join(homedir(), ".cline"), "data/sessions", id, `${id}.messages.json`)
    payload = (event, more) => ({
      session_id: id,
      transcript_path: file,
      cwd: workspaceInfo.rootPath,
      hook_event_name: event,
      ...more,
    })
    const notes = told("rule", payload("SessionStart", { source: existsSync(file) ? "resume" : "startup" }))
    // It stays the same from call to call: else the model's cache of the conversation would be lost.
    api.registerRule({ id: "recall", content: () => notes })
  },
  hooks: {
    async beforeRun({ snapshot }) {
      const said = snapshot.messages.findLast((message) => message.role === "user")
      if (!payload || !said || snapshot.parentAgentId) return
      const text = await told("beforeRun", payload("UserPromptSubmit", { prompt: unwrapped(textOf(said)) }))
      if (text) return { appendContext: text }
    },
    async afterRun({ snapshot }) {
      if (payload && !snapshot.parentAgentId) await told("afterRun", payload("Stop"))
    },
  },
}
