// Package pack is the format in which the SQL stores keep a checkpoint: one row with one compressed record.
//
// A record contains the checkpoint itself, the items that it adds and the additions to its native files, as plain
// bytes. Records that follow each other on a lineage, up to 256 KB of them (a group), are one zstd frame, flushed after
// each: a row has its record's piece of the frame. So text that occurs in an item, in a transcript and in earlier
// records is stored once, a put compresses only its own bytes, and reading one record reads at most its group. The end
// of a group stays open in memory, for the busiest threads. Otherwise, at a fork, after a restart or after a failed
// put, the next record starts another group.
//
// A conversation or a file is not stored as a whole but as pieces of the parent's and new ones: what is kept of it, and
// runs of it that occur again further on. Reading maps the wanted range back from record to record and takes from each
// only what it added, so many rewrites of a file cost what changed.
//
// Every record has a SHA-256 over its plain bytes and its number, checked each time it is read, and names its parent; a
// mismatch is thread.ErrDamaged with the checkpoint's id. The package does no input or output: rows come from a Source.
package pack
