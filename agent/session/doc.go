// Package session runs agents in terminals: a pty, the emulator that keeps its screen, what is known of
// the agent's state, and those who look on.
//
// Guarantees: an agent's output is read at full speed whoever looks on or does not; one who cannot
// follow gets the screen afresh instead of a queue, and holds nobody up. The output of watched sessions
// does not stand in line behind that of unwatched ones. What a session costs while nothing happens is
// memory only: no ticker, no polling, no OS thread. Callbacks come one at a time, in order, on no lock.
// Answers to the agent's terminal queries come from the emulator here, once, whoever looks on.
//
// It does not store anything and does not know what the states mean to people.
package session
