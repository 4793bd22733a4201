package gateway_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"orchestrator/thread"
)

// said is what the speech of one request came to.
func (o *observer) said(request int64) (text string, last thread.Speech) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.spoken {
		if s.Request == request {
			text, last = text+s.Text, s
		}
	}
	return text, last
}

// delta is an event that adds to an answer's text.
func delta(text string) string { return strings.ReplaceAll(answerEvents("\x00")[3], "\x00", text) }

// TestSpeechComesWithTheStream has a provider say its next word only when the last one was heard, packed in every way
// in which answers come.
func TestSpeechComesWithTheStream(t *testing.T) {
	words := []string{"one ", "two ", "three ", "four"}
	events := answerEvents("")
	for _, coding := range []string{"", "gzip", "br", "zstd", "deflate", "raw deflate"} {
		t.Run("coding "+coding, func(t *testing.T) {
			var w *world
			w = open(t, serve(t, func(rw http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				rw.Header().Set("Content-Type", "text/event-stream")
				flush := func() { _ = http.NewResponseController(rw).Flush() }
				var out io.Writer = rw
				if coding != "" {
					rw.Header().Set("Content-Encoding", strings.TrimPrefix(coding, "raw "))
					packer, err := packers[coding](rw)
					if err != nil {
						t.Error(err)
						return
					}
					defer packer.Close()
					out = packer
				}
				write := func(s string) {
					_, _ = io.WriteString(out, s)
					if f, ok := out.(interface{ Flush() error }); ok {
						_ = f.Flush()
					}
					flush()
				}
				write(events[0] + events[1])
				heard := ""
				for _, word := range words {
					write(delta(word))
					heard += word
					w.obs.until(t, "the words "+heard, func() bool {
						all := ""
						for _, s := range w.obs.spoken {
							all += s.Text
						}
						return all == heard
					})
				}
				write(strings.Join(events[4:], ""))
			}), nil)
			if _, _, err := post(t, w.base+"/v1/messages", request("x")); err != nil {
				t.Fatal(err)
			}
			e := w.obs.wait(t, 1)[0]
			text, last := w.obs.said(1)
			if text != e.Text || text != "one two three four" || !last.Done || last.Cut || last.Missed || e.Interrupted {
				t.Errorf("said %q of %q, at last %+v", text, e.Text, last)
			}
			if log := strings.Join(w.obs.log, ", "); !strings.HasPrefix(log, "start true") ||
				!strings.HasSuffix(log, "end claude-sonnet-4-6") {
				t.Errorf("heard %s", log)
			}
		})
	}
}

// TestSpeechOfWhatDoesNotStream tells what came of answers that say nothing before their end, and nothing of what is
// none.
func TestSpeechOfWhatDoesNotStream(t *testing.T) {
	whole := `{"type":"message","role":"assistant","model":"m",` +
		`"content":[{"type":"text","text":"at once"}],"stop_reason":"end_turn"}`
	events := answerEvents("begun")
	for name, tc := range map[string]struct {
		kind, body, text string
		status           int
		cut              bool
	}{
		"whole": {"application/json", whole, "at once", 200, false},
		"HTML":  {"text/html", "<html><body>Sign in</body></html>", "", 200, true},
		"an error": {"application/json",
			`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, "", 529, false},
		"an error in a 200": {"text/event-stream",
			"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
			"", 200, true},
		"an error after it": {"text/event-stream",
			strings.Join(events[:4], "") + "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"x\"}}\n\n", "begun",
			200, true},
		"no end":   {"text/event-stream", strings.Join(events[:4], ""), "begun", 200, true},
		"no words": {"text/event-stream", strings.Join(answerEvents(""), ""), "", 200, false},
		"nothing":  {"text/event-stream", "", "", 200, true},
		"two texts": {"text/event-stream",
			strings.Join(events[:4], "") + strings.ReplaceAll(events[1]+events[3], `"index":0`, `"index":1`) +
				strings.Join(events[4:], ""), "begun\nbegun", 200, false},
		"thinking and a use": {"text/event-stream",
			events[0] + strings.ReplaceAll(events[1], `"type":"text"`, `"type":"thinking"`) + events[3] +
				strings.Join(events[4:], ""), "", 200, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", tc.kind)
				w.WriteHeader(tc.status)
				_, _ = io.WriteString(w, tc.body)
			}), nil)
			_, body, err := post(t, w.base+"/v1/messages", request("x"))
			if err != nil || body != tc.body {
				t.Fatalf("%v: %q", err, body)
			}
			e := w.obs.wait(t, 1)[0]
			text, last := w.obs.said(1)
			if text != tc.text || text != e.Text || !last.Done || last.Cut != tc.cut || last.Missed {
				t.Errorf("said %q of %q, at last %+v", text, e.Text, last)
			}
		})
	}
}

// TestSpeechOfARetry cuts an answer off and gives it whole when it is asked for again.
func TestSpeechOfARetry(t *testing.T) {
	var mu sync.Mutex
	asked := 0
	w := open(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		mu.Lock()
		asked++
		first := asked == 1
		mu.Unlock()
		if !first {
			streamAnswer(w, "begun and ended")
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, strings.Join(answerEvents("begun")[:4], ""))
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}), nil)
	if _, body, err := post(t, w.base+"/v1/messages", request("x")); err == nil {
		t.Fatalf("the answer was not cut: %q", body)
	}
	if _, _, err := post(t, w.base+"/v1/messages", request("x")); err != nil {
		t.Fatal(err)
	}
	w.obs.wait(t, 2)
	if text, last := w.obs.said(1); text != "begun" || !last.Done || !last.Cut {
		t.Errorf("the first: %q, %+v", text, last)
	}
	if text, last := w.obs.said(2); text != "begun and ended" || !last.Done || last.Cut {
		t.Errorf("the second: %q, %+v", text, last)
	}
}

// TestSideRequestsAreNotSpoken has a title, a sub-agent and what nobody can read answered before the thread's own
// requests and in the middle of an answer to one, each in a piece before and one after it is known whose it is.
func TestSideRequestsAreNotSpoken(t *testing.T) {
	events := answerEvents("")
	asides := []string{
		`{"model":"claude-haiku-4-5","max_tokens":64,"stream":true,"system":"Write a title",` +
			`"messages":[{"role":"user","content":"aside"}]}`,
		`{"model":"claude-sonnet-4-6","max_tokens":9000,"stream":true,"system":"cc_is_subagent=true",` +
			`"tools":[{"name":"Bash"}],"messages":[{"role":"user","content":"aside"}]}`,
		"{",
	}
	var w *world
	begun, over := make(chan struct{}), make(chan struct{})
	var requests atomic.Int64
	w = open(t, serve(t, func(rw http.ResponseWriter, r *http.Request) {
		n := int(requests.Add(1))
		body, _ := io.ReadAll(r.Body)
		rw.Header().Set("Content-Type", "text/event-stream")
		write := func(s string) {
			_, _ = io.WriteString(rw, s)
			_ = http.NewResponseController(rw).Flush()
		}
		write(events[0] + events[1])
		switch {
		case strings.Contains(string(body), "the first"):
			write(delta("to the first"))
		case strings.Contains(string(body), "the second"):
			write(delta("to the "))
			w.obs.until(t, "the second answer's beginning", func() bool { return len(w.obs.begun) >= n })
			close(begun)
			<-over
			write(delta("second"))
		default:
			write(delta("aside, early, "))
			w.obs.until(t, "the aside's beginning", func() bool { return len(w.obs.begun) >= n })
			write(delta("late"))
		}
		write(strings.Join(events[4:], ""))
	}), nil)
	ask := func(body string) {
		if _, _, err := post(t, w.base+"/v1/messages", body); err != nil {
			t.Error(err)
		}
	}
	ask(asides[0])
	ask(request("the first"))
	go ask(request("the second"))
	<-begun
	for _, body := range asides {
		ask(body)
	}
	close(over)
	w.obs.wait(t, 3+len(asides))
	ended := 0
	w.obs.note(func() {
		for _, s := range w.obs.spoken {
			if s.Request < 1 || s.Request > 2 || strings.Contains(s.Text, "aside") {
				t.Errorf("told %+v", s)
			}
			if s.Done {
				ended++
			}
		}
	})
	for i, want := range []string{"to the first", "to the second"} {
		if text, last := w.obs.said(int64(i + 1)); text != want || !last.Done || last.Cut {
			t.Errorf("of answer %d: %q, %+v", i+1, text, last)
		}
	}
	if ended != 2 {
		t.Errorf("%d answers ended", ended)
	}
}

// TestSlowListenerDelaysNothing has an observer that hears nothing until the agent has all of a long answer.
func TestSlowListenerDelaysNothing(t *testing.T) {
	const pieces = 600
	piece := strings.Repeat("x", 1000)
	events := answerEvents("")
	release := make(chan struct{})
	var once sync.Once
	obs := newObserver()
	began := make(chan struct{})
	obs.onSpeech = func(thread.Speech) { once.Do(func() { close(began) }); <-release }
	w := openWith(t, obs, serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, events[0]+events[1]+delta("first"))
		_ = http.NewResponseController(w).Flush()
		<-began
		for range pieces {
			_, _ = io.WriteString(w, delta(piece))
		}
		_, _ = io.WriteString(w, strings.Join(events[4:], ""))
	}), nil)
	begin := time.Now()
	_, body, err := post(t, w.base+"/v1/messages", request("x"))
	if err != nil || !strings.HasSuffix(body, events[len(events)-1]) {
		t.Fatalf("%v after %v: %d bytes", err, time.Since(begin), len(body))
	}
	close(release)
	e := obs.wait(t, 1)[0]
	text, last := obs.said(1)
	missed, most := false, 0
	for _, s := range obs.spoken {
		missed, most = missed || s.Missed, max(most, len(s.Text))
	}
	if !missed || !last.Done || !strings.HasPrefix(e.Text, text) || most > 256<<10 || len(e.Text) != 5+pieces*len(piece) {
		t.Errorf("%d of %d bytes were said, %d at once, missed %v, at last %+v", len(text), len(e.Text), most, missed,
			last.Done)
	}
}
