package author_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrator/contextmgr/author"
	"orchestrator/contextmgr/gateway"
	"orchestrator/contextmgr/summary"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

func draft() summary.Draft {
	return summary.Draft{
		Thread: "t1", Model: "asked", Replaced: "--- prompt ---\nread a.go\n", Until: "go on", Tokens: 100, Also: "numbers",
		Request: func(prompt string) []byte { return []byte("all of it, " + prompt) },
	}
}

// asker answers with an exchange, and keeps what it was asked.
type asker struct {
	answer thread.Exchange
	err    error
	got    gateway.Question
}

func (a *asker) Ask(_ context.Context, _ thread.ID, q gateway.Question) (thread.Exchange, error) {
	a.got = q
	return a.answer, a.err
}

func TestModel(t *testing.T) {
	good := thread.Exchange{Status: 200, Model: "answers", Text: " a summary\n", Usage: thread.Usage{CostUSD: 0.1}}
	a := &asker{answer: good}
	w, err := author.Model{Asker: a}.Write(t.Context(), draft())
	if err != nil || w != (summary.Written{Text: "a summary", Source: "answers", CostUSD: 0.1}) {
		t.Errorf("%+v, %v", w, err)
	}
	if got := string(a.got.Body); got != "all of it, "+draft().Prompt() || a.got.Purpose != wire.PurposeSummary || a.got.Limit <= 0 {
		t.Errorf("asked %+v", a.got)
	}
	for name, change := range map[string]func(e *thread.Exchange){
		"status":  func(e *thread.Exchange) { e.Status = 529 },
		"cut off": func(e *thread.Exchange) { e.Interrupted = true },
		"tools":   func(e *thread.Exchange) { e.Tools = []string{"Bash"} },
		"long":    func(e *thread.Exchange) { e.Text = strings.Repeat("x", 1<<20) },
	} {
		a := &asker{answer: good}
		change(&a.answer)
		if w, err := (author.Model{Asker: a}).Write(t.Context(), draft()); err == nil || w.CostUSD != 0.1 {
			t.Errorf("%s: %v; it cost %v", name, err, w.CostUSD)
		}
	}
	failed := &asker{err: errors.New("no way")}
	if _, err := (author.Model{Asker: failed}).Write(t.Context(), draft()); !errors.Is(err, failed.err) {
		t.Errorf("%v", err)
	}
}

func shell(script string) author.Program {
	return author.Program{Name: "mine", Command: []string{"/bin/sh", "-c", script}, Environ: []string{"OWN=1", "PATH=" + os.Getenv("PATH")}}
}

func TestProgram(t *testing.T) {
	w, err := shell(`cat; echo "OWN=$OWN HOME=$HOME"; pwd`).Write(t.Context(), draft())
	want := draft().Prompt() + "\n\nThe conversation:\n\n" + draft().Replaced + "OWN=1 HOME=\n/"
	if err != nil || w.Text != want || w.Source != "mine" {
		t.Errorf("%q, %v", w.Text, err)
	}
	if w, err := shell("echo does not read it").Write(t.Context(), summary.Draft{Replaced: strings.Repeat("x", 4<<20)}); err != nil ||
		w.Text != "does not read it" {
		t.Errorf("one that does not read its input: %q, %v", w.Text, err)
	}
	for script, say := range map[string]string{
		"echo no key >&2; exit 3":       "no key",
		"true":                          "writes nothing",
		"head -c 1000000 /dev/zero":     "more than",
		"exec /nowhere/program":         "nowhere",
		"kill -9 $$":                    "killed",
		"echo half; exit 1":             "exit status 1",
		"yes >&2":                       "more than",
		"trap '' PIPE; yes":             "more than",
		"while :; do echo lines; done ": "more than",
	} {
		w, err := shell(script).Write(t.Context(), draft())
		if err == nil || !strings.Contains(err.Error(), say) || !strings.Contains(err.Error(), "mine") || w.Text != "" {
			t.Errorf("%s: %q, %v", script, w.Text, err)
		}
	}
}

// TestProgramIsStopped: with the call, and with what it started.
func TestProgramIsStopped(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("no longer wanted")
	go func() {
		for {
			if b, _ := os.ReadFile(file); len(b) > 1 && b[len(b)-1] == '\n' {
				cancel(why)
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	if _, err := shell("sleep 1000 & echo $! >"+file+"; wait").Write(ctx, draft()); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		if syscall.Kill(pid, 0) != nil || zombie(pid) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Error("what it started goes on")
}

// zombie reports whether a process has ended but was not waited for.
func zombie(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(b), ") Z ")
}
