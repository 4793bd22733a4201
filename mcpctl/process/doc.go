// Package process runs the programs of MCP servers so that nothing of them is left behind.
//
// Every program leads a session and a process group of its own and has a label, which the kernel passes on to whatever it
// starts, and a mark in its environment. When it ends, what is left of its group and whatever else has its label or mark
// is killed, also what has left its session, cleared its environment and lost its parents. When this process is killed,
// the kernel kills the program (Linux), a guard kills the rest, and [New] kills what is still left of an earlier run.
// How many processes a program has is limited. What a program prints is read in bounded memory.
//
// Package agent/pty starts programs in another way, because those have a terminal and outlive what started them, while
// a server speaks through pipes and ends with us; what both do with labels and what is left, package
// thread/ground/process does for them.
package process
