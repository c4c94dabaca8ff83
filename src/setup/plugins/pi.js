const KIND = "recall"

export default function (pi) {
  let asked
  const payload = (ctx, event, more) => ({
    session_id: ctx.sessionManager.getSessionId(),
    transcript_path: ctx.sessionManager.getSessionFile(),
    cwd: ctx.cwd,
    hook_event_name: event,
    ...more,
  })
  // One that is not written down has no file: nothing could be read of it later.
  const isKept = (ctx) => Boolean(ctx.sessionManager.getSessionFile())
  const hasBegun = (ctx) => ctx.sessionManager.getEntries().some((entry) => entry.type === "message")

  pi.on("session_start", (event, ctx) => {
    if (!isKept(ctx)) return
    const source = event.reason === "fork" ? "fork" : hasBegun(ctx) ? "resume" : "startup"
    asked = told("session_start", payload(ctx, "SessionStart", { source }))
  })
  // What is written down is told again when the session is resumed, and is the same from prompt to prompt: else the model's cache of the
  // conversation would be lost.
  pi.on("before_agent_start", async (event, ctx) => {
    const text = await asked
    asked = undefined
    if (text) pi.appendEntry(KIND, { text })
    const own = ctx.sessionManager.getEntries().filter((entry) => entry.type === "custom" && entry.customType === KIND)
    const notes = own.map((entry) => entry.data?.text).filter(Boolean)
    if (notes.length > 0) return { systemPrompt: [event.systemPrompt, ...notes].join("\n\n") }
  })
  pi.on("before_agent_start", async ({ prompt }, ctx) => {
    if (!isKept(ctx)) return
    const content = await told("before_agent_start", payload(ctx, "UserPromptSubmit", { prompt }))
    if (content) return { message: { customType: KIND, content, display: false } }
  })
  pi.on("session_shutdown", async ({ reason }, ctx) => {
    if (reason !== "reload" && isKept(ctx) && hasBegun(ctx)) await told("session_shutdown", payload(ctx, "SessionEnd", { reason }))
  })
}
