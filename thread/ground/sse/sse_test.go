package sse_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"orchestrator/thread/ground/sse"
)

func events(chunks ...string) (got []string, dropped int) {
	p := sse.Parser{Event: func(name string, data []byte) { got = append(got, fmt.Sprintf("%s=%s", name, data)) }}
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
