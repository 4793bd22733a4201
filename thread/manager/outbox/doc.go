// Package outbox holds the prompts of one thread, from the moment that one is accepted until it is answered, and
// decides how each event changes them.
//
// It guarantees that a prompt changes only as the table of After says, that the oldest is typed first, and that only
// one is typed at a time: see Decide. It stores nothing and starts nothing: its caller stores a change before it is kept
// here, and guards an Outbox with a lock.
package outbox
