// Package outbox holds the prompts of one thread, from the moment that one is accepted until it is answered, and
// decides what each event makes of it.
//
// It guarantees that a prompt changes only as the one table of After says, that the oldest one is typed first, and that
// one hand types: Hand names what it is at. It stores nothing and starts nothing: its caller stores a change before it
// is kept here, and guards an Outbox by a lock.
package outbox
