package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"orchestrator/contextmgr/wire"
	"orchestrator/contextmgr/wire/span"
	"orchestrator/thread"
	"orchestrator/thread/pattern"
)

// These are Claude Code's words around its files of instructions. It shows them before the first prompt, and once more
// before the next prompt if they are other ones when a session is resumed: also if only their paths are.
const (
	reminder      = "<system-reminder>\n"
	reminderEnds  = "\n</system-reminder>"
	filesShown    = "Codebase and user instructions are shown below."
	filesAgain    = "Instruction files were re-read "
	filesAgainEnd = "the instructions preamble above still applies:"
	fileBegins    = "Contents of "
	filesGone     = "\n\nInstructions no longer present: "
)

// fileHeading matches what stands before a file of the project's own instructions, with its path and whose it is.
var fileHeading = pattern.Lazy(`\n\nContents of (/[^\n]*) (\((?:project instructions, checked into the codebase|` +
	`user's private project instructions, not checked in)\)):\n\n`)

// anyHeading matches what stands before any file.
var anyHeading = pattern.Lazy(`\n\nContents of [^\n]* \([^\n]*\):\n\n`)

// Instructions implements wire.Instructor.
func (Codec) Instructions(items []thread.Item) []wire.Instructions {
	if !slices.ContainsFunc(items, func(i thread.Item) bool { return bytes.Contains(i.Raw, []byte(filesAgain)) }) {
		return nil
	}
	var all []wire.Instructions
	for i, item := range items {
		if bytes.Contains(item.Raw, []byte(fileBegins)) {
			all = append(all, instructions(i, item.Raw)...)
		}
	}
	return all
}

// Heading implements wire.Instructor.
func (Codec) Heading(path string) []byte {
	quoted := wire.Quote(fileBegins + path + " (")
	return quoted[1 : len(quoted)-1]
}

// instructions returns the files in a message. Claude Code's reminders stand before the person's prompt, each in a block of
// its own, so a text after which no other comes may be the person's.
func instructions(item int, raw json.RawMessage) []wire.Instructions {
	var role wire.Value
	var found []wire.Instructions
	prompt, again, contents := false, 0, 0
	err := span.New(raw).Object(func(key string, c *span.Cursor) error {
		switch key {
		case "role":
			return role.Read(c)
		case "content":
			if contents++; c.Kind() != '[' {
				return nil
			}
			return c.Array(func(c *span.Cursor) error {
				kind, text, err := textBlock(c)
				if err != nil || prompt || !kind.Is("text") || !kind.Once() {
					return err
				}
				s := text.Text()
				if !text.Once() || !strings.HasPrefix(s, reminder) {
					prompt = strings.TrimSpace(s) != ""
					return nil
				}
				files := filesIn(text, s)
				if len(files) > 0 && files[0].Again {
					again++
				}
				found = append(found, files...)
				return nil
			})
		}
		return nil
	})
	if err != nil || !prompt || contents != 1 || again > 1 || !role.Once() || !role.Is("user") {
		return nil
	}
	for i := range found {
		found[i].Item = item
	}
	return found
}

// textBlock reads a block of a message.
func textBlock(c *span.Cursor) (kind, text wire.Value, err error) {
	err = c.Object(func(key string, c *span.Cursor) error {
		switch key {
		case "type":
			return kind.Read(c)
		case "text":
			return text.Read(c)
		}
		return nil
	})
	return kind, text, err
}

// filesIn returns the files in a reminder.
func filesIn(raw wire.Value, s string) []wire.Instructions {
	in, ends := strings.CutSuffix(strings.TrimSuffix(s, "\n"), reminderEnds)
	if !ends || len(in) < len(reminder) {
		return nil
	}
	head, _, _ := strings.Cut(in[len(reminder):], "\n")
	again := strings.HasPrefix(head, filesAgain) && strings.HasSuffix(head, filesAgainEnd)
	if !again && !strings.HasPrefix(head, filesShown) {
		return nil
	}
	var all []wire.Instructions
	for _, at := range fileHeading().FindAllStringSubmatchIndex(in, -1) {
		start, end := at[1], len(in)
		if next := anyHeading().FindStringIndex(in[start:]); next != nil {
			end = start + next[0]
		}
		if gone := strings.Index(in[start:end], filesGone); gone >= 0 {
			end = start + gone
		}
		if part, ok := wire.Part(raw.Raw, start, end); ok {
			from := raw.Span().Start
			all = append(all, wire.Instructions{
				Span: wire.Span{Start: from + part.Start, End: from + part.End}, Again: again,
				Path: in[at[2]:at[3]], Kind: in[at[4]:at[5]], Text: in[start:end],
			})
		}
	}
	return all
}

var _ wire.Instructor = Codec{}
