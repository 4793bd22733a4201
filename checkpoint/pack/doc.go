// Package pack is the format in which the SQL stores keep a checkpoint: one row with one compressed record.
//
// A record holds the checkpoint itself, the items that it adds and what its native files gained, as plain bytes;
// it is compressed as one zstd frame, so that text which stands in an item and in a transcript costs once. The
// records before it on the same lineage are the frame's dictionary, up to 128 KB of them (a group): short
// pieces of one conversation repeat each other, and compress badly alone. A group's first record has only a
// fixed dictionary, so reading one record reads at most its group.
//
// A conversation or a file is not stored whole but as pieces of the parent's and new ones: what is kept of it,
// and runs of it that come again further on. Reading maps the wanted stretch back from record to record and
// takes from each only what it brought, so many rewrites of a file cost what changed.
//
// Every record carries a SHA-256 over its plain bytes and its number, checked each time it is read, and names
// its parent; what does not match is thread.ErrDamaged with the checkpoint's id. The package does no input or
// output: rows come from a Source.
package pack
