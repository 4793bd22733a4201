package manager

import (
	"strings"
	"unicode"

	"orchestrator/thread"
	"orchestrator/thread/typing"
)

// consented refuses a prompt that must not be typed into an agent's program, which may run it: our own texts, which quote
// conversations, and several lines without the person's consent.
func (c *Config) consented(agent string, p thread.Prompt) error {
	switch {
	case !c.runsLines(agent), p.From == thread.FromPrimer: // a primer for it is one line that hold no words of others
		return nil
	case p.From == thread.FromNote:
		return thread.Kindf(thread.ErrRefused, "%s", noNote)
	case typing.Lines(p.Text) && !p.Lines:
		return thread.Hint(thread.Kindf(thread.ErrRefused, "its program may run each line of it"),
			"send one line, or allow it with --lines")
	}
	return nil
}

// noNote is why a note on a merge is not typed.
const noNote = "its program may run what is typed into it, and the note quotes a conversation"

// handOver returns what is typed into a program that may run it, to hand a conversation over: with the person's consent
// one line with the path of the handoff, otherwise nothing. It says where the handoff is.
func (l *run) handOver(path string, agreed bool) string {
	line, name := "Read "+path, l.live.thread().DisplayName()
	if strings.ContainsFunc(path, special) {
		l.notices.post(l.live.id, thread.LevelWarn, "%s: nothing is typed into its program, which may run it: "+
			"the path of the handoff has characters that shells interpret: %s", name, path)
		return ""
	}
	if agreed {
		return line
	}
	l.notices.post(l.live.id, thread.LevelWarn, "%s: nothing is typed into its program, which may run it; the handoff is %s. "+
		"To have it read, run `orchestrator send %s %q`", name, path, l.live.thread().Name, line)
	return ""
}

// special reports whether a program that reads lines may take a character of a path for more than itself.
func special(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" ./_-+,:@=", r)
}
