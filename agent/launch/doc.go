// Package launch contains what adapters share to prepare the start of an agent: the environment as a value, the search
// for the agent's program and its version, files for one launch, and the command that agents run as their hook.
//
// It starts nothing except a program's version query, writes only below the launch's state folder, and never reads a
// credential.
package launch
