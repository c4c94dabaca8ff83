import { homedir } from "node:os"
import { join } from "node:path"

export const Recall = async ({ directory }) => {
  const data = join(process.env.XDG_DATA_HOME || join(homedir(), ".local/share"), "opencode", "opencode.db")
  const began = new Set()
  const ofSubagents = new Set()
  // By session. They stay the same from call to call: else the model's cache of the conversation would be lost.
  const notes = new Map()
  const payload = (session, event, more) => ({
    session_id: session,
    transcript_path: join(data, session),
    cwd: directory,
    hook_event_name: event,
    ...more,
  })
  return {
    event: async ({ event }) => {
      const session = event.properties?.sessionID
      if (event.type === "session.created") {
        began.add(session)
        if (event.properties.info?.parentID) ofSubagents.add(session)
      }
      if (event.type === "session.idle" && !ofSubagents.has(session)) await told("session.idle", payload(session, "Stop"))
    },
    "experimental.chat.system.transform": async ({ sessionID }, { system }) => {
      const isTitle = system.some((text) => text.startsWith("You are a title generator"))
      if (!sessionID || isTitle || ofSubagents.has(sessionID)) return
      if (!notes.has(sessionID)) {
        const source = began.has(sessionID) ? "startup" : "resume"
        notes.set(sessionID, told("experimental.chat.system.transform", payload(sessionID, "SessionStart", { source })))
      }
      const text = await notes.get(sessionID)
      if (text) system.push(text)
    },
    "chat.message": async ({ sessionID }, { message, parts }) => {
      const said = parts.filter((part) => part.type === "text" && !part.synthetic)
      if (ofSubagents.has(sessionID) || said.length === 0) return
      const prompt = said.map((part) => part.text).join("\n")
      const text = await told("chat.message", payload(sessionID, "UserPromptSubmit", { prompt }))
      // Parts are in the order of their ids.
      const id = `${parts.at(-1).id}r`
      if (text) parts.push({ id, messageID: message.id, sessionID, type: "text", synthetic: true, text })
    },
  }
}
