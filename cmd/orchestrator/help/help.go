// Package help holds the reference that `orchestrator help TOPIC` prints: what is too long for the README and for
// the help of a single verb. The texts are plain, at most 80 columns wide, and kept true by tests beside those of
// the README.
package help

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed *.txt
var texts embed.FS

// Topic is one text of the reference.
type Topic struct {
	Name  string // a word, as typed after `orchestrator help`
	Short string // what it is about, for a list
}

// Topics lists the topics in the order in which they are worth reading.
func Topics() []Topic {
	return []Topic{
		{"agents", "The agents, how they are started, and the states of a thread"},
		{"scripting", "Prompts from scripts: run, send, exit codes, JSON"},
		{"settings", "Settings, limits, model windows and prices, retention"},
		{"worktrees", "Forks, worktrees, shared folders, setup commands"},
		{"permissions", "What an agent may do with this program"},
		{"safety", "Secrets, what a repository can run, what is refused"},
		{"state", "Where threads and checkpoints are stored, and how to back them up"},
		{"postgres", "Threads and checkpoints in a PostgreSQL database"},
		{"trouble", "What to do when something goes wrong"},
	}
}

// Text returns the text of a topic, which ends with a newline.
func Text(name string) (string, error) {
	b, err := texts.ReadFile(strings.ToLower(name) + ".txt")
	if err != nil {
		return "", fmt.Errorf("there is no help topic %q", name)
	}
	return string(b), nil
}
