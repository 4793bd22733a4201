// Package summary words and checks what stands in place of the older part of a conversation.
//
// It guarantees:
//
//   - Everything depends on the arguments alone: there is no network, no clock and no memory here.
//   - A summary that names files or identifiers which are not in what it replaces is refused, and so is one that is
//     empty, too long or without its sections.
//   - What Extract returns is never refused: it takes only whole words of what it replaces.
//
// Who writes a summary, when, and where it is stored are for its caller.
package summary

import (
	"fmt"
	"strings"

	"orchestrator/thread"
)

// The sections of a summary, each with a heading of its own.
const (
	headGoal   = "## Goal"
	headAsked  = "## Asked for"
	headChosen = "## Decisions"
	headFiles  = "## Files"
	headFacts  = "## Facts"
	headOpen   = "## Open points"
)

// headings returns the headings in order.
func headings() []string {
	return []string{headGoal, headAsked, headChosen, headFiles, headFacts, headOpen}
}

// Draft is a summary that is to be written.
type Draft struct {
	Thread thread.ID
	Model  string // of the conversation
	// Replaced is the part of the conversation that the summary stands for, as people read it.
	Replaced string
	// Until is the beginning of what comes after that part: a prompt of the person.
	Until string
	// Tokens is how long the summary may be.
	Tokens int
	// Also is what the person wants in summaries besides what belongs in each; it may be "".
	Also string
	// Request returns a request for the model of the conversation: all of the conversation, and then a prompt.
	Request func(prompt string) []byte
}

// Written is a summary as it was written.
type Written struct {
	Text    string
	Source  string // who wrote it
	CostUSD float64
}

// mostUntil is how much of the next prompt is quoted.
const mostUntil = 200 // bytes

// Prompt returns what a model is asked for, so that it writes the summary.
func (d Draft) Prompt() string {
	until := "the newest part"
	if quote := cutWords(line(d.Until), mostUntil); quote != "" {
		until = fmt.Sprintf("the prompt that begins with %q", quote)
	}
	also := ""
	if text := strings.TrimSpace(d.Also); text != "" {
		also = "\n\nAlso keep this: " + text
	}
	return fmt.Sprintf(`Write a summary of this conversation up to %s, and leave out what comes from there on. The summary `+
		`will stand in place of what it summarises, and the work goes on from it. Answer with text only, and call no tools. `+
		`Use at most %d tokens, and exactly these headings, each on a line of its own:

%s
What the work is for, and how far it is.

%s
What the person asked for, in the person's own words, oldest first.

%s
What was decided, and why.

%s
The paths of the files that were read or changed, and what was changed in them.

%s
What was found out: identifiers, commands that work, errors word for word.

%s
What is not done or not decided.

Name only files, identifiers and commands that stand in the conversation, written exactly as there. Write "none" `+
		`below a heading that has nothing.%s`,
		until, d.Tokens, headGoal, headAsked, headChosen, headFiles, headFacts, headOpen, also)
}

// Note is a summary as it stands in a conversation.
type Note struct {
	Source   string // who wrote it: a model, a person; "" if nobody did and it is an extract
	Replaced int64  // the tokens that it replaces
	File     string // has all that it replaces; "" if there is none
	Text     string
}

// Text returns the text that the agent gets in place of what is replaced. It never changes for the same note, because
// providers cache requests by their bytes.
func Text(n Note) string {
	by := "written by " + word(n.Source)
	if word(n.Source) == "" {
		by = "taken from it word for word"
	}
	text := fmt.Sprintf("[Summary: the earlier part of this conversation, %s tokens, was replaced by this summary, %s.",
		thread.Tokens(n.Replaced), by)
	if n.File != "" {
		text += " All of it is in the file " + n.File + ": read that if you need more than is here."
	}
	return text + headEnd + strings.TrimSpace(strings.ToValidUTF8(n.Text, ""))
}

// headEnd ends what Text puts before the summary itself.
const headEnd = "]\n\n"

// Own returns the summary itself from a text that Text returned.
func Own(text string) string {
	if _, own, ok := strings.Cut(text, headEnd); ok {
		return own
	}
	return text
}

// word returns a name on one line that cannot end the heading.
func word(name string) string {
	name = strings.NewReplacer("[", "", "]", "").Replace(strings.ToValidUTF8(name, ""))
	return strings.Join(strings.Fields(name), " ")
}
