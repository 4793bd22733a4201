package program

import (
	"strings"

	"orchestrator/agent/demo/record"
)

// SubAgent is the tool that hands a task to a sub-agent. It is not offered: the model knows of it.
const SubAgent = "sub_agent"

// Handed is what a call of it hands over.
type Handed struct {
	Type string `json:"type"`
	Task string `json:"task"`
}

// mostRounds is how many answers a sub-agent may take.
const mostRounds = 50

// textOf returns the text of a message.
func textOf(m record.Message) string {
	var all []string
	for _, b := range m.Content {
		if b.Type == "text" {
			all = append(all, b.Text)
		}
	}
	return strings.Join(all, "\n")
}
