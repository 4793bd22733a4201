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

// Restarted is the result of restarting the server.
type Restarted struct {
	// Resumed counts the agents that were resumed. Failed has the reason for each that was not, by thread name.
	Resumed int
	Failed  map[string]string
	// Problems are warnings from the start of the new server.
	Problems []string
}

// failed lists the threads that were not resumed.
func (r Restarted) failed() []dialog.Line {
	var body []dialog.Line
	for _, name := range slices.Sorted(maps.Keys(r.Failed)) {
		body = append(body, dialog.Line{Text: name + ": " + r.Failed[name], Tok: theme.Bad})
	}
	return body
}

// restartLines explains what a restart does to the server and to running agents.
func restartLines(outdated, version string, threads []*thread.Status) []dialog.Line {
	body := dialog.Plain("Stops the server and starts it again with this program.")
	if outdated != "" {
		body = dialog.Plain("The server runs a different build of orchestrator than this program.")
		if outdated != version {
			body = append(body, dialog.Line{Text: "server: " + outdated + ", this program: " + version, Tok: theme.Muted})
		}
	}
	run, work := 0, 0
	for _, s := range threads {
		if host.Running(s) {
			run++
		}
		if s.State.State == thread.StateWorking || slices.ContainsFunc(s.Prompts, func(p thread.Prompt) bool {
			return p.State == thread.PromptOpen || p.State == thread.PromptTyping
		}) {
			work++
		}
	}
	body = append(body, dialog.Line{})
	if run == 0 {
		body = append(body, dialog.Line{Text: "No agents are running."})
	} else {
		body = append(body,
			dialog.Line{Text: plain.Count(run, "agent") + " will be stopped and resumed."})
	}
	if work > 0 {
		body = append(body,
			dialog.Line{Text: plain.Count(work, "agent") + " working: unfinished turns are lost, and their prompts are not sent again automatically.", Tok: theme.Warn})
	}
	return body
}
