package ui

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/typing"

	tea "charm.land/bubbletea/v2"
)

// habits are those of a person in memory.
type habits struct {
	mu     sync.Mutex
	recent []thread.Profile
	named  []thread.Profile
}

func (h *habits) Recent() []thread.Profile { return h.recent }
func (h *habits) Named() []thread.Profile {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.named
}
func (h *habits) Chose(p thread.Profile) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.recent = append([]thread.Profile{p}, h.recent...)
	return nil
}
func (h *habits) Keep(p thread.Profile) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.named = append(h.named, p)
	return nil
}

// profiled is somebody with three profiles.
func profiled() *habits {
	return &habits{named: []thread.Profile{
		{Name: "quick fix", Agent: "demo", PermissionMode: "auto", Apart: thread.ApartNo},
		{Name: "review", Agent: "claude", Model: "opus", PermissionMode: "plan", Apart: thread.ApartYes, MCP: []string{"github"}, Args: []string{"--verbose"}},
		{Name: "shell", Agent: "command", Args: []string{"bash", "-l"}},
	}}
}

func withHabits(t *testing.T, h *habits, test func(r *rig)) {
	play(t, world(), 100, 30, func(c *Config) { c.Habits = h }, func(r *rig) {
		stage(r)
		time.Sleep(typing.Pause)
		test(r)
	})
}

func TestProfileStartsInTwoKeys(t *testing.T) {
	for _, pause := range []time.Duration{0, typing.Glance, time.Minute} {
		withHabits(t, profiled(), func(r *rig) {
			r.text("n")
			time.Sleep(pause)
			r.text("2")
			r.wait(typing.AnswerDelay)
			r.mustAsk(`new claude "" "" worktree=true 60x24 model="opus" mode="plan" mcp=["github"] args=["--verbose"]`)
			if r.m.dialogs.Open() {
				t.Error("the dialog is open")
			}
		})
	}
	withHabits(t, profiled(), func(r *rig) { // one that does not exist, and a digit in a text
		r.keys("n", "8!")
		r.keys("tab", "tab")
		r.text("2")
		r.wait(time.Second)
		if r.srv.asked("new") {
			t.Errorf("%q", r.srv.calls)
		}
		r.keys("enter")
		r.mustAsk(`new claude "" "2"`)
	})
	withHabits(t, profiled(), func(r *rig) {
		r.keys("n", "right", "right", "right", "enter") // the third one, by arrows
		r.mustAsk("new command")
	})
}

// TestSentencesStartNoProfile types sentences at the list at human pace, each with enter.
func TestSentencesStartNoProfile(t *testing.T) {
	chance := rand.New(rand.NewPCG(7, 11))
	for _, sentence := range []string{
		"new 2 tests", "now 1", "n2 is a name", "n2", "in 2", "gen2", "on 1", "nginx 1", "no 1", "n 1", "n 2 3", "run 2", "add 3 tests", "then 1", "name it v2", "n1n2n3",
		"2", "1 and 2", "need 3", "never mind, 2",
	} {
		withHabits(t, profiled(), func(r *rig) {
			for _, letter := range sentence {
				r.text(string(letter))
				r.wait(time.Duration(60+chance.IntN(320)) * time.Millisecond)
			}
			r.keys("enter")
			r.wait(time.Second)
			if r.srv.asked("new") {
				t.Errorf("%q: %q", sentence, r.srv.calls)
			}
		})
		withHabits(t, profiled(), func(r *rig) {
			r.burst(sentence + "\r")
			r.wait(time.Second)
			if r.srv.asked("new") {
				t.Errorf("%q at once: %q", sentence, r.srv.calls)
			}
		})
	}
}

// The dialog begins with what was chosen last, for each agent.
func TestHabit(t *testing.T) {
	h := &habits{}
	withHabits(t, h, func(r *rig) {
		r.keys("n", "right", "tab", "tab", "tab", "tab", "right", "tab") // demo, in the folder itself
		r.text("m1")
		r.keys("tab")
		r.text("auto")
		r.keys("tab")
		r.text("notes, github")
		r.keys("enter")
		r.mustAsk(`new demo "" "" worktree=false 60x24 model="m1" mode="auto" mcp=["notes" "github"] args=[]`)
		r.keys("ctrl+q", "n", "enter")
		if n := len(r.srv.calls); !strings.HasPrefix(last(r.srv.calls, "new"), `new demo "" "" worktree=false 60x24 model="m1" mode="auto" mcp=["notes" "github"]`) {
			t.Errorf("%d calls: %q", n, r.srv.calls)
		}
		r.keys("ctrl+q", "n", "left", "enter") // another agent has options of its own
		if got := last(r.srv.calls, "new"); !strings.HasPrefix(got, `new claude "" "" worktree=true 60x24 model="" mode="" mcp=[]`) {
			t.Errorf("%q", got)
		}
		r.keys("ctrl+q", "n", "right")
		r.must("m1")
	})
}

func last(calls []string, what string) (found string) {
	for _, c := range calls {
		if strings.HasPrefix(c, what) {
			found = c
		}
	}
	return found
}

func TestRememberAsProfile(t *testing.T) {
	h := profiled()
	srv := world()
	srv.threads[0].Launch.PermissionMode = "plan"
	srv.threads[0].MCP = thread.MCPSwitches{}.SwitchOn(thread.MCPSwitch{Server: "github", By: thread.MCPPerson}).
		SwitchOn(thread.MCPSwitch{Server: "pg", By: thread.MCPPattern})
	play(t, srv, 100, 30, func(c *Config) { c.Habits = h }, func(r *rig) {
		stage(r)
		r.m.tree.Select(srv.threads[0].ID)
		r.keys(". l")
		r.must("remember: demo · demo-1 · plan · github")
		r.send(tea.PasteMsg{Content: "mine"}) // in place of what is suggested
		r.keys("enter")
		r.must("Profile mine: n 4 starts it")
		p := h.Named()[3]
		if p.Name != "mine" || p.Agent != "demo" || p.PermissionMode != "plan" || len(p.MCP) != 1 || p.MCP[0] != "github" {
			t.Errorf("%+v", p)
		}
		r.keys("n")
		r.must("4 mine")
	})
}
