package connection

import (
	"fmt"
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
		body = dialog.Plain("The running server is another build (" + outdated + ") than this program (" + version + ").")
		if outdated == version {
			body = dialog.Plain("The running server is another build than this program (both " + version + ").")
		}
	}
	run := 0
	var work []string
	for _, s := range threads {
		if host.Running(s) {
			run++
		}
		if s.State.State == thread.StateWorking || slices.ContainsFunc(s.Prompts, func(p thread.Prompt) bool {
			return p.State == thread.PromptOpen || p.State == thread.PromptTyping
		}) {
			work = append(work, s.DisplayName())
		}
	}
	body = append(body, dialog.Line{})
	restarts := plain.Count(run, "agent") + " restart."
	if run == 1 {
		restarts = "1 agent restarts."
	}
	if run == 0 {
		body = append(body, dialog.Line{Text: "No agents are running."})
	} else {
		body = append(body, dialog.Line{Text: restarts})
	}
	switch {
	case len(work) == 1:
		body = append(body, dialog.Line{Text: "1 is working: its turn is lost (" + work[0] + ")", Tok: theme.Warn})
	case len(work) > 1:
		body = append(body, dialog.Line{Tok: theme.Warn,
			Text: fmt.Sprintf("%d are working: their turns are lost (%s)", len(work), plain.Names(work))})
	}
	return body
}
