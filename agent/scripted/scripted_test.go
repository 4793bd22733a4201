package scripted

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestOutcomes reads what the calls of the running turn returned from all wires.
func TestOutcomes(t *testing.T) {
	for wire, body := range map[Wire]string{
		Anthropic: `{"messages":[{"role":"user","content":"before"},
			{"role":"assistant","content":[{"type":"tool_use","id":"x","name":"old","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"old"}]},
			{"role":"user","content":" now "},
			{"role":"assistant","content":[{"type":"text","text":"see"},
				{"type":"tool_use","id":"a","name":"ls","input":{"d":"."}},
				{"type":"tool_use","id":"b","name":"rm","input":{"d":"/"}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"no"}]},
				{"type":"tool_result","tool_use_id":"a","content":"out"},{"type":"text","text":"  "}]}]}`,
		Chat: `{"messages":[{"role":"user","content":"before"},{"role":"user","content":[{"type":"text","text":"now"}]},
			{"role":"assistant","content":"","tool_calls":[{"id":"a","function":{"name":"ls","arguments":"{\"d\":\".\"}"}},
				{"id":"b","function":{"name":"rm","arguments":"{\"d\":\"/\"}"}}]},
			{"role":"tool","tool_call_id":"b","content":"no"},{"role":"tool","tool_call_id":"a","content":"out"}]}`,
		Responses: `{"input":[{"role":"user","content":"before"},
			{"role":"user","content":[{"type":"input_text","text":"now"}]},
			{"type":"function_call","call_id":"a","name":"ls","arguments":"{\"d\":\".\"}"},
			{"type":"function_call","call_id":"b","name":"rm","arguments":"{\"d\":\"/\"}"},
			{"type":"function_call_output","call_id":"b","output":"no"},
			{"type":"function_call_output","call_id":"a","output":[{"type":"input_text","text":"out"}]}]}`,
		Gemini: `{"contents":[{"role":"user","parts":[{"text":"before"}]},{"role":"user","parts":[{"text":"now"}]},
			{"role":"model","parts":[{"functionCall":{"id":"a","name":"ls","args":{"d":"."}}},
				{"functionCall":{"id":"b","name":"rm","args":{"d":"/"}}}]},
			{"role":"user","parts":[{"functionResponse":{"id":"b","response":{"output":"no"}}},
				{"functionResponse":{"id":"a","response":{"output":"out"}}}]}]}`,
	} {
		turn, err := Read(wire, []byte(body), nil)
		if err != nil {
			t.Fatal(err)
		}
		want := []Outcome{
			{Call: Call{Name: "rm", Args: map[string]any{"d": "/"}}, Output: "no"},
			{Call: Call{Name: "ls", Args: map[string]any{"d": "."}}, Output: "out"},
		}
		if d := cmp.Diff(want, turn.Outcomes); d != "" {
			t.Errorf("%s: %s", wire, d)
		}
		if turn.Prompt != "now" || turn.Round != 1 || !slices.Equal(turn.Prompts(), []string{"before", "now"}) {
			t.Errorf("%s: prompt %q, round %d, prompts %q", wire, turn.Prompt, turn.Round, turn.Prompts())
		}
	}
}

// TestLabel has a message that is not the person's.
func TestLabel(t *testing.T) {
	body := `{"messages":[{"role":"user","content":"do it"},{"role":"user","content":"(a hint)"}]}`
	turn, err := Read(Anthropic, []byte(body), func(m *Message) {
		if strings.HasPrefix(m.Text, "(") {
			m.Role = System
		}
	})
	if err != nil || turn.Prompt != "do it" || len(turn.History) != 2 {
		t.Errorf("prompt %q of %+v, %v", turn.Prompt, turn.History, err)
	}
}

func TestPieces(t *testing.T) {
	for _, c := range []struct {
		reply Reply
		text  string
		want  int
	}{
		{Reply{}, "", 0}, {Reply{}, "a", 1},
		{Reply{}, strings.Repeat("ä", 25), 2}, {Reply{}, strings.Repeat("a", 100_000), 64},
		{Reply{Piece: 16}, strings.Repeat("漢", 33), 3}, {Reply{Piece: 16}, strings.Repeat("a", 32), 2},
		{Reply{Piece: 4}, "\xff\xff", 1},
	} {
		got := c.reply.pieces(c.text)
		if len(got) != c.want || strings.Join(got, "") != c.text {
			t.Errorf("%d bytes in pieces of %d: %d pieces, want %d", len(c.text), c.reply.Piece, len(got), c.want)
		}
	}
}

// send streams a reply to a client.
func send(ctx context.Context, w http.ResponseWriter, wire Wire, reply Reply) {
	wr := Writer{ID: func(kind string, _ int) string { return kind }}
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", nil)
	wr.Write(w, r, Turn{Wire: wire, Stream: true}, reply)
}

// ended reports whether an answer came to its end.
func ended(answer string) bool {
	return slices.ContainsFunc([]string{"message_stop", "response.completed", "[DONE]", "STOP"}, func(end string) bool {
		return strings.Contains(answer, end)
	})
}

// leaver is a client that leaves after the first word.
type leaver struct {
	*httptest.ResponseRecorder
	leave func()
}

func (l leaver) Write(b []byte) (int, error) {
	if strings.Contains(string(b), "word") {
		l.leave()
	}
	return l.ResponseRecorder.Write(b)
}

// TestClientGone has the client leave in the middle of an answer that would take hours.
func TestClientGone(t *testing.T) {
	for _, wire := range []Wire{Anthropic, Responses, Chat, Gemini} {
		ctx, leave := context.WithCancel(t.Context())
		w := leaver{httptest.NewRecorder(), leave}
		send(ctx, w, wire, Reply{Text: strings.Repeat("word ", 1000), Piece: 5, Pace: time.Hour})
		if n := strings.Count(w.Body.String(), "word"); n != 1 || ended(w.Body.String()) {
			t.Errorf("%s: %d pieces were sent: %s", wire, n, w.Body)
		}
	}
}

// TestCutIsInTheMiddle cuts answers of a text, of a call and of nothing.
func TestCutIsInTheMiddle(t *testing.T) {
	for _, reply := range []Reply{
		{Text: "abcd", Piece: 1, Cut: true},
		{Text: "a", Cut: true},
		{Cut: true},
		{Text: "I run it.", Calls: []Call{{Name: "run"}, {Name: "again"}}, Cut: true},
	} {
		for _, wire := range []Wire{Anthropic, Responses, Chat, Gemini} {
			w := httptest.NewRecorder()
			func() {
				defer func() {
					if err, _ := recover().(error); !errors.Is(err, http.ErrAbortHandler) {
						t.Errorf("%s of %+v is not cut: %s", wire, reply, w.Body)
					}
				}()
				send(t.Context(), w, wire, reply)
			}()
			if ended(w.Body.String()) {
				t.Errorf("%s of %+v came to its end: %s", wire, reply, w.Body)
			}
		}
	}
}

func TestAttempts(t *testing.T) {
	var a Attempts
	for i, want := range []bool{true, true, false, false} {
		if got := a.Fail("x", 2); got != want {
			t.Errorf("attempt %d fails: %v", i+1, got)
		}
	}
	if !a.Fail("y", 1) || !a.Fail("x", 0) {
		t.Error("other requests and endless failures are counted too")
	}
}
