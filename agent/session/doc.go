// Package session runs agents in terminals: each session has a pty, an emulator with its screen, the known state of the
// agent, and viewers. An agent without a terminal has pipes, takes one prompt, and its screen is a log of what it reports.
//
// Guarantees: an agent's output is read at full speed with or without viewers; a viewer that cannot keep up gets the
// whole screen instead of a queue, and delays nothing. The output of watched sessions does not queue behind that of
// unwatched ones. A session in which nothing happens costs memory only: no ticker, no polling, no OS thread. Callbacks
// are called one at a time, in order, without a lock held. The emulator answers the agent's terminal queries, once,
// independent of the number of viewers. A run reports its end once, at last and before its exit, whatever its process does;
// what it prints is bounded, and so is the memory for it.
//
// It does not store anything and does not interpret the states for people.
package session
