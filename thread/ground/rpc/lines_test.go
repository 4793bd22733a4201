package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"orchestrator/thread/ground/rpc"
)

const note = `{"jsonrpc":"2.0","method":"m"}`

// read reads everything from lines.
func read(in io.Reader) (got []rpc.Message, stray []string, err error) {
	l := rpc.NewLines(in, io.Discard, io.NopCloser(nil), func(line []byte) { stray = append(stray, string(line)) })
	for {
		m, err := l.Read()
		if err != nil {
			return got, stray, err
		}
		got = append(got, m)
	}
}

func TestLinesRead(t *testing.T) {
	for _, c := range []struct {
		name, in string
		got      int
		stray    []string
	}{
		{"nothing", "", 0, nil},
		{"two", note + "\n" + note + "\n", 2, nil},
		{"ends of Windows", note + "\r\n" + note + "\r\n", 2, nil},
		{"empty lines", "\n\r\n" + note + "\n\n", 1, nil},
		{"last line without an end", note + "\n" + note, 2, nil},
		{"half of a last line", note + "\n" + note[:10], 1, []string{note[:10]}},
		{"stray lines", "Welcome!\n" + note + "\n{\"a\":1}\n\x00\xff\n" + note + "\n", 2, []string{"Welcome!", `{"a":1}`, "\x00\xff"}},
		{"a batch", "[" + note + "]\n" + note + "\n", 1, []string{"[" + note + "]"}},
		{"a byte order mark", "\ufeff" + note + "\n" + note + "\n", 2, []string{"\ufeff"}},
		{"a prompt", "> " + note + "\n", 1, []string{"> "}},
		{"a prompt in lines", "Hello\nLoading {x}... " + note + "\n", 1, []string{"Hello", "Loading {x}... "}},
		{"text in front of a later message", note + "\n> " + note + "\n", 1, []string{"> " + note}},
		{"a message in a message", `{"x":` + note + "}\n" + note + "\n", 1, []string{`{"x":` + note + "}"}},
		{"too many places", strings.Repeat("{", 100) + note + "\n" + note + "\n", 1, []string{strings.Repeat("{", 100) + note}},
		{"longer than the buffer", `{"jsonrpc":"2.0","method":"` + strings.Repeat("m", 300<<10) + "\"}\n" + note + "\n", 2, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, in := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in)), iotest.DataErrReader(strings.NewReader(c.in))} {
				got, stray, err := read(in)
				if len(got) != c.got || strings.Join(stray, "|") != strings.Join(c.stray, "|") || !errors.Is(err, io.EOF) {
					t.Errorf("%d messages, stray %q, %v", len(got), stray, err)
				}
			}
		})
	}
}

// TestLinesShowWhatHasNotEnded: a line without an end is not lost to those who look why there is no message.
func TestLinesShowWhatHasNotEnded(t *testing.T) {
	in, out := io.Pipe()
	l := rpc.NewLines(in, io.Discard, in, nil)
	ended := make(chan error, 1)
	go func() {
		_, err := l.Read()
		ended <- err
	}()
	for _, part := range []string{"one\ntwo", " three", strings.Repeat("x", 10_000)} {
		if _, err := out.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = out.Write(nil) // the part before has been read then
	if got := string(l.Pending()); !strings.HasPrefix(got, "two threexxx") || len(got) > 4096 {
		t.Errorf("pending are %d bytes: %.40q", len(got), got)
	}
	_ = out.Close()
	if err := <-ended; !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

func TestLinesDropStrayLinesWithoutATaker(t *testing.T) {
	l := rpc.NewLines(strings.NewReader("hello\n"+note+"\n"), io.Discard, io.NopCloser(nil), nil)
	if m, err := l.Read(); err != nil || m.Method != "m" {
		t.Errorf("%+v, %v", m, err)
	}
}

// endless is a line that never ends.
type endless struct{ read int }

func (e *endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	e.read += len(b)
	return len(b), nil
}

func TestLinesEndAtALineThatIsTooLong(t *testing.T) {
	e := &endless{}
	if _, _, err := read(e); !errors.Is(err, rpc.ErrTooLong) {
		t.Fatalf("an endless line: %v", err)
	}
	if e.read > rpc.MaxFrame+(1<<20) {
		t.Errorf("%d bytes were read", e.read)
	}
	begin, end := `{"jsonrpc":"2.0","method":"`, "\"}\n"
	for _, c := range []struct {
		size int
		err  error
	}{{rpc.MaxFrame, io.EOF}, {rpc.MaxFrame + 1, rpc.ErrTooLong}} {
		in := io.MultiReader(strings.NewReader(begin), bytes.NewReader(bytes.Repeat([]byte("m"), c.size-len(begin)-len(end))), strings.NewReader(end))
		if got, _, err := read(in); !errors.Is(err, c.err) || (len(got) == 1) != (c.size == rpc.MaxFrame) {
			t.Errorf("%d bytes: %d messages, %v", c.size, len(got), err)
		}
	}
}

// broken fails after some bytes.
type broken struct{ left int }

func (b *broken) Write(p []byte) (int, error) {
	n := min(len(p), b.left)
	b.left -= n
	if n < len(p) {
		return n, errors.New("broken pipe")
	}
	return n, nil
}

func TestLinesSayWhetherSomethingWasWritten(t *testing.T) {
	for _, c := range []struct {
		left         int
		fail, unsure bool
	}{{0, true, false}, {1, true, true}, {1000, false, false}} {
		l := rpc.NewLines(strings.NewReader(""), &broken{c.left}, io.NopCloser(nil), nil)
		err := l.Write(context.Background(), rpc.Message{Method: "m"})
		if (err != nil) != c.fail || errors.Is(err, rpc.ErrUnsure) != c.unsure {
			t.Errorf("after %d bytes: %v", c.left, err)
		}
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	var out bytes.Buffer
	l := rpc.NewLines(strings.NewReader(""), &out, io.NopCloser(nil), nil)
	for range 20 { // a select would let some through
		if err := l.Write(ended, rpc.Message{Method: "m"}); err == nil || errors.Is(err, rpc.ErrUnsure) || out.Len() > 0 {
			t.Fatalf("with an ended context: %v, %q", err, out.String())
		}
	}
}

func TestLinesGiveUpWaitingForTheirTurn(t *testing.T) {
	a, b := net.Pipe() // nobody reads from b
	l := lines(a)
	first := make(chan error, 1)
	begun := make(chan struct{})
	go func() {
		close(begun)
		first <- l.Write(context.Background(), rpc.Message{Method: "m"})
	}()
	<-begun
	if _, err := b.Read(make([]byte, 1)); err != nil { // the first is being written by now
		t.Fatal(err)
	}
	soon, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	second := make(chan error, 1)
	go func() { second <- l.Write(soon, rpc.Message{Method: "m"}) }()
	if err := receive(t, second, "the end of the second write"); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, rpc.ErrUnsure) {
		t.Errorf("the second: %v", err)
	}
	_ = l.Close()
	if err := receive(t, first, "the end of the first write"); !errors.Is(err, rpc.ErrUnsure) {
		t.Errorf("the first: %v", err)
	}
	_ = b.Close()
}

// FuzzLines: every line is either a message or stray, whatever comes, and reading ends.
func FuzzLines(f *testing.F) {
	f.Add([]byte("hello\n" + note + "\r\n\r\n[" + note + "]\n" + note))
	f.Add([]byte("\x00\xff\n\n{\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		lines := 0
		for line := range bytes.SplitSeq(in, []byte("\n")) {
			if len(bytes.TrimRight(line, "\r")) > 0 {
				lines++
			}
		}
		got, stray, err := read(bytes.NewReader(in))
		if !errors.Is(err, io.EOF) || len(got)+len(stray) != lines {
			t.Fatalf("%q: %d messages and %d stray lines of %d, %v", in, len(got), len(stray), lines, err)
		}
	})
}
