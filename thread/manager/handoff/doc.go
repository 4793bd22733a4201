// Package handoff writes what an agent is told about a conversation that it was not part of: the primer of a thread
// whose agent cannot get the native conversation, and the note on a merge. It writes texts from threads' values and
// reads nothing itself.
package handoff
