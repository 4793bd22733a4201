package bases

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/agenttest/model"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// whole is a real CLI in the whole program.
type whole struct {
	*e2e.Rig
	cli   clis.CLI
	model *model.Server
}

func newWhole(t *testing.T, cli clis.CLI) *whole {
	t.Helper()
	bin := clis.Bin(t)
	if other := os.Getenv(binVariable); other != "" {
		bin = other
	}
	switch cli.Name {
	case "claude":
		cli.Model = ""
	case "opencode":
		cli.Model = leastNamed
	}
	w := &whole{Rig: e2e.NewRig(t), cli: cli, model: model.New(answer)}
	t.Cleanup(w.model.Close)
	w.Patience = 3 * e2e.Patience // some take a minute to start beside others
	w.Env = slices.DeleteFunc(w.Env, func(kv string) bool { return strings.HasPrefix(kv, "PATH=") })
	w.Env = append(w.Env, "PATH="+bin+":"+os.Getenv("PATH"))
	w.Env = append(w.Env, cli.SetUp(t, w.Home, w.model.URL(), w.Project)...)
	return w
}

// thread starts a thread with a profile.
func (w *whole) thread(profile string) string {
	w.T.Helper()
	args := []string{"new", "-a", w.cli.Name, "--base", profile, "work-" + profile}
	if w.cli.Model != "" {
		args = append(args, "-m", w.cli.Model)
	}
	if w.cli.Mode != "" {
		args = append(args, "--permission-mode", w.cli.Mode)
	}
	return w.Ok(args...)
}

// asks sends a prompt to a thread and returns the first request that brings it.
func (w *whole) asks(name, prompt string) model.Request {
	w.T.Helper()
	w.Ok("send", "--timeout", "3m", name, prompt)
	return w.hears(prompt)
}

func (w *whole) hears(prompt string) model.Request {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(w.T.Context(), limit)
	defer cancel()
	q, err := w.model.Wait(ctx, func(q model.Request) bool { return main(q.Turn) && strings.Contains(q.Turn.Prompt, prompt) })
	if err != nil {
		w.T.Fatalf("the model never heard %q: %v", prompt, err)
	}
	return q
}

// same checks that a request offers just what another did, byte for byte.
func (w *whole) same(what string, was base, q model.Request) {
	w.T.Helper()
	if got := baseOf(w.T, q); got.raw != was.raw {
		w.T.Errorf("%s: the tools have changed: %d bytes of %v, were %d of %v", what, len(got.raw), got.names(), len(was.raw), was.names())
	}
}

// config returns the checksums of the person's own settings.
func (w *whole) config() string {
	w.T.Helper()
	var all []string
	for _, name := range []string{".claude/settings.json", ".codex/config.toml", ".codex/auth.json", ".gemini/settings.json", ".config/opencode/opencode.json"} {
		if sum, err := sumOf(filepath.Join(w.Home, name)); err == nil {
			all = append(all, name+" "+sum)
		}
	}
	return strings.Join(all, "\n")
}

// TestRealBaseWhole has threads of the whole program with each profile: what they send first, and that it stays the same,
// byte for byte, when they are resumed, forked at a turn, rewound, and forked again.
func TestRealBaseWhole(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			w := newWhole(t, cli)
			config := w.config()
			full := baseOf(t, w.asks(w.thread(thread.BaseFull), "hello in full"))
			for _, profile := range thread.BaseProfiles()[1:] {
				name := w.thread(profile)
				first := baseOf(t, w.asks(name, "hello in "+profile))
				t.Logf("%s %s: %d of %d tokens, %d %%, %v", cli.Name, profile, first.size(), full.size(), 100*first.size()/full.size(), first.names())
				if bar, ok := bars[cli.Name][profile]; ok && 100*first.size() > bar*full.size() {
					t.Errorf("%s: %d of %d tokens, more than %d %%", profile, first.size(), full.size(), bar)
				}
				if first.raw == full.raw && profile != thread.BaseReadOnly {
					t.Errorf("%s leaves out nothing", profile)
				}
				if st := w.Status(name); st.Turn != 1 {
					t.Errorf("%s: at turn %d after the first", profile, st.Turn)
				}
				for i := 2; i <= 3; i++ {
					w.same("the next turn", first, w.asks(name, fmt.Sprintf("turn %d in %s", i, profile)))
				}
				w.keeps(name, profile, first)
			}
			if now := w.config(); now != config {
				t.Errorf("the person's settings are\n%s\nwere\n%s", now, config)
			}
		})
	}
}

// keeps resumes, forks, rewinds and forks again.
func (w *whole) keeps(name, profile string, first base) {
	w.T.Helper()
	w.Ok("stop", name)
	w.Ok("resume", name)
	w.same("resumed", first, w.asks(name, "resumed in "+profile))
	fork := e2e.Get[thread.Status](w.Rig, "fork", "fork of "+profile, "-t", name, "--at", "2")
	w.same("forked at a turn", first, w.asks(fork.Name, "forked in "+profile))
	again := e2e.Get[thread.Status](w.Rig, "fork", "again of "+profile, "-t", fork.Name)
	w.same("forked again", first, w.asks(again.Name, "forked again in "+profile))
	w.Ok("checkpoint", "restore", name, "2", "--conversation")
	w.same("rewound", first, w.asks(name, "rewound in "+profile))
	for _, one := range []string{name, fork.Name, again.Name} {
		if st := w.Status(one); st.Base.Profile != profile {
			w.T.Errorf("%s has the base %+v", one, st.Base)
		}
		w.Ok("stop", one)
	}
}

// TestRealBaseWholeWork has a small thread of the whole program read, write and run a command, and report its states.
func TestRealBaseWholeWork(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			w := newWhole(t, cli)
			for _, profile := range []string{thread.BaseSlim, thread.BaseMinimal} {
				name := w.thread(profile)
				file := filepath.Join(w.Project, profile+".txt")
				w.Ok("send", "--timeout", "3m", name, "do it #write:"+file+"=here-it-is #bash:printf out-%s 42 #read:"+file+" #say:done-"+profile)
				last := w.model.Main()
				results := strings.Join(last[len(last)-1].Turn.Results(), "\n")
				raw, err := os.ReadFile(file)
				if err != nil || string(raw) != "here-it-is" || !strings.Contains(results, "out-42") || !strings.Contains(results, "here-it-is") {
					t.Errorf("%s: %q %v, results %s", profile, raw, err, results)
				}
				w.AwaitState(name, thread.StateDone, thread.StateIdle)
				w.Ok("stop", name)
			}
		})
	}
}
