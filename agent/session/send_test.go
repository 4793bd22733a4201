package session_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"orchestrator/agent"
	"orchestrator/thread"
	"orchestrator/thread/ground/await"
)

func TestSend(t *testing.T) {
	for _, c := range []struct {
		name, script, text, want string
	}{
		{"a line", `stty raw -echo; printf 'ready>\r\n'; head -c 6 | od -An -c; sleep 1000`,
			"hello", `h   e   l   l   o  \r`},
		{"lines", `stty raw -echo; printf 'ready>\r\n'; head -c 4 | od -An -c; sleep 1000`, "a\r\nb", `a  \r   b  \r`},
		{"pasted", `stty raw -echo; printf '\033[?2004hready>\r\n'; head -c 15 | od -An -c -w40; sleep 1000`,
			" hi\n", `033   [   2   0   0   ~   h   i 033   [   2   0   1   ~  \r`},
		{"pasted lines", `stty raw -echo; printf '\033[?2004hready>\r\n'; head -c 16 | od -An -c -w40; sleep 1000`,
			"h\ni", `~   h  \n   i 033   [   2   0   1   ~  \r`},
		{"what looks like keys", `stty raw -echo; printf '\033[?2004hready>\r\n'; head -c 19 | od -An -c -w40; sleep 1000`,
			"x\x1b[201~\x03", `~   x   [   2   0   1   ~ 033   [   2   0   1   ~  \r`},
		{"late start", `stty raw -echo; sleep 0.3; printf 'ready>\r\n'; head -c 6 | od -An -c; sleep 1000`,
			"hello", `h   e   l   l   o  \r`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := start(t, sessions(t), "a", c.script)
			if err := h.Send(context.Background(), c.text); err != nil {
				t.Fatal(err)
			}
			await.Until(t, c.want, func() bool { return h.shows(c.want) })
		})
	}
}

// TestSendWaitsForTheInput has an agent swallow the return and show something else in the place of its input for a
// while, as some do while they start: the prompt is not taken, and the return is pressed once more.
func TestSendWaitsForTheInput(t *testing.T) {
	h := start(t, sessionsThatShow(t), "a", `stty raw -echo; printf '> '; head -c 4 >/dev/null; printf ours
head -c 1 >/dev/null; printf '\r\nloading'; sleep 2; printf '\r\n> ours'
head -c 1 >/dev/null; printf '\r\nTAKEN\r\n> '; sleep 1000`)
	if err := h.Send(context.Background(), "ours"); err != nil {
		t.Fatalf("send: %v; screen %q", err, h.Screen())
	}
	if !h.shows("TAKEN") {
		t.Errorf("it counts as taken: %q", h.Screen())
	}
}

// TestLooksAreFew waits while nothing happens: looks follow what happens and the clock, and not each other.
func TestLooksAreFew(t *testing.T) {
	h := start(t, sessionsThatShow(t), "a", `printf 'ready\r\n> '; sleep 1000`)
	await.Until(t, "the input", func() bool { return h.shows("ready") })
	begin := time.Now()
	n := h.Looks(t.Context(), 200*time.Millisecond)
	if most := int(time.Since(begin)/(20*time.Millisecond)) + 10; n > most {
		t.Errorf("it looked %d times, at most %d are right", n, most)
	}
}

// TestSendWaitsForPastes has an agent show its input before it asks for pastes: the prompt is pasted, never typed as keys.
// One that does not ask gets keys in the end.
func TestSendWaitsForPastes(t *testing.T) {
	const pasted = `033   [   2   0   0   ~   w   h   y   ? 033   [   2   0   1   ~`
	for _, c := range []struct {
		name, asks string
		limit      time.Duration
		bytes      int
		want       string
	}{
		{"at once", `printf '\033[?2004h> '`, deadline, 16, pasted},
		{"later", `printf '> '; sleep 1; printf '\033[?2004h'`, deadline, 16, pasted},
		{"never", `printf '> '`, 100 * time.Millisecond, 4, `w   h   y   ?`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			all := sessionsThatShow(t)
			all.SetPlainLimit(c.limit)
			all.SetTakeLimit(100 * time.Millisecond)
			h := start(t, all, "a", fmt.Sprintf(`stty raw -echo; %s; head -c %d | od -An -c -w40; sleep 1000`, c.asks, c.bytes))
			if err := h.Send(context.Background(), "why?"); !errors.Is(err, thread.ErrTyped) {
				t.Errorf("send: %v", err) // it shows no more than the bytes
			}
			await.Until(t, c.want, func() bool { return h.shows(c.want) })
		})
	}
}

// TestSendWaitsForTheConversation has an agent show its input before it has loaded the conversation that it resumes: it is
// not idle, and nothing is typed to it.
func TestSendWaitsForTheConversation(t *testing.T) {
	var looks atomic.Int32
	var loaded atomic.Bool
	all := sessionsThatShow(t)
	all.SetTakeLimit(100 * time.Millisecond)
	h := resume(t, all, "a", `stty raw -echo; printf '> '; head -c 4 >/dev/null; printf ours; sleep 1000`,
		func() bool { looks.Add(1); return loaded.Load() })
	sent := make(chan error, 1)
	go func() { sent <- h.Send(context.Background(), "ours") }()
	await.Until(t, "several looks", func() bool { return looks.Load() > 4 })
	if h.Holding() || h.told(thread.StateIdle) {
		t.Errorf("it was typed to (%v), and was %v", h.Holding(), h.now())
	}
	loaded.Store(true)
	if err := <-sent; !errors.Is(err, thread.ErrTyped) {
		t.Errorf("send: %v", err) // the script shows nothing for the return
	}
	await.Until(t, "ours", func() bool { return h.shows("ours") })
}

// TestSecondReturn counts the returns that a program gets: a second one only if its own input is seen to hold the prompt
// after the first. Silence and a screen that stands still show nothing, nor does any screen without an input.
func TestSecondReturn(t *testing.T) {
	const count = `while c=$(head -c 1 | od -An -tx1); do case $c in *0d) echo . >>"$OUT"; %s;; esac; done`
	for _, c := range []struct {
		name, begin, each string
		shows             bool // its input can be read
		returns           int
		want              error
	}{
		{"says nothing", "stty raw -echo; printf 'task> '", ":", false, 1, thread.ErrNoReaction},
		{"says nothing at all", "stty raw -echo", ":", false, 1, thread.ErrNoReaction},
		{"repeats its prompt", "stty raw -echo; printf 'ready>'", "printf '\\rready>'", false, 1, nil},
		{"its input stands still", "stty raw -echo; printf '> ours'", ":", true, 1, thread.ErrTyped},
		{"its input still holds it", "stty raw -echo; printf '> ours'", "printf '\\r> ours'", true, 2, thread.ErrTyped},
		{"its input holds something else", "stty raw -echo; printf '> ours'", "printf '\\r> something else'", true, 1, thread.ErrNoReaction},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			all := sessions(t)
			if c.shows {
				all = sessionsThatShow(t)
			}
			all.SetTakeLimit(2 * time.Second)
			all.SetPressAgain(100 * time.Millisecond)
			out := filepath.Join(t.TempDir(), "returns")
			script := c.begin
			if c.shows { // the prompt is drawn once it has been typed
				script = "stty raw -echo; printf '> '; head -c 4 >/dev/null; printf ours"
			}
			h := start(t, all, "a", "OUT="+out+"; "+script+"; "+fmt.Sprintf(count, c.each))
			err := h.Send(context.Background(), "ours")
			if !errors.Is(err, c.want) {
				t.Errorf("send: %v, want %v; screen %q", err, c.want, h.Screen())
			}
			got, _ := os.ReadFile(out)
			if n := strings.Count(string(got), "."); n != c.returns && (c.returns < 2 || n < c.returns) {
				t.Errorf("%d returns were pressed, want %d", n, c.returns)
			}
		})
	}
}

func TestSendKeepsOutOfDialogs(t *testing.T) {
	h := start(t, sessions(t), "a", `stty -echo
		echo 'Allow?'; read x; printf '\033[2J\033[H> \n'; read x; echo "got $x"; read x`)
	err := h.Send(context.Background(), "text")
	if !errors.Is(err, thread.ErrApproval) || errors.Is(err, thread.ErrTyped) {
		t.Fatalf("send into a dialog: %v", err)
	}
	if err := h.Input([]byte("yes\r")); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the prompt", func() bool { return h.now() == thread.StateIdle })
	if err := h.Send(context.Background(), "text"); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the prompt to arrive, and nothing else", func() bool { return h.shows("got text") })
}

// TestSendKeepsOutOfLogins has an agent ask the person to log in.
func TestSendKeepsOutOfLogins(t *testing.T) {
	all := sessionsWith(t, []agent.Rule{
		{State: thread.StateUnauthorised, Pattern: regexp.MustCompile(`Sign in`), Detail: "asks to log in"},
		{State: thread.StateIdle, Pattern: regexp.MustCompile(`ready>`), Detail: "prompt", Prompt: true},
	})
	h := start(t, all, "a", `stty -echo; echo 'Sign in'; read x; echo "got $x"; sleep 1000`)
	await.Until(t, "the question", func() bool { return h.now() == thread.StateUnauthorised })
	if r := h.refused(t, "text"); !r.Person || !strings.Contains(r.Reason, "asks to log in") {
		t.Errorf("refused with %+v", r)
	}
}

func TestSendStopsWhenADialogOpens(t *testing.T) {
	// The dialog opens at the first byte of the prompt.
	all := sessions(t)
	all.SetSettled(deadline)
	h := start(t, all, "a", `stty raw -echo; printf '> \r\n'; head -c 1 >/dev/null; printf 'Allow?'
		while x=$(head -c 1 | od -An -c); do case $x in *r) printf 'RETURN';; esac; done`)
	err := h.Send(context.Background(), "text")
	if !errors.Is(err, thread.ErrApproval) || !errors.Is(err, thread.ErrTyped) ||
		!strings.Contains(err.Error(), "not sent") {
		t.Fatalf("send: %v", err)
	}
	if h.shows("RETURN") {
		t.Error("the return went into the dialog")
	}
}

func TestSendSaysWhenNothingHappens(t *testing.T) {
	all := sessions(t)
	all.SetTakeLimit(2500 * time.Millisecond) // longer than until the return is pressed again
	h := start(t, all, "a", `stty raw -echo; printf 'ready>\r\n'; sleep 1000`)
	if err := h.Send(context.Background(), "text"); !errors.Is(err, thread.ErrNoReaction) || errors.Is(err, thread.ErrTyped) {
		t.Errorf("send: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := h.Send(ctx, "text"); !errors.Is(err, context.Canceled) {
		t.Errorf("send: %v", err)
	}
	if err := h.Send(context.Background(), "\x1b\n"); !errors.Is(err, thread.ErrInvalid) {
		t.Errorf("send nothing: %v", err)
	}
}

// promptRules tell when an agent takes a prompt.
var promptRules = []agent.Rule{{State: thread.StateIdle, Pattern: regexp.MustCompile(`type here:`), Prompt: true}}

// TestSendWaitsForThePrompt starts like agents that swallow what is typed before they are ready.
func TestSendWaitsForThePrompt(t *testing.T) {
	all := sessionsWith(t, promptRules)
	h := start(t, all, "waits", `stty -icanon -echo
		echo loading; head -c 1 >/dev/null; stty icanon echo; echo 'type here:'; read x; echo "got $x"; sleep 1000`)
	done := make(chan error, 1)
	go func() { done <- h.Send(context.Background(), "some words that are long enough") }()
	await.Until(t, "it to load", func() bool { return h.shows("loading") })
	if err := h.Input([]byte("\r")); err != nil { // it continues; had the prompt been typed already, it would be cut
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the whole prompt", func() bool { return h.shows("got some words that are") })
}

// TestSendPressesNothingBlindly has an agent that shows nothing of what is typed.
func TestSendPressesNothingBlindly(t *testing.T) {
	all := sessionsWith(t, promptRules)
	all.SetTakeLimit(time.Second)
	h := start(t, all, "blind", `stty -echo; echo 'type here:'; read x; echo "got $x"; sleep 1000`)
	if err := h.Send(context.Background(), "some words"); err == nil || h.shows("got") {
		t.Errorf("sent what is not there: %v", err)
	}
}

// TestSendRunsOutOfTime: a caller whose time is over before the agent could be typed to hears why it waited, so that the
// prompt is kept for later and not given up.
func TestSendRunsOutOfTime(t *testing.T) {
	for _, c := range []struct{ name, script string }{
		{"an empty screen", "stty raw -echo; sleep 1000"},
		{"it draws without a pause", `stty raw -echo; printf '\033[?2026h> '; while :; do printf '\r> '; done`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			err := start(t, sessionsThatShow(t), "a", c.script).Send(ctx, "ours")
			var not *thread.NotReadyError
			if !errors.As(err, &not) || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("it says %v", err)
			}
		})
	}
}
