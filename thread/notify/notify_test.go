package notify_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/ground/await"
	"orchestrator/thread/ground/process"
	"orchestrator/thread/notify"
)

// person is somebody with commands, and what they are told.
type person struct {
	t      *testing.T
	dir    string
	events chan thread.Event
	end    func()

	mu   sync.Mutex // guards told
	told []string
}

// commands runs shell commands on events of the kind done until the test's end, in a folder as $DIR.
func commands(t *testing.T, cfg notify.Config, lines ...string) *person {
	t.Helper()
	p := &person{t: t, dir: t.TempDir(), events: make(chan thread.Event)}
	for i, l := range lines {
		cfg.Commands = append(cfg.Commands, notify.Command{
			Name: fmt.Sprint("hook ", i), Words: []string{"/bin/sh", "-c", l}, Kinds: []thread.HappeningKind{thread.HappenedDone, thread.HappenedCall},
		})
	}
	cfg.Project, cfg.Owner, cfg.Env = "/home/me/shop", "test-"+filepath.Base(p.dir)+t.Name(), append(os.Environ(), "DIR="+p.dir)
	cfg.Report = func(text string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.told = append(p.told, text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		notify.Run(ctx, cfg, p.events)
	}()
	p.end = func() {
		t.Helper()
		cancel()
		select {
		case <-over:
		case <-time.After(20 * time.Second):
			t.Fatal("it does not end")
		}
	}
	t.Cleanup(p.end)
	return p
}

// happens must be taken at once, whatever the commands do.
func (p *person) happens(kind thread.HappeningKind, n int64) {
	p.t.Helper()
	p.happensTo("", kind, n)
}

func (p *person) happensTo(id thread.ID, kind thread.HappeningKind, n int64) {
	p.t.Helper()
	select {
	case p.events <- thread.Event{Happening: &thread.Happening{Thread: id, Seq: n, Kind: kind, Name: "docs-1234", Label: "do \"cs\"", Text: "$(touch $DIR/harm); `touch $DIR/harm`"}}:
	case <-time.After(10 * time.Second):
		p.t.Fatal("an event waits for a command")
	}
}

func (p *person) reports() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.told...)
}

func (p *person) read(name string) string {
	b, _ := os.ReadFile(filepath.Join(p.dir, name)) // what is not there is empty
	return string(b)
}

func (p *person) await(what string, is func() bool) {
	p.t.Helper()
	await.Within(p.t, 20*time.Second, what, is)
}

// TestMessage: a command reads one JSON object and has the same in its environment; harmful texts run nothing.
func TestMessage(t *testing.T) {
	p := commands(t, notify.Config{}, `cat > "$DIR/in"; echo "$EVENT_SEQ $EVENT_KIND $EVENT_THREAD $EVENT_LABEL $EVENT_TEXT $EVENT_PROJECT" > "$DIR/env"; pwd > "$DIR/at"`)
	p.happens(thread.HappenedSent, 1)
	p.happens(thread.HappenedCall, 2)
	p.happens(thread.HappenedDone, 3)
	p.await("run", func() bool { return p.read("at") != "" })
	var m notify.Message
	if err := json.Unmarshal([]byte(p.read("in")), &m); err != nil {
		t.Fatal(err)
	}
	text := "$(touch $DIR/harm); `touch $DIR/harm`"
	if m.Seq != 3 || m.Kind != thread.HappenedDone || m.Label != `do "cs"` || m.Text != text || m.Project != "/home/me/shop" || m.Left != 0 {
		t.Errorf("it reads %s", p.read("in"))
	}
	if got, want := p.read("env"), "3 done docs-1234 do \"cs\" "+text+" /home/me/shop\n"; got != want {
		t.Errorf("its environment has %q", got)
	}
	if p.read("at") != "/\n" {
		t.Errorf("it runs in %q", p.read("at"))
	}
	p.end()
	if _, err := os.Stat(filepath.Join(p.dir, "harm")); err == nil || len(p.reports()) != 0 {
		t.Errorf("a text was run, or there was trouble: %q", p.reports())
	}
}

// TestFails: each kind of trouble is reported once, and does not keep another command from running.
func TestFails(t *testing.T) {
	const short = 300 * time.Millisecond
	for what, c := range map[string]struct {
		line, say string
		limit     time.Duration
	}{
		"exits with an error": {"cat >/dev/null; echo no display >&2; exit 1", "exit status 1: no display", 0},
		"is killed":           {"kill -9 $$", "signal: killed", 0},
		"reads nothing":       {"exec <&-; exit 3", "exit status 3", 0},
		"hangs":               {"trap '' TERM INT HUP; (trap '' TERM; sleep 600)& sleep 600", "it took more than 300ms and was killed", short},
		"floods":              {"yes", "it printed more than 64 KiB and was killed", 0},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			p := commands(t, notify.Config{Limit: c.limit}, c.line, `echo x >> "$DIR/other"`)
			for i := range int64(3) {
				p.happens(thread.HappenedDone, i)
			}
			p.await("reported", func() bool { return len(p.reports()) > 0 })
			p.await("run thrice", func() bool { return p.read("other") == "x\nx\nx\n" })
			time.Sleep(time.Second) // the rest of them
			p.end()
			if got := p.reports(); len(got) != 1 || !strings.HasPrefix(got[0], "hook 0: ") || !strings.Contains(got[0], c.say) {
				t.Errorf("reported %q, want one with %q", got, c.say)
			}
			p.nothing()
		})
	}
}

// nothing checks that no process of the commands is left.
func (p *person) nothing() {
	p.t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	for _, i := range process.All() {
		if process.Marked(i.PID, func(kv string) bool { return kv == "DIR="+p.dir }) && !i.Ended {
			p.t.Errorf("process %d (%s) is left", i.PID, i.Name)
		}
	}
}

// TestNothingIsLeft: what a command leaves behind ends with it, also in another session, and a running one with the
// server.
func TestNothingIsLeft(t *testing.T) {
	p := commands(t, notify.Config{}, `setsid sleep 600 & sleep 600 & echo x > "$DIR/left"`)
	p.happens(thread.HappenedDone, 1)
	p.await("left something", func() bool { return p.read("left") != "" })
	p.happens(thread.HappenedDone, 2)
	p.end()
	p.nothing()

	p = commands(t, notify.Config{}, `setsid sleep 600 & echo x > "$DIR/runs"; sleep 600`)
	p.happens(thread.HappenedDone, 1)
	p.await("runs", func() bool { return p.read("runs") != "" })
	began := time.Now()
	p.end()
	p.nothing()
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it ended after %v", took)
	}
	if got := p.reports(); len(got) != 0 {
		t.Errorf("reported %q", got)
	}
}

// TestFlood: of many events so many are told as a command may hear in a minute, and it is said how many were not, to the
// command and once to people.
func TestFlood(t *testing.T) {
	p := commands(t, notify.Config{Count: 2 * time.Second}, `cat >> "$DIR/in"`)
	const all = 5000
	for i := range int64(all) {
		p.happens(thread.HappenedDone, i)
	}
	p.await("counted", func() bool { return len(p.reports()) > 0 })
	p.happens(thread.HappenedDone, all)
	p.end()
	left := 0
	rows := strings.Split(strings.TrimSpace(p.read("in")), "\n")
	for _, row := range rows {
		var m notify.Message
		if err := json.Unmarshal([]byte(row), &m); err != nil {
			t.Fatalf("%q: %v", row, err)
		}
		left += m.Left
	}
	if len(rows) > notify.PerMinute || len(rows) < notify.PerMinute/2 {
		t.Errorf("it ran %d times", len(rows))
	}
	want := fmt.Sprintf("hook 0: %d events were left out. ", all-len(rows))
	if got := p.reports(); len(got) != 1 || !strings.HasPrefix(got[0], want) || left > all-len(rows) {
		t.Errorf("reported %q, want %q; the command knows of %d", got, want, left)
	}
}

// TestNoisyThread: a thread that something happens to all the time does not use up what the others may be told of.
func TestNoisyThread(t *testing.T) {
	p := commands(t, notify.Config{}, `cat >> "$DIR/in"`)
	for i := range int64(500) {
		p.happensTo("noisy", thread.HappenedDone, i)
	}
	p.happensTo("quiet", thread.HappenedDone, 1000)
	p.await("the quiet thread", func() bool { return strings.Contains(p.read("in"), `"seq":1000,`) })
	if n := strings.Count(p.read("in"), `"thread":"noisy"`); n != notify.PerThread {
		t.Errorf("the noisy one was told of %d times", n)
	}
	if n := strings.Count(p.read("in"), "\n"); n != notify.PerThread+1 {
		t.Errorf("%d runs", n)
	}
}
