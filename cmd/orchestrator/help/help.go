// Package help contains the topics that `orchestrator help TOPIC` prints: what is too long for the README and for the
// help of a single verb. The texts are plain, at most 80 columns wide, and checked by tests, like the README.
package help

import (
	"embed"
	"fmt"
	"strings"

	"orchestrator/cmd/orchestrator/config"
	"orchestrator/cmd/orchestrator/planfile"
)

//go:embed *.txt
var texts embed.FS

// Topic is a help topic.
type Topic struct {
	Name  string // as typed after `orchestrator help`
	Short string // its description in a list
}

// Topics returns all topics, in the order in which to read them.
func Topics() []Topic {
	return []Topic{
		{"agents", "The agents, how they are started, and the states of a thread"},
		{"scripting", "Prompts from scripts: run, send, staged data, exit codes, JSON"},
		{"runs", "Agents without a terminal: one prompt, its answer, a queue and an end"},
		{"plans", "Several agents on one task by a plan, in waves; an example to copy"},
		{"tasks", "Tasks that wait: added, split out of a text, taken by armed plans"},
		{"bundles", "What agents are given before they begin: prepared, counted, shared"},
		{"answers", "What ran, what it was given, what came of it, and what went wrong"},
		{"outputs", "What came of executions: files, checks, insights; reports"},
		{"record", "What agents were given, what they did, and what came of it"},
		{"phases", "A work session in its five phases, an example"},
		{"budgets", "What may be spent, how that is kept, and what is not known"},
		{"notifications", "Being called: the event log, notifications, commands on events"},
		{"settings", "Settings, limits, model windows and prices, retention"},
		{"contexts", "How contexts are kept small, and what that costs"},
		{"bases", "What agents send before a word is said, and leaving it out"},
		{"servers", "MCP servers: what may start, switching, task patterns"},
		{"worktrees", "Forks, worktrees, shared folders, setup commands"},
		{"permissions", "What an agent may do with this program"},
		{"safety", "Secrets, what a repository can run, what is refused"},
		{"state", "Where threads and checkpoints are stored, and how to back them up"},
		{"postgres", "Threads and checkpoints in a PostgreSQL database"},
		{"without", "What still works without each part: git, a provider, a server, space"},
		{"trouble", "What to do when something goes wrong"},
	}
}

// Text returns the text of a topic, which ends with a newline.
func Text(name string) (string, error) {
	b, err := texts.ReadFile(strings.ToLower(name) + ".txt")
	if err != nil {
		return "", fmt.Errorf("unknown help topic %q", name)
	}
	return strings.NewReplacer(
		"{settings}", config.Help(""), "{limits}", config.Help("limits"), "{retention}", config.Help("retention"),
		"{bases}", config.Help("context"), "{runs}", config.Help("runs"), "{checks}", config.Help("checks"),
		"{plan}", planfile.Example(),
	).Replace(string(b)), nil
}
