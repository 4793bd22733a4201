// Package handoff writes what an agent is told of a conversation that it was no part of: the primer that a thread
// begins with whose agent cannot be given the native conversation, and the note of a merge. It makes texts of threads'
// values and reads nothing.
package handoff
