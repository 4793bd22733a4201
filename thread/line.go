package thread

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"orchestrator/thread/plaintext"
	"orchestrator/thread/secret"
)

// Line returns on one line what a list shows about a thread besides its name: what it asks, why it is stuck, what it does,
// or what it last said. "" if there is nothing to say.
func (s Status) Line() string {
	st := s.State
	if s.betweenRuns() && st.State != StateInterrupted && s.Merging == "" && !s.Settled() {
		if line := s.runLine(); line != "" {
			return line
		}
	}
	switch s.Group() {
	case GroupNeedsYou:
		return s.asks()
	case GroupWorking:
		switch {
		case st.State == StateStarting:
			return "starting"
		case st.State == StateSilent:
			return "no answer yet"
		case st.State.Trouble():
			return string(st.State) + st.More()
		}
		return s.Last
	case GroupStuck:
		if st.State == StateExited {
			return fmt.Sprintf("exited (%d)", s.Exit.Code) + after(": ", oneLine(plaintext.LastLine(s.Exit.Screen)))
		}
		return string(st.State) + st.More()
	default:
		if s.Outcome.Kind != OutcomeNone {
			return string(s.Outcome.Kind) + after(": ", oneLine(s.Outcome.Reason))
		}
		return s.Last
	}
}

// runLine returns why the newest execution of a thread waits, or how it ended if not with an answer; "" if there is
// nothing to say.
func (s Status) runLine() string {
	switch r := s.Run; r.State {
	case "queued":
		if !r.Again.IsZero() { // its reason says until when
			return oneLine(r.Reason)
		}
		return r.State + after(": ", oneLine(r.Reason))
	case "failed":
		word := r.State
		if r.SignIn {
			word = "sign in"
		}
		return word + after(": ", oneLine(r.Reason)+after("; its fallback: ", oneLine(r.Fallback)))
	case "lost", "cancelled":
		return r.State + after(": ", oneLine(r.Reason))
	default:
		return ""
	}
}

// asks returns what the person is needed for.
func (s Status) asks() string {
	st := s.State
	p, cut := s.Unanswered()
	switch {
	case st.Question != nil:
		return oneLine(st.Question.Line())
	case st.State == StateUnauthorised:
		return "sign in" + after(": ", oneLine(st.Why()))
	case st.State.NeedsPerson():
		return oneLine(st.Why())
	case s.Merging != "":
		return "merge into " + s.Merging + " has conflicts"
	case cut:
		return fmt.Sprintf("prompt %s: %s", map[bool]string{true: "refused", false: "cut off"}[p.State == PromptRefused], oneLine(p.Text))
	default:
		return "interrupted, can be resumed"
	}
}

func after(sep, text string) string {
	if text == "" {
		return ""
	}
	return sep + text
}

// maxLine is the most bytes of a line about what an agent does.
const maxLine = 160

// oneLine makes a text one harmless line without secrets.
func oneLine(text string) string {
	return plaintext.Line(plaintext.OneLine(secret.Redact(plaintext.Cut(text, 8*maxLine)), maxLine))
}

// LineOf returns in a line what the newest of a conversation's entries is: a tool that is called, with what it is called
// for, or the first line of an answer.
func LineOf(entries []Entry) string {
	said := ""
	for _, e := range entries {
		switch e.Kind {
		case EntryCall:
			said = oneLine(called(e.Tool, e.Text))
		case EntryAnswer:
			if line := plaintext.FirstLine(e.Text); line != "" {
				said = oneLine(line)
			}
		case EntryPrompt, EntryThinking, EntryResult:
		}
	}
	return said
}

// LineOfPrompt is the line while an agent has a prompt and has said nothing yet.
func LineOfPrompt(text string) string { return "› " + oneLine(plaintext.FirstLine(text)) }

// called returns what a tool is called for: the command that it runs, or the tool with the file or the like that is among
// its arguments, and otherwise with the first that is a text.
func called(tool, arguments string) string {
	if len(arguments) > 64<<10 {
		return tool
	}
	dec := json.NewDecoder(strings.NewReader(arguments))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return tool + after(" ", plaintext.FirstLine(arguments))
	}
	found := map[string]string{}
	first := ""
	for dec.More() {
		name, err := dec.Token()
		var v any
		if err != nil || dec.Decode(&v) != nil {
			return tool
		}
		text := words(v)
		found[strings.ToLower(strings.ReplaceAll(fmt.Sprint(name), "_", ""))] = text
		first = cmp.Or(first, text)
	}
	for _, name := range []string{"command", "cmd", "script"} {
		if line := plaintext.FirstLine(found[name]); line != "" {
			return line
		}
	}
	for _, name := range []string{"filepath", "absolutepath", "path", "file", "notebookpath"} {
		if text := found[name]; text != "" {
			return tool + " " + path.Base(text)
		}
	}
	for _, name := range []string{"pattern", "query", "url", "description"} {
		if text := found[name]; text != "" {
			return tool + " " + plaintext.FirstLine(text)
		}
	}
	return tool + after(" ", plaintext.FirstLine(first))
}

// words returns an argument that is a text, or the last word of one that is a list: of ["bash", "-lc", "make"] it is what
// runs.
func words(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		if len(v) >= 3 && (v[1] == "-c" || v[1] == "-lc") {
			return words(v[2])
		}
		var all []string
		for _, part := range v {
			if s, ok := part.(string); ok {
				all = append(all, s)
			}
		}
		return strings.Join(all, " ")
	default:
		return ""
	}
}
