package process

// Label is a number that the kernel passes on to everything that a process starts. A program that leaves its session,
// clears its environment and outlives its parent still has it. 0 is not a label.
type Label uint64
