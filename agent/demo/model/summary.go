package model

import (
	"fmt"
	"strconv"
	"strings"

	"orchestrator/agent/scripted"
	"orchestrator/thread/pattern"
)

// summaryAsked matches what orchestrator asks a conversation's model when older turns are to be replaced.
var summaryAsked = pattern.Lazy(`^Write a summary of this conversation up to (?:the prompt that begins with ("(?:[^"\\]|\\.)*")|the)`)

// mostQuoted is how much of a prompt a summary has, in bytes.
const mostQuoted = 200

// summarise writes the summary that a prompt asks for: of the prompts in the conversation, up to one.
func summarise(t scripted.Turn) (text string, asked bool) {
	m := summaryAsked().FindStringSubmatch(t.Prompt)
	if m == nil {
		return "", false
	}
	until, err := strconv.Unquote(m[1])
	if err != nil {
		until = ""
	}
	var b strings.Builder
	b.WriteString("## Goal\nThe work is what was asked for, one thing after the other.\n\n## Asked for\n")
	n := 0
	for _, p := range t.Prompts() {
		p = strings.Join(strings.Fields(p), " ")
		if p == t.Prompt || until != "" && strings.HasPrefix(p, until) {
			break
		}
		fmt.Fprintf(&b, "- %s\n", clip(p, mostQuoted))
		n++
	}
	if n == 0 {
		b.WriteString("none\n")
	}
	b.WriteString("\n## Decisions\nnone\n\n## Files\nnone\n\n## Facts\nnone\n\n## Open points\nnone\n")
	return b.String(), true
}
