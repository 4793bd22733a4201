// Package pack is the format in which the SQL stores keep a checkpoint: one row with one compressed record.
//
// A record holds the checkpoint itself, the items that it adds and what its native files gained, as plain bytes.
// Records that follow each other on a lineage, up to 256 KB of them (a group), are one zstd frame, flushed after
// each: a row keeps its record's piece of the frame. So text which stands in an item, in a transcript and in the
// records before costs once, a put compresses only its own bytes, and reading one record reads at most its group.
// The end of a group stays open in memory, of the busiest threads. Where it is not, at a fork, after a restart
// or when a put failed, the next record begins another group.
//
// A conversation or a file is not stored whole but as pieces of the parent's and new ones: what is kept of it,
// and runs of it that come again further on. Reading maps the wanted stretch back from record to record and
// takes from each only what it brought, so many rewrites of a file cost what changed.
//
// Every record carries a SHA-256 over its plain bytes and its number, checked each time it is read, and names
// its parent; what does not match is thread.ErrDamaged with the checkpoint's id. The package does no input or
// output: rows come from a Source.
package pack
