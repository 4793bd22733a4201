// Package exitcode contains the codes with which the program ends; the README lists them.
package exitcode

// The codes of a verb, of the screen and of the server.
const (
	OK        = 0
	Error     = 1 // any other error
	Usage     = 2 // the command line is wrong
	NotFound  = 3 // a thread, turn, agent or file was not found
	Refused   = 4 // not now: busy, waiting for an approval, conflict, limit; or not granted to an agent
	Agent     = 5 // the agent did not finish its answer
	Cancelled = 6 // the execution was cancelled
)
