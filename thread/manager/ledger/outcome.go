package ledger

import (
	"cmp"
	"fmt"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// outcome returns how a process in a terminal has ended.
func outcome(exit thread.Exit, asked bool) (work.State, string) {
	switch {
	case asked:
		return work.Completed, exit.Reason
	case exit.Code == 0 && !exit.Limit:
		return work.Completed, ""
	default:
		return work.Failed, cmp.Or(reasonOf(exit), exit.Reason)
	}
}

// reasonOf says for people how a process ended.
func reasonOf(exit thread.Exit) string {
	switch {
	case exit.Limit:
		return exit.Reason
	case exit.Killed():
		return fmt.Sprintf("its process was killed by signal %d", exit.Code-128)
	default:
		return fmt.Sprintf("its process ended with code %d", exit.Code)
	}
}
