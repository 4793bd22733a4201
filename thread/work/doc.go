// Package work is about executions: pieces of work that agents do without a terminal, each in a thread. It has their
// states and what may follow on each, the queue that decides which of them starts next, and the port of their store.
//
// An execution is one prompt of a thread and the process that answers it. What was said is the thread's: its turns,
// checkpoints and files. The execution is the record of the work: who asked for it, what it waited for, how often it was
// tried, what it cost and how it ended.
package work
