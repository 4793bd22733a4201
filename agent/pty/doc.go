// Package pty runs programs in pseudo-terminals: each in a session and process group of its own,
// its output read as fast as it comes, its input never waited for.
//
// Guarantees: a Process that is done has left nothing behind that can be attributed to it: no member
// of its group or session, no child that double-forked, called setsid or wiped its environment (they
// come to us, because a Host makes this process a subreaper, and are known by a label that the kernel
// hands down, by their ancestry or the token in their environment), no zombie, no descriptor. The same
// evidence tells whether any other process was started below a Process. Waiting costs no OS thread:
// reads go through the runtime's poller, ends are learnt from SIGCHLD. Descriptors are close-on-exec.
//
// It does not interpret what a program prints. A program that lowers its label on purpose, leaves its
// session, wipes its environment and lets its parent die, all before it is looked for, gets away, as does
// what another program starts on its behalf. Strays outside the group are looked for on Linux only.
package pty
