package carried_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"testing"

	"orchestrator/contextmgr/carried"
	"orchestrator/thread"
)

type entry struct {
	Bytes int64 `json:"bytes"`
}

func TestEntries(t *testing.T) {
	var all bytes.Buffer
	for _, data := range []string{"", "abc"} {
		if err := carried.Write(&all, []byte(`{"bytes":3}`), []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	in := bufio.NewReader(&all)
	for range 2 {
		if e, err := carried.ReadDescription[entry](in, 100); err != nil || e.Bytes != 3 {
			t.Fatalf("%+v, %v", e, err)
		}
	}
	if rest, err := io.ReadAll(in); err != nil || string(rest) != "abc" {
		t.Errorf("the data: %q, %v", rest, err)
	}
	if _, err := carried.ReadDescription[entry](in, 100); !errors.Is(err, io.EOF) {
		t.Errorf("after the last: %v", err)
	}
	for name, in := range map[string]string{
		"too large": "\x65{}", "cut in its size": "\xff", "huge": "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "cut": "\x0b{\"bytes\"",
		"two": "\x05{} {}", "unknown": "\x0a{\"byte\":3}", "no JSON": "\x01x", "empty": "\x00",
	} {
		if _, err := carried.ReadDescription[entry](bufio.NewReader(bytes.NewReader([]byte(in))), 100); !errors.Is(err, thread.ErrInvalid) || errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
