// Package checkpoint contains the contract of the store that keeps threads and their checkpoints, and the rules that
// every implementation shares.
//
// The interface itself is thread.Store: its user declares it. Implementations are memory (tests), sqlite (the default,
// one file per project) and postgres (shared by several servers); checkpointtest runs the same suite over all three.
// What a store guarantees beyond the method comments:
//
//   - Durable: a write survives kill -9 and a power cut once its method has returned nil (memory excepted).
//   - At most once: an error other than ErrInvalid, ErrNotFound and ErrNameTaken leaves the outcome unknown. The call
//     can be repeated: a thread, checkpoint, execution or intent whose id is already stored is not stored twice, and
//     the retry returns nil.
//   - Atomic: a checkpoint, what it adds and the update of its thread are one transaction.
//   - Exact: items and native files are returned byte for byte. Everything that is read is compared with a SHA-256 that
//     was written with it, on every read; ErrDamaged names what does not match, and nothing else is affected.
//   - Small: a checkpoint costs what it adds to its parent, compressed; a put takes as long at turn 5,000 as at turn
//     50. A fork costs its own row.
//   - Complete: a checkpoint's ancestors are kept as long as it is, whichever thread they belong to. Purging a thread
//     keeps the checkpoints that another thread's are based on, and removes them with the last of these.
//   - Ordered: Seq increases by one per checkpoint within a thread and is never reused. Order never depends on the
//     clock. Times are returned in UTC.
//   - Concurrent: all methods are safe for concurrent use. A change function of UpdateThread runs inside the
//     transaction and must not call the store; if a transaction is repeated it runs again, on the current thread, and
//     only its last run counts.
//
// A parent is stored (its put returned) before a child is put. A store does not interpret items, does not know agents
// and does not decide what to keep; retention does that (see Policy).
package checkpoint
