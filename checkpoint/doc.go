// Package checkpoint is the contract of the store that keeps threads and their checkpoints, and the rules that
// every implementation shares.
//
// The interface itself is thread.Store: its user declares it. Implementations are memory (tests), sqlite (the
// default, one file a project) and postgres (shared by several servers); checkpointtest runs the same suite over
// all three. What a store guarantees beyond the method comments:
//
//   - Durable: a write survives kill -9 and a power cut once its method has returned nil (memory excepted).
//   - At most once: an error other than ErrInvalid, ErrNotFound and ErrNameTaken leaves the outcome unknown.
//     The same call again is right: a thread, checkpoint, execution or intent of an id that is stored already
//     is not stored twice, and the retry returns nil.
//   - Whole: a checkpoint, what it adds and the move of its thread are one transaction.
//   - Exact: items and native files come back byte for byte. Whatever is read is compared with a SHA-256 that
//     was written with it, on every read; ErrDamaged names what does not match, and nothing else is affected.
//   - Small: a checkpoint costs what it adds to its parent, compressed; a put takes as long at turn 5,000 as
//     at turn 50. A fork costs its own row.
//   - Standing: a checkpoint's ancestors stay as long as it does, whoever's they are. Purging a thread leaves
//     the checkpoints that another thread's stand on, and removes them with the last that does.
//   - Ordered: Seq goes up by one a checkpoint within a thread and is never given twice. Order never comes
//     from the clock. Times come back in UTC.
//   - Concurrent: all methods may be called from many goroutines. A change function of UpdateThread runs
//     inside the transaction and must not call the store; where a transaction has to be repeated it runs
//     again, on the thread as it is then, and only its last run counts.
//
// A parent is stored (its put returned) before a child is put. A store does not look into items, does not know
// agents and does not decide what to keep; retention does that (see Policy).
package checkpoint
