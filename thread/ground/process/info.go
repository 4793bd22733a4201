// Package process knows the processes of the system: which ones there are, which belong together by a label that the
// kernel passes on, how a program is started with one, and how all that belong together are ended. It knows nothing of
// what they are for.
package process

// Info is a process as the system shows it.
type Info struct {
	PID, Parent, Group, Session int
	// Start detects a pid that is used again. What it counts depends on the system.
	Start uint64
	// Pages is how many pages of memory are resident; 0 where that is not known.
	Pages uint64
	Ended bool // and nobody has waited for it
	// Name is the name of its program, or of its thread, shortened; empty where that is not known.
	Name string
}
