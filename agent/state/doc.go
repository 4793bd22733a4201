// Package state derives an agent's state from ranked evidence: the process itself, the model requests that we forward,
// the agent's hooks and OSC 7501 reports, rules on its screen, and silence.
//
// It is pure: times are passed as arguments, nothing is started or locked. A Tracker has one owner.
//
// The rules, in order of precedence:
//   - The end of the process overrides everything.
//   - Of evidence of the same age, the higher source wins. Newer evidence of a higher source overrides that of lower
//     ones.
//   - A newer dialog (approval, question) from any lower source wins at once: a missed dialog costs the person's time.
//     It is dropped when the screen no longer shows it.
//   - A newer "waits" (idle, done) from a lower source wins over "works" only after a while, so that the gateway can
//     report it first, once its checkpoint is durable.
//   - A newer "works" from the screen wins only if it is clearly newer than the other evidence: an old frame may still
//     be shown.
//   - Trouble (limited, unauthorised, unreachable, …) lasts through an agent's retries, until a request succeeds or is
//     for something else. It is reported whether the agent is retrying by itself or has given up.
//   - Silence means unknown, never idle.
//
// Whether the person has seen an idle agent's answer (done or idle) is not decided here: the thread knows it.
package state
