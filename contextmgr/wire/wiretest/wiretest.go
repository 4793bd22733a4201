// Package wiretest is the test suite for every wire codec, with helpers for their tests.
package wiretest

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// Sample is one exchange in a codec's format, with the expected result of reading it.
type Sample struct {
	Path   string
	Header map[string]string
	Body   string // of a main request
	Stream string // a complete streamed answer
	Whole  string // the same answer, not streamed; skipped if empty

	Prompt  string
	Session string
	Items   int
	Result  wire.Result // of Item only the form is checked
	// Entries are those of the request's items and of the answer.
	Entries []thread.Entry
	Turns   []int
}

// Call returns the sample's request with another body.
func (s Sample) Call(body string) wire.Call {
	h := http.Header{}
	for name, value := range s.Header {
		h.Set(name, value)
	}
	return wire.Call{Path: s.Path, Header: h, Body: []byte(body)}
}

// StreamType is the content type of streamed answers.
const StreamType = "text/event-stream"

// Read feeds an answer in pieces and returns the result.
func Read(c wire.Codec, contentType string, pieces ...string) wire.Result {
	r, _ := readText(c, contentType, pieces...)
	return r
}

// readText is Read, and returns the text that was available meanwhile; "" if the codec does not stream text.
func readText(c wire.Codec, contentType string, pieces ...string) (r wire.Result, said string) {
	a := c.Answer(200, contentType)
	for _, p := range pieces {
		a.Write([]byte(p))
		if s, ok := a.(wire.TextStreamer); ok {
			said += s.NewText()
		}
	}
	return a.Result(), said
}

// Run tests a codec against a sample.
func Run(t *testing.T, c wire.Codec, s Sample) {
	t.Run("match", func(t *testing.T) {
		if !c.Match("POST", s.Path) || !c.Match("POST", "/some/base"+s.Path) {
			t.Error("does not match its path")
		}
		for _, path := range []string{"", "/", "/v1/models", "/v1/embeddings", "/v1/messages/batches", "/v1/files"} {
			if c.Match("POST", path) {
				t.Errorf("matches %q", path)
			}
		}
		if c.Match("GET", s.Path) {
			t.Error("matches GET")
		}
	})
	t.Run("request", func(t *testing.T) { request(t, c, s) })
	t.Run("cut request", func(t *testing.T) {
		for i := range len(s.Body) {
			r, err := c.Request(s.Call(s.Body[:i]))
			if err == nil || len(r.Items) > 0 || r.Purpose == wire.PurposeMain {
				t.Fatalf("cut at %d: %d items, %s, %v", i, len(r.Items), r.Purpose, err)
			}
		}
	})
	t.Run("stream", func(t *testing.T) {
		same(t, "whole", Read(c, StreamType, s.Stream), s.Result)
		same(t, "byte by byte", Read(c, StreamType, strings.SplitAfter(s.Stream, "")...), s.Result)
		single := make([]string, 0, len(s.Stream))
		for i := range len(s.Stream) {
			single = append(single, s.Stream[i:i+1])
		}
		same(t, "split runes", Read(c, StreamType, single...), s.Result)
		same(t, "carriage returns", Read(c, StreamType, strings.ReplaceAll(s.Stream, "\n", "\r\n")), s.Result)
		same(t, "twice", Read(c, StreamType+"; charset=utf-8", s.Stream), s.Result)
	})
	t.Run("cut stream", func(t *testing.T) { cutStream(t, c, s) })
	t.Run("speech", func(t *testing.T) { speech(t, c, s) })
	if s.Whole != "" {
		t.Run("whole answer", func(t *testing.T) { same(t, "whole", Read(c, "application/json", s.Whole), s.Result) })
	}
	t.Run("entries", func(t *testing.T) { entries(t, c, s) })
	t.Run("errors", func(t *testing.T) { failures(t, c) })
}

func request(t *testing.T, c wire.Codec, s Sample) {
	r, err := c.Request(s.Call(s.Body))
	if err != nil {
		t.Fatal(err)
	}
	if r.Purpose != wire.PurposeMain || r.Prompt != s.Prompt || r.Session != s.Session || len(r.Items) != s.Items {
		t.Errorf("purpose %q, prompt %q, session %q, %d items", r.Purpose, r.Prompt, r.Session, len(r.Items))
	}
	rest := []byte(s.Body)
	for i, it := range r.Items {
		_, after, ok := bytes.Cut(rest, it.Raw)
		if !ok || it.Wire != c.Wire() || !json.Valid(it.Raw) {
			t.Fatalf("item %d is not the body's own bytes: %s", i, it.Raw)
		}
		rest = after
	}
}

func cutStream(t *testing.T, c wire.Codec, s Sample) {
	complete := false
	for i := range len(s.Stream) {
		r := Read(c, StreamType, s.Stream[:i])
		if r.Item != nil && !json.Valid(r.Item) {
			t.Fatalf("cut at %d: item %s", i, r.Item)
		}
		if !strings.HasPrefix(s.Result.Text, r.Text) {
			t.Fatalf("cut at %d: text %q", i, r.Text)
		}
		if complete && !r.Complete {
			t.Fatalf("cut at %d: no longer complete", i)
		}
		complete = r.Complete
		if !complete && (r.Err == "" || r.EndsTurn) {
			t.Fatalf("cut at %d: error %q, ends turn %v", i, r.Err, r.EndsTurn)
		}
	}
}

// speech compares the text of a stream, as it arrives, with the final text, for every place where it may be cut.
func speech(t *testing.T, c wire.Codec, s Sample) {
	before := ""
	for i := range len(s.Stream) + 1 {
		r, said := readText(c, StreamType, s.Stream[:i])
		if !strings.HasPrefix(said, before) || !strings.HasPrefix(r.Text, said) {
			t.Fatalf("cut at %d: said %q after %q, of %q", i, said, before, r.Text)
		}
		before = said
	}
	if before != s.Result.Text {
		t.Errorf("said %q, the text is %q", before, s.Result.Text)
	}
	if _, said := readText(c, StreamType, strings.SplitAfter(s.Stream, "\n")...); said != s.Result.Text {
		t.Errorf("line by line: said %q, the text is %q", said, s.Result.Text)
	}
}

func same(t *testing.T, how string, got, want wire.Result) {
	t.Helper()
	if !json.Valid(got.Item) {
		t.Errorf("%s: item %s", how, got.Item)
	}
	got.Item, want.Item = nil, nil
	g, _ := json.Marshal(got)
	w, _ := json.Marshal(want)
	if !bytes.Equal(g, w) {
		t.Errorf("%s:\n got %s\nwant %s", how, g, w)
	}
}

func entries(t *testing.T, c wire.Codec, s Sample) {
	r, err := c.Request(s.Call(s.Body))
	if err != nil {
		t.Fatal(err)
	}
	items := append(r.Items, thread.Item{Wire: c.Wire(), Raw: Read(c, StreamType, s.Stream).Item})
	got, want := c.Entries(items), s.Entries
	if len(got) != len(want) {
		t.Fatalf("got %d entries %+v, want %d", len(got), got, len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("entry %d: got %+v, want %+v", i, got[i], want[i])
		}
	}
	g, _ := json.Marshal(c.Turns(items))
	w, _ := json.Marshal(s.Turns)
	if !bytes.Equal(g, w) {
		t.Errorf("turns %s, want %s", g, w)
	}
	if odd := c.Entries(
		[]thread.Item{{Wire: c.Wire(), Raw: json.RawMessage(`{`)}, {Wire: c.Wire(), Raw: json.RawMessage(`7`)}}); len(
		odd) == 0 {
		t.Error("unreadable items give no entry")
	}
}

func failures(t *testing.T, c wire.Codec) {
	for _, status := range []int{400, 401, 429, 500, 529} {
		a := c.Answer(status, "application/json")
		a.Write(c.Error(status, "told so"))
		if r := a.Result(); !strings.Contains(r.Err, "told so") || r.EndsTurn || r.Item != nil {
			t.Errorf("own error %d: %+v", status, r)
		}
	}
	for _, body := range []string{"", "<html>", "null", "[]", `{"error":`, "\x00"} {
		for _, kind := range []string{StreamType, "application/json", ""} {
			if r := Read(c, kind, body); r.EndsTurn || r.Text != "" {
				t.Errorf("%q as %s: %+v", body, kind, r)
			}
		}
	}
}

// Purposes tests how requests are classified, by name.
func Purposes(t *testing.T, c wire.Codec, cases map[string]struct {
	Path   string
	Header map[string]string
	Body   string
	Want   wire.Purpose
}) {
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := Sample{Path: tc.Path, Header: tc.Header}
			r, err := c.Request(s.Call(tc.Body))
			if err != nil {
				t.Fatal(err)
			}
			if r.Purpose != tc.Want {
				t.Errorf("purpose %q, want %q", r.Purpose, tc.Want)
			}
		})
	}
}

// Quick lets a fuzz target spend its time on new inputs. By default each interesting one is minimized for up to a
// minute, which is most of a short run. A flag on the command line takes precedence.
func Quick(f *testing.F) {
	if fl := flag.Lookup("test.fuzzminimizetime"); fl != nil && fl.Value.String() == fl.DefValue {
		if err := fl.Value.Set("10x"); err != nil {
			f.Fatal(err)
		}
	}
}

// Fuzz feeds arbitrary bytes to a codec as a request, as answers and as items. The seeds are the samples. Items must be
// slices of the body in order, and the result of an answer must not depend on where it was cut.
func Fuzz(f *testing.F, c wire.Codec, samples ...Sample) {
	Quick(f)
	for _, s := range samples {
		f.Add([]byte(s.Body))
		f.Add([]byte(s.Stream))
		f.Add([]byte(s.Whole))
	}
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"type":"text","text":null},7]}]}`))
	f.Add([]byte("data: {\"type\":\"content_block_start\",\"index\":-1}\n\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := c.Request(wire.Call{Path: samples[0].Path, Header: http.Header{}, Body: b})
		if err != nil && len(r.Items) > 0 {
			t.Fatal("items from invalid JSON")
		}
		rest := b
		for _, it := range r.Items {
			_, after, own := bytes.Cut(rest, it.Raw)
			if !own || len(it.Raw) == 0 || !json.Valid(it.Raw) || it.Wire != c.Wire() {
				t.Fatalf("item %q is not the next one in the body", it.Raw)
			}
			rest = after
		}
		items := append(r.Items, thread.Item{Wire: c.Wire(), Raw: b})
		c.Entries(items)
		for i, at := range c.Turns(items) {
			if at < i || at >= len(items) {
				t.Fatalf("turn %d at item %d of %d", i, at, len(items))
			}
		}
		for _, kind := range []string{StreamType, "application/json"} {
			got := Read(c, kind, string(b))
			if got.Item != nil && !json.Valid(got.Item) {
				t.Fatalf("item %q", got.Item)
			}
			if u := got.Usage; u.Input < 0 || u.CacheRead < 0 || u.CacheWrite < 0 || u.Output < 0 {
				t.Fatalf("usage %+v", u)
			}
			if got.EndsTurn && (!got.Complete || got.Err != "") {
				t.Fatalf("the turn ends with %+v", got)
			}
			cut, pieces := readText(c, kind, string(b[:len(b)/2]), string(b[len(b)/2:]))
			if !reflect.DeepEqual(got, cut) {
				t.Fatalf("whole %+v, cut %+v", got, cut)
			}
			if _, said := readText(c, kind, string(b)); said != pieces {
				t.Fatalf("said %q, and %q in pieces", said, pieces)
			}
		}
	})
}

// Bench measures reading a request of about size bytes, made from the sample's by a tool result with the text of body.
func Bench(b *testing.B, c wire.Codec, s Sample, body func(text string) string) {
	line := `func main() {\n\tfmt.Println(\"hello, world\")\n}\n`
	for name, size := range map[string]int{"8KB": 8 << 10, "199KB": 199 << 10, "1MB": 1 << 20, "4MB": 4 << 20} {
		call := s.Call(body(strings.Repeat(line, size/len(line))))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(call.Body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Request(call); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
