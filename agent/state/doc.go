// Package state says what an agent is doing from ranked evidence: the process itself, the model
// requests we carry, the agent's hooks and OSC 7501 reports, rules over its screen, silence.
//
// It is pure: time comes in as arguments, nothing is started or locked. One owner calls a Tracker.
//
// The rules, in the order in which they matter:
//   - The end of the process ends everything.
//   - Of the same age, the higher source wins. A higher source's newer word replaces lower ones'.
//   - A newer dialog (approval, question) of any lower source wins at once: a missed dialog costs the
//     person's time. It is given back when the screen that showed it shows it no more.
//   - A newer "waits" (idle, done) of a lower source wins over a claim of work only after a while, so
//     that the gateway can say so first, once its checkpoint is durable.
//   - A newer "works" read from the screen wins only when it is clearly newer than the other claim:
//     an old frame may still be standing.
//   - Trouble (limited, unauthorised, unreachable, …) holds through an agent's retries, until a request succeeds or asks
//     for something else. It says whether the agent tries again by itself or has given up.
//   - Silence means unknown, never idle.
//
// Whether an idle agent's answer was seen (done or idle) is not decided here: the thread knows it.
package state
