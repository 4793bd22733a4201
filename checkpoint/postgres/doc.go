// Package postgres keeps threads in a PostgreSQL database that several people's servers may share, by the contract of
// package checkpoint.
//
// Rows have a project and a host. A server sees the threads, executions, intents and settings of its own host; a
// thread's name is unique in the whole project; a checkpoint can be read, and forked, by every host of its project.
// A host's name is for one server at a time: a lock of a session of its own holds it, and ends with the server.
// Records are packed by package pack, as in SQLite.
//
// A put locks its thread's row, so that Seq has no gaps and two servers cannot both move a thread. Commits are
// synchronous whatever the database's default is. If the connection breaks in a commit, the outcome is unknown;
// repeating the put returns what is stored.
//
// Lock order inside a transaction: the project's advisory lock (shared for what will be based on a checkpoint,
// exclusive for what removes checkpoints), then the thread's row.
package postgres
