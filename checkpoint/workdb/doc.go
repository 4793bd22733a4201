// Package workdb keeps a project's record of work in one SQLite file beside its state, by the contract of work.Record.
//
// The file is in WAL mode with synchronous=FULL: what is acknowledged survives a power cut. One connection writes, in
// short transactions that take the write lock first, so that two programs on one file never both change an execution;
// readers have connections of their own and never wait. Events are only ever added: the database itself refuses to
// change or remove one, but for the removal of all that belong to an execution.
//
// The order of writes is the caller's, and each of its steps is one transaction here: Add (it waits) → Claim (a server
// has it; attempt and fence are raised) → Change to Running with the process's row → … → Change to a final state with
// the outcome. A crash between two of them leaves the earlier state, which the next start finds by Open.
//
// A start reads a few pages. All of the file is checked in the background after an unclean end: damage that is found is
// told, and the next start sets the file aside (package quarantine) and copies what can be read into a new one, row by
// row from both ends. Damage to a row is found by its hash when it is read, and hides no other. A file of a newer
// version of the program is left alone and refused.
//
// People read the views of record.sql with SQLite's own program and -readonly, at any time. Whoever keeps a transaction
// open holds nobody up, but the log grows until it ends: Measure tells its length, and the next writes make it short.
//
// It does not lock out a second server: the caller holds the project's lock.
package workdb
