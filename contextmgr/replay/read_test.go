package replay

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"orchestrator/contextmgr/policy"
	"orchestrator/thread/lines"
)

// readAll reads a session, and returns its events and errors.
func readAll(r io.Reader) (events []Event, errs []error) {
	for e, err := range Read(r) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		events = append(events, e)
	}
	return events, errs
}

// TestRead holds what is read of each field of the format.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		line string
		want Event
	}{
		{`{"role":"user","type":"text","content":"héllo\nyou\n","t":1.5}`,
			Event{Kind: KindText, Person: true, Bytes: 11, Lines: 2, At: 1500 * time.Millisecond, Timed: true}},
		{`{"role":"assistant","type":"thinking","content":"","sig_bytes":800,"req":3,"model":"claude-x","usage":{"in":1,"read":2,"write":3,"out":4}}`,
			Event{Kind: KindThinking, Bytes: 800, Model: "claude-x", Usage: &Usage{Input: 1, CacheRead: 2, CacheWrite: 3, Output: 4}}},
		{`{"role":"assistant","type":"thinking","content":"so","sig_bytes":800}`, Event{Kind: KindThinking, Bytes: 2, Lines: 1}},
		{`{"role":"assistant","type":"tool_use","tool":"Read","id":"a","content":"{\"file_path\":\"/f\",\"offset\":7}"}`,
			Event{Kind: KindCall, Tool: "Read", ID: "a", Bytes: 29, Lines: 1, Use: policy.Use{Reads: "/f", Part: "7++"}}},
		{`{"role":"assistant","type":"tool_use","tool":"Edit","id":"a","content":{"file_path":"/f"}}`,
			Event{Kind: KindCall, Tool: "Edit", ID: "a", Bytes: 18, Lines: 1, Use: policy.Use{Writes: "/f"}}},
		{`{"role":"user","type":"tool_result","tool":"Read","id":"a","content":"x","is_error":true,"images":2}`,
			Event{Kind: KindResult, Person: true, Tool: "Read", ID: "a", Bytes: 1, Lines: 1, Error: true, Images: 2}},
		{`{"role":"system","type":"boundary","content":"compact","pre_tokens":5,"t":-3}`,
			Event{Kind: KindBoundary, Person: true, Bytes: 7, Lines: 1, At: -3 * time.Second, Timed: true}},
		{`{"type":"text","t":1e300,"images":-5,"sig_bytes":-1}`, Event{Kind: KindText, Person: true}},
		{`{"role":"assistant","type":"thinking","sig_bytes":-1}`, Event{Kind: KindThinking}},
	} {
		events, errs := readAll(strings.NewReader(c.line))
		if len(errs) > 0 || len(events) != 1 || !reflect.DeepEqual(events[0], c.want) {
			t.Errorf("%s:\n%+v %v\nwant %+v", c.line, events, errs, c.want)
		}
	}
}

// TestBrokenLines: a line that cannot be read is named, and the others are read.
func TestBrokenLines(t *testing.T) {
	long := append(bytes.Repeat([]byte("x"), lines.Most), "yz\n"...)
	text := []byte("{\"type\":\"text\"}\r\n\n  \n{\"type\":\n{\"type\":\"song\"}\n[1]\n" +
		`{"type":"text","usage":{"in":-1}}` + "\n" + `{"type":"text","usage":{"out":2000000000000}}` + "\n")
	events, errs := readAll(io.MultiReader(bytes.NewReader(text), bytes.NewReader(long), strings.NewReader(`{"type":"text","content":"last"}`)))
	if len(events) != 2 || events[1].Bytes != 4 {
		t.Errorf("read %+v", events)
	}
	var at []int
	for _, err := range errs {
		broken := (*lines.Broken)(nil)
		if !errors.As(err, &broken) {
			t.Fatalf("%v is about no line", err)
		}
		at = append(at, broken.Line)
	}
	if want := []int{4, 5, 6, 7, 8, 9}; !reflect.DeepEqual(at, want) {
		t.Errorf("broken are %v, want %v: %v", at, want, errs)
	}
	if last := errs[len(errs)-1]; !errors.Is(last, lines.ErrLong) || last.Error() != "line 9: longer than 32 MB" {
		t.Errorf("the last error is %v", last)
	}
	_, errs = readAll(io.MultiReader(bytes.NewReader(long[:lines.Most+1])))
	if len(errs) != 1 || !errors.Is(errs[0], lines.ErrLong) {
		t.Errorf("a long last line without an end: %v", errs)
	}
	torn := errors.New("torn")
	events, errs = readAll(io.MultiReader(strings.NewReader(`{"type":"text"}`+"\n"+`{"ty`), iotest.ErrReader(torn)))
	if len(events) != 1 || len(errs) != 1 || !errors.Is(errs[0], torn) {
		t.Errorf("a reader that fails: %+v, %v", events, errs)
	}
	for _, err := range Read(bytes.NewReader(text)) {
		if err != nil {
			t.Error(err)
		}
		break // whoever reads may stop
	}
}
