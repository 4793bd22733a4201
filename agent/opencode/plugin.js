// Posts the events of opencode that tell something about a thread's state.
const wanted = new Set([
  "session.created", "session.idle", "session.error", "session.compacted",
  "permission.asked", "permission.replied", "question.asked", "question.replied", "question.rejected",
])
export const Orchestrator = async () => ({
  event: async ({ event }) => {
    const url = process.env.ORCHESTRATOR_HOOK_URL
    if (!url || !wanted.has(event.type)) return
    try {
      await fetch(`${url}/${event.type}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(event.properties ?? {}),
        signal: AbortSignal.timeout(5000),
      })
    } catch {} // the orchestrator is gone: nobody to tell
  },
})
