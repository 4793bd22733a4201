// Package pty runs programs in pseudo-terminals, or with pipes in their place: each in its own session and process group,
// with its output read as fast as it arrives and its input never blocking.
//
// Guarantees: a Process that is done has left nothing behind that can be attributed to it: no member of its group or
// session, no child that double-forked, called setsid or cleared its environment (they are reparented to this process,
// because a Host makes it a subreaper, and are identified by a label that the kernel passes on, by their ancestry or
// the token in their environment), no zombie, no descriptor. The same evidence shows whether any other process was
// started below a Process. Waiting costs no OS thread: reads go through the runtime's poller, and SIGCHLD reports ends.
// Descriptors are close-on-exec.
//
// It does not interpret what a program prints. A program that lowers its label on purpose, leaves its session, clears
// its environment and lets its parent end, all before it is searched for, escapes, as does what another program starts
// on its behalf. Strays outside the group are found on Linux only.
package pty
