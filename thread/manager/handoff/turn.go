package handoff

import (
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/secret"
)

// Turn is one turn of the record. Its texts use the file paths of the new thread.
type Turn struct {
	Number int
	Prompt string // the excerpt that its checkpoint keeps
	Said   string // the excerpt of the answer that its checkpoint keeps
	Cut    bool
	Rest   []thread.Entry // its content
	Loose  bool           // Rest contains this turn and earlier ones, and its beginning is unknown
}

// Says reports whether a turn has any content.
func (t Turn) Says() bool { return t.Prompt != "" || len(t.Rest) > 0 }

// answer returns the last text that the agent answered in a turn.
func (t Turn) answer() string {
	for _, e := range slices.Backward(t.Rest) {
		if e.Kind == thread.EntryAnswer && strings.TrimSpace(e.Text) != "" {
			return e.Text
		}
	}
	return t.Said
}

// pending notes that the record has no result for a tool call.
func (t Turn) pending(call int) string {
	asked := t.Rest[call]
	for _, e := range t.Rest[call+1:] {
		if e.Kind == thread.EntryResult && (asked.Call == "" || e.Call == "" || e.Call == asked.Call) {
			return ""
		}
	}
	return " — no result recorded"
}

// Turns divides the conversation at a checkpoint into turns as the timeline counts them; list are its checkpoints,
// newest first. Turns that are no longer in the conversation because it was compacted have only the excerpts of their
// checkpoints. read reads items; clean is applied to every text.
func Turns(
	at thread.Checkpoint, list []thread.Checkpoint, items []thread.Item,
	read func([]thread.Item) []thread.Entry, clean func(string) string,
) []Turn {
	ends := endsOf(at, list)
	turns := make([]Turn, 0, len(ends))
	to := len(items)
	for i, e := range ends {
		t := Turn{Number: e.Turn, Prompt: clean(e.Prompt), Said: clean(e.Answer), Cut: e.Interrupted}
		from := 0
		if i+1 < len(ends) {
			from = ends[i+1].Items
			if ends[i+1].Note == thread.NoteRebuilt && e.Note != thread.NoteRebuilt {
				from = to + 1 // a rebuilt turn has fewer items than the agent's requests
			}
		}
		if to > 0 {
			t.Loose = from > to || from < to && i > 0 && !holds(read(items[from:to]), e.Prompt)
			if t.Loose {
				from = 0
			}
			t.Rest = read(items[from:to])
			for j := range t.Rest {
				t.Rest[j].Text = clean(t.Rest[j].Text)
			}
			to = from
		}
		turns = append(turns, t)
	}
	slices.Reverse(turns)
	return turns
}

// endsOf returns the checkpoints that end the turns up to one, newest first.
func endsOf(at thread.Checkpoint, list []thread.Checkpoint) []thread.Checkpoint {
	if at.Kind == thread.KindResponse {
		list = append([]thread.Checkpoint{at}, list...)
	}
	var ends []thread.Checkpoint
	for _, o := range list {
		switch n := len(ends); {
		case o.Turn == 0:
		case n == 0 || ends[n-1].Turn != o.Turn:
			ends = append(ends, o)
		case o.Kind == thread.KindTurn && ends[n-1].Kind != thread.KindTurn:
			o.Items = ends[n-1].Items // a rewind to it or a safety checkpoint, which name no prompt
			ends[n-1] = o
		}
	}
	if len(ends) == 0 {
		ends = []thread.Checkpoint{at}
	}
	return ends
}

// holds reports whether entries contain a prompt, as far as a checkpoint keeps it.
func holds(entries []thread.Entry, prompt string) bool {
	const enough = 40
	begin := plaintext.Cut(plaintext.OneLine(prompt, len(prompt)), enough)
	return slices.ContainsFunc(entries, func(e thread.Entry) bool {
		return e.Kind == thread.EntryPrompt &&
			strings.Contains(plaintext.OneLine(secret.Redact(e.Text), len(e.Text)+len(prompt)), begin)
	})
}
