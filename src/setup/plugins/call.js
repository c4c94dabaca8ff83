// Written by `recall install --agent AGENT`, which writes it anew; `recall uninstall` takes it away.
// Your sessions start with notes from earlier ones, hear of those that a prompt bears on, and leave a mark for the next digest.
import { spawn } from "node:child_process"

const COMMANDS = {}
const DEADLINE_MS = 5000

// What a hook of recall tells; nothing if it fails or takes too long.
const told = (name, payload) =>
  new Promise((resolve) => {
    const child = spawn("/bin/sh", ["-c", COMMANDS[name]], { stdio: ["pipe", "pipe", "ignore"], timeout: DEADLINE_MS })
    // Even if something that it started holds its output open.
    setTimeout(resolve, DEADLINE_MS, "").unref()
    let out = ""
    child.stdout.on("data", (data) => (out += data))
    child.stdin.on("error", () => {})
    child.on("error", () => resolve(""))
    child.on("close", () => {
      try {
        resolve(JSON.parse(out).hookSpecificOutput.additionalContext)
      } catch {
        resolve("")
      }
    })
    child.stdin.end(JSON.stringify(payload))
  }).catch(() => "")

