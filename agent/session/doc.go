// Package session runs agents in terminals: a pty, the emulator that keeps its screen, what is known of
// the agent's state, and the viewers.
//
// Guarantees: an agent's output is read at full speed with or without viewers; a viewer that cannot
// follow gets the whole screen instead of a queue, and holds nobody up. The output of watched sessions
// does not queue behind that of unwatched ones. What a session costs while nothing happens is
// memory only: no ticker, no polling, no OS thread. Callbacks come one at a time, in order, without a lock
// held. Answers to the agent's terminal queries come from the emulator here, once, however many watch.
//
// It does not store anything and does not know what the states mean to people.
package session
