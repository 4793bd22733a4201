// Package launch holds what adapters share to lay out the start of an agent's process: the
// environment as a value, the search for the agent's program and its version, files of one
// launch, and the command that agents run to report their hooks.
//
// It starts nothing but a program's own version query, writes below the launch's state folder only,
// and never reads a credential.
package launch
