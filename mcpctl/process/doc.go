// Package process runs the programs of MCP servers so that nothing of them is left behind.
//
// Every program leads a session and a process group of its own and has a mark in its environment. When it ends, the rest
// of its group and whatever else has its mark are killed. When this process is killed, the kernel kills the program
// (Linux), a guard kills its group, and [New] kills what is still left of an earlier run. What a program prints is read
// in bounded memory.
package process
