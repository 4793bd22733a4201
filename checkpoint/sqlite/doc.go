// Package sqlite keeps a project's threads in one SQLite file, by the contract of package checkpoint.
//
// One caller writes at a time, for everyone waiting: up to 64 requests share a transaction, so that 100 threads share
// an fsync instead of competing for the lock. Readers have their own connections and never wait for it. The file is in
// WAL mode with synchronous=FULL: what is acknowledged survives a power cut. Records are packed by package pack.
//
// The log is folded into the file at every start, after a second without commits, and at 4 MB. Every commit has a
// number, which is stored in the database and beside it (package mark). A start compares them, and checks the frames of
// the log, before SQLite does: SQLite silently drops what follows a bad frame.
//
// All of it is checked at a start, but for one after a clean end: Close says last and durably how it left the files, and
// Open takes that away first. A start at which they are just so reads nothing but what it is asked for, and Check reads
// the rest in the background. What is found damaged then, or meanwhile, is repaired and reported by the next start.
//
// House rules:
//
//   - Nothing in this process but SQLite opens the database file, its -wal or its -shm: closing any other descriptor of
//     them drops the locks that SQLite holds, and another process could then delete the log under us. os.Stat, os.Chmod
//     and os.Rename open nothing. Only Open reads the files itself (inspect.go), before there is a connection: nothing
//     else in the process may have the database open then.
//   - Statements are constant text; every value is bound.
//   - A request checks first and writes last. A refused request has written nothing and the batch continues.
//
// A damaged file or log never blocks the start: both are moved aside (package quarantine), what verifies is copied into
// a new file, row by row from the pages whatever the trees say, and the Report names what was dropped. A file of a
// newer version of the program is left alone and refused.
//
// It does not lock out a second server: the caller holds the project's lock.
package sqlite
