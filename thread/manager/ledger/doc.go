// Package ledger writes into the record of work what ran without being asked for by the queue: each process of an agent in
// its terminal, and each sub-agent that an agent's CLI started by itself, in a terminal or in a run.
//
// What the gateway, the hooks and the calls of an agent tell of a sub-agent becomes one row, found by the process and the
// CLI's own id, however often and in which order they tell it. Its usage is a part of that of the process, which counts
// all requests: sums over both leave out one of them.
//
// Guarantees: no method blocks, but that Begin waits at most a second for its row; the record stops nothing: what the store
// refuses waits, bounded in number and size, is kept in a file beside it, and is written once that is possible, also by the
// next server. What an earlier server left open is lost. No text is stored with a secret in it.
package ledger
