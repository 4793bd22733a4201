// Package postgres keeps threads in a PostgreSQL database that several people's servers may share, as package
// checkpoint demands.
//
// Rows carry a project and a host. A server sees the threads, executions, intents and settings of its own host;
// a thread's name is taken for the whole project, whoever has it; a checkpoint can be read, and forked, by
// every host of its project. Records are packed by package pack, as in SQLite.
//
// A put locks its thread's row, so that Seq has no gaps and two servers cannot both move a thread. Commits are
// synchronous whatever the database's default is. When the connection breaks in a commit, the outcome is
// unknown; the same put again answers with what is stored.
//
// Lock order inside a transaction: the project's advisory lock (shared for what comes to stand on a checkpoint,
// exclusive for what removes checkpoints), then the thread's row.
package postgres
