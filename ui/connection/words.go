package connection

import (
	"maps"
	"slices"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// Restarted is what a restart of the server did.
type Restarted struct {
	// Resumed counts the agents that run again; Failed are those that do not, with the reason, by their threads' names.
	Resumed int
	Failed  map[string]string
	// Problems are what the new server found at its start, and warned of.
	Problems []string
}

// failed lists the threads whose agents were not resumed.
func (r Restarted) failed() []dialog.Line {
	var body []dialog.Line
	for _, name := range slices.Sorted(maps.Keys(r.Failed)) {
		body = append(body, dialog.Line{Text: name + ": " + r.Failed[name], Tok: theme.Bad})
	}
	return body
}

// restartLines say what a restart does: the server may be of another build, and agents run.
func restartLines(outdated, version string, threads []*thread.Status) []dialog.Line {
	body := dialog.Plain("The server is stopped and started again with this program.")
	if outdated != "" {
		body = dialog.Plain("The server runs another build of orchestrator than this program.")
		if outdated != version {
			body = append(body, dialog.Line{Text: "server: " + outdated + ", this program: " + version, Tok: theme.Muted})
		}
	}
	run, work := 0, 0
	for _, s := range threads {
		if host.Running(s) {
			run++
		}
		if s.State.State == thread.StateWorking {
			work++
		}
	}
	body = append(body, dialog.Line{})
	if run == 0 {
		body = append(body, dialog.Line{Text: "No agent runs."})
	} else {
		body = append(body,
			dialog.Line{Text: plain.Count(run, "agent") + " will be stopped, and resumed by the new server."})
	}
	if work > 0 {
		body = append(body,
			dialog.Line{Text: plain.Count(work, "agent") + " at work: what is not answered yet is cut off.", Tok: theme.Warn})
	}
	return body
}
