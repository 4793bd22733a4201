package recorded_test

import (
	"errors"
	"strings"
	"testing"

	"orchestrator/agent/recorded"
	"orchestrator/thread"
)

// words is a format in which a line is a prompt ("? words"), an answer with its counts ("! words"), or the end of a turn
// (".").
type words struct{ out *recorded.Responses }

func (w words) Line(raw []byte) error {
	kind, text, _ := strings.Cut(string(raw), " ")
	switch kind {
	case "?":
		w.out.Turn()
		w.out.Asked(text)
		w.out.Add(recorded.Piece{Kind: recorded.Text, Person: true}.Say(text))
	case "!":
		w.out.Begin(thread.Exchange{Main: true})
		w.out.Add(recorded.Piece{Kind: recorded.Text, Own: true}.Say(text))
		w.out.Add(recorded.Piece{Kind: recorded.Call, Own: true, Tool: "ls"}.Say("{}"))
		w.out.Count(thread.Usage{Output: int64(len(text))})
	case ".":
		w.out.Now().EndsTurn = true
	default:
		return errors.New("cannot be read")
	}
	return nil
}

func (w words) End() { w.out.End() }

// TestFormat: one reading of a line serves pieces, responses, answers and turns, and goes on behind a line that cannot
// be read.
func TestFormat(t *testing.T) {
	format := recorded.Format(func(out *recorded.Responses) recorded.Decoder { return words{out} })
	const text = "? go\n! yes\n\nx\n? more\n! and\n.\n"
	all := format.Exchanges([]byte(text))
	if len(all) != 2 || all[0].Prompt != "go" || all[0].Text != "yes" || all[0].EndsTurn || all[0].Status != 200 ||
		all[1].Prompt != "more" || all[1].Text != "and" || !all[1].EndsTurn || all[1].Usage.Output != 3 || all[1].Tools[0] != "ls" {
		t.Errorf("responses %+v", all)
	}
	if format.Answer([]byte("! yes")) != "yes" || format.Answer([]byte("? yes")) != "" || !format.Begins([]byte("? yes")) ||
		format.Begins([]byte("! yes")) || format.Begins([]byte("x")) {
		t.Error("lines are taken for others")
	}
	for most := range 8 {
		var got []string
		for p, err := range format.Pieces(t.Context(), strings.NewReader(text)) {
			if got = append(got, p.Text); err != nil {
				got[len(got)-1] = err.Error()
			}
			if len(got) == most {
				break
			}
		}
		want := strings.Split("go|yes|{}|line 4: cannot be read|more|and|{}", "|")
		// What was read of a response before a line that cannot be read comes behind it.
		want[1], want[2], want[3] = want[3], want[1], want[2]
		if n := min(max(most, 1), len(want)); most > 0 && strings.Join(got, "|") != strings.Join(want[:n], "|") {
			t.Errorf("the first %d pieces: %q", most, got)
		}
	}
}
