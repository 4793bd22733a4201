package sse_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"orchestrator/thread/ground/sse"
)

func events(chunks ...string) (got []string, dropped int) {
	p := sse.Parser{Event: func(e sse.Event) {
		if e.Data != nil {
			got = append(got, fmt.Sprintf("%s=%s", e.Name, e.Data))
		}
	}}
	for _, c := range chunks {
		p.Write([]byte(c))
	}
	p.Close()
	return got, p.Dropped()
}

func TestEvents(t *testing.T) {
	for name, tc := range map[string]struct {
		in   string
		want []string
	}{
		"plain":           {"event: a\ndata: 1\n\ndata: 2\n\n", []string{"a=1", "=2"}},
		"crlf":            {"event: a\r\ndata: 1\r\n\r\ndata:2\r\n\r\n", []string{"a=1", "=2"}},
		"cr":              {"data: 1\r\rdata: 2\r\r", []string{"=1", "=2"}},
		"many data lines": {"data: 1\ndata: 2\ndata\n\n", []string{"=1\n2\n"}},
		"comment, id":     {": ping\nid: 3\nretry: 9\ndata: x\n\n", []string{"=x"}},
		"no data":         {"event: a\n\n\n\n", nil},
		"byte order mark": {"\xef\xbb\xbfdata: 1\n\n", []string{"=1"}},
		"line separator":  {"data: a\u2028b\n\n", []string{"=a\u2028b"}},
		"two spaces":      {"data:  x\n\n", []string{"= x"}},
		"unfinished":      {"data: 1\n\ndata: 2", []string{"=1", "=2"}},
		"empty data":      {"data:\n\ndata: 1\n\n", []string{"=", "=1"}},
		"garbage":         {"\x00\xff\n{}\ndata: 1\n\n", []string{"=1"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got, _ := events(tc.in); !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			for cut := range len(tc.in) {
				if got, _ := events(tc.in[:cut], tc.in[cut:]); !slices.Equal(got, tc.want) {
					t.Errorf("cut at %d: got %q, want %q", cut, got, tc.want)
				}
			}
			if got, _ := events(strings.Split(tc.in, "")...); !slices.Equal(got, tc.want) && !strings.Contains(tc.in, "\xff") &&
				!strings.Contains(tc.in, "\xef") {
				t.Errorf("byte by byte: got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestOverlongEventsAreDroppedAlone(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	in := []string{"data: 1\n\n", "data: "}
	for range sse.MaxEvent>>20 + 1 {
		in = append(in, long)
	}
	in = append(in, "\n\ndata: 2\n\n")
	for range sse.MaxEvent>>20 + 1 {
		in = append(in, "data: "+long+"\n")
	}
	in = append(in, "\ndata: 3\n\n")
	got, dropped := events(in...)
	if !slices.Equal(got, []string{"=1", "=2", "=3"}) || dropped != 2 {
		t.Errorf("got %d events, dropped %d", len(got), dropped)
	}
}

func FuzzParser(f *testing.F) {
	f.Add([]byte("event: a\ndata: 1\n\n"), 3)
	f.Add([]byte("data: 1\r\n\r\n: c\rdata\r\r"), 8)
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		if cut < 0 || cut > len(b) {
			return
		}
		whole, _ := events(string(b))
		parts, _ := events(string(b[:cut]), string(b[cut:]))
		if !slices.Equal(whole, parts) {
			t.Fatalf("whole %q, cut at %d %q", whole, cut, parts)
		}
	})
}

func TestReader(t *testing.T) {
	in := "\xef: comment\nretry: 5\n\nevent: a\nid: 1\ndata: x\ndata:y\ndata\n\nid\ndata: {}\r\n\r\ndata: z\n"
	r := sse.NewReader(strings.NewReader(in), 1<<20)
	want := []sse.Event{{"a", "1", []byte("x\ny\n")}, {"", "", []byte("{}")}}
	for _, w := range want {
		got, err := r.Next()
		if err != nil || got.Name != w.Name || got.ID != w.ID || string(got.Data) != string(w.Data) {
			t.Errorf("%+v, %v, want %+v", got, err, w)
		}
	}
	if got, err := r.Next(); err == nil {
		t.Errorf("an event that is not finished: %+v", got)
	}
}

func FuzzReader(f *testing.F) {
	f.Add("event: a\nid: 1\ndata: x\ndata:y\n\n")
	f.Add("\r\n\r\r:\n::\ndata\n\n\x00")
	f.Fuzz(func(t *testing.T, in string) {
		r := sse.NewReader(strings.NewReader(in), 1<<20)
		for n := 0; ; n++ {
			e, err := r.Next()
			if err != nil {
				return
			}
			if n > len(in) || len(e.Data) > len(in) {
				t.Fatalf("%d events of %d bytes", n, len(in))
			}
		}
	})
}

// TestReaderEnds: an event over the limit ends a reader, whether or not it is finished, and one at the limit does not.
func TestReaderEnds(t *testing.T) {
	for in, want := range map[string]error{
		"data: " + strings.Repeat("x", 90) + "\n\n":              nil,
		"data: " + strings.Repeat("x", 200) + "\n\n":             sse.ErrTooLong,
		"data: " + strings.Repeat("x", 200):                      sse.ErrTooLong,
		strings.Repeat("data: "+strings.Repeat("x", 60)+"\n", 2): sse.ErrTooLong,
		"data: 1\n\ndata: " + strings.Repeat("x", 200):           nil, // what came before
		"id: 7\n\n": nil,
		"":          io.EOF,
	} {
		if _, err := sse.NewReader(strings.NewReader(in), 100).Next(); !errors.Is(err, want) {
			t.Errorf("%.20q: %v, want %v", in, err, want)
		}
	}
}
