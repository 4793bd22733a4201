package ui

import (
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/intent"
	"orchestrator/ui/plain"
	"orchestrator/ui/typing"

	tea "charm.land/bubbletea/v2"
)

func TestNewThread(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys("n", "right") // demo
		r.keys("tab")
		r.text("fix it\x1b")
		r.send(tea.PasteMsg{Content: " now\r\nplease"})
		r.keys("tab")
		r.text("my name")
		r.keys("tab", "tab", "enter") // a worktree is chosen: another thread works in the folder
		r.mustAsk(`new demo "my name" "fix it now\nplease" worktree=true 60x24`)
		r.must("made started")
		if s := r.m.tree.Selected(); s.ID != "made" {
			t.Errorf("%s is selected", s.ID)
		}
		if r.m.screen.area != areaMain || !r.pane.focus || r.pane.shown != "made" {
			t.Errorf("the new agent has no focus: %+v", r.pane)
		}
	})
}

func TestAgentThatIsNotThere(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys("n", "left", "enter") // codex
		r.must("npm install -g @openai/codex")
		if r.srv.asked("new") {
			t.Error("it was started all the same")
		}
		r.keys("left", "tab", "enter") // command without a program
		r.must("Enter a program")
		r.text("bash -l")
		r.keys("enter")
		r.mustAsk("new command")
	})
}

func TestEnterResumesAndFocuses(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.m.tree.Select("session-c8d3")
		r.keys("enter")
		r.mustAsk("resume session-c8d3 60x24")
		r.wait(100 * time.Millisecond)
		if !r.pane.focus || r.pane.shown != "session-c8d3" {
			t.Errorf("%+v", r.pane)
		}
	})
}

func TestForkAtTurn(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys("F")
		r.must("Choose a turn, then press F")
		r.keys("down", "F")
		r.must("fork auth-feature at turn 3")
		r.keys("enter")
		r.must("Enter a purpose")
		r.text("other way")
		r.keys("enter")
		r.mustAsk(`fork auth-feature-a3f2 at "c-5" label "other way" agent ""`)
	})
}

// Where threads share a folder, the list, the header, the diff and the merge say with whom, until they do not any more.
func TestSharedFolders(t *testing.T) {
	for _, c := range []struct {
		w, h       int
		list, head string
	}{{60, 20, "auth-feature &1", ""}, {80, 24, " &1", ""}, {120, 36, " &1", "shared with docs · demo"}, {200, 50, " &1", "shared with docs · demo claude-opus-4-8"}} {
		play(t, world(), c.w, c.h, nil, func(r *rig) {
			stage(r)
			alone := r.see()
			r.share("docs-f9a0")
			r.must(c.list, c.head)
			r.keys("tab", "tab", "tab")
			r.must("+3 −1  incl")
			r.keys("esc", "shift+tab", "shift+tab", "shift+tab")
			r.share("spike-0b1c")
			if c.w == 60 {
				r.must("auth-feature &2", "docs * &2", "spike &2")
			}
			r.archived("spike-0b1c", true)
			r.archived("docs-f9a0", true)
			r.keys("esc")
			if see := r.see(); strings.Contains(see, " with ") || strings.Contains(see, "&") {
				t.Errorf("nobody else works there:\n%s\nbefore:\n%s", see, alone)
			}
		})
	}
}

// A thread is shown as it was called, in cells as a terminal draws them; those that are called alike are told apart.
func TestNamesOfEveryScript(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 36}} {
		srv := world()
		srv.threads[0].Title = "修复 缓存 🚀"
		srv.threads[4].Title = "\u202eGröße ändern\x1b[31m" // from a server of another build
		srv.threads[5].Title, srv.threads[1].Title = "פרסר", "פרסר"
		play(t, srv, size[0], size[1], nil, func(r *rig) {
			stage(r)
			r.must("修复 缓存 🚀", "<U+202E>Größe", "◆ פרסר of", "□ פרסר 2")
			if size[0] > 100 {
				r.must("│ 修复 缓存 🚀   demo")
			}
			if see := r.see(); strings.Contains(see, "auth-feature") || strings.Contains(see, "\u202e") {
				t.Errorf("shown by its handle, or with what reorders text:\n%s", see)
			}
			x := r.m.place().Divider()
			for y, row := range strings.Split(strings.TrimSuffix(r.see(), "\n"), "\n")[2 : size[1]-4] {
				if at := strings.LastIndexAny(row, "│┤"); at < 0 || plain.Width(row[:at]) != x {
					t.Errorf("row %d has no rule in column %d: %s", y+2, x, row)
				}
			}
			r.keys(". d")
			r.must("delete 修复 缓存 🚀?")
			r.keys("esc", ". n")
			r.must("rename 修复 缓存 🚀")
			r.keys("esc", "/")
			r.text("größe")
			r.keys("enter")
			if s := r.m.tree.Selected(); s == nil || s.ID != "docs-f9a0" {
				t.Errorf("the filter found %v", s)
			}
		})
	}
	srv := world()
	srv.threads[0].Title = strings.Repeat("缓", 79) + "…"
	on(t, srv, func(r *rig) {
		r.must("▌◐ 缓缓", "  ◐ working 0:42")
	})
}

// A fork can begin with an empty context, and does where a full one is what it is offered for.
func TestForkFresh(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys("f")
		r.text("again\t\t")
		r.must("keep the conversation")
		r.keys("right")
		r.must("start empty, with a summary")
		r.keys("enter")
		r.mustAsk(`fork auth-feature-a3f2 at "" label "again" agent "" fresh=true`)
		// Another agent cannot continue it: there is nothing to choose.
		r.keys("ctrl+q")
		r.m.tree.Select("auth-feature-a3f2")
		time.Sleep(typing.Pause)
		r.keys("f")
		r.text("other\t")
		r.keys("left")
		r.must("gets a summary of the conversation")
		if strings.Contains(r.see(), "Context  ") {
			t.Errorf("a choice that is none:\n%s", r.see())
		}
		r.keys("enter")
		r.mustAsk(`fork auth-feature-a3f2 at "" label "other" agent "claude" fresh=false`)
	})
	on(t, world(), func(r *rig) {
		r.offer(thread.Offer{ID: "o1", Thread: "auth-feature-a3f2", Label: "continue fresh", Why: "the context is nearly full", Rule: "band"})
		r.keys("f", "enter")
		r.mustAsk(`fork auth-feature-a3f2 at "" label "continue fresh" agent "" fresh=true`)
	})
	// Inside of a turn no conversation can be cut.
	on(t, world(), func(r *rig) {
		r.keys("tab", "down", "right", "down", "F")
		r.must("at a response of turn 3", "cannot be cut inside a turn")
		if strings.Contains(r.see(), "Context  ") {
			t.Errorf("a choice that is none:\n%s", r.see())
		}
	})
}

// The agent that runs any program is asked for the program.
func TestForkIntoAProgram(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys("f")
		r.text("sh\t")
		r.keys("right", "enter")
		r.must("Enter a program")
		r.text("\tsh -c 'echo \"a b\"")
		r.keys("enter")
		r.must("missing closing quote")
		r.text("'")
		r.keys("enter")
		r.mustAsk(`fork auth-feature-a3f2 at "" label "sh" agent "command" fresh=false program=["sh" "-c" "echo \"a b\""]`)
	})
	// A fork of such a thread runs what its parent does, if nothing else is said.
	srv := world()
	srv.threads[0].Agent, srv.threads[0].Turn, srv.threads[0].Launch.Program = "command", 0, []string{"htop", "-d", "5"}
	on(t, srv, func(r *rig) {
		r.keys("f")
		r.must("htop -d 5")
		r.text("same")
		r.keys("enter")
		r.mustAsk(`fork auth-feature-a3f2 at "" label "same" agent "" fresh=false program=[]`)
	})
}

func TestForkIntoSameAgent(t *testing.T) {
	srv := world()
	srv.agents[0].Name = "demo"
	srv.agents = srv.agents[:1]
	on(t, srv, func(r *rig) {
		r.keys("f")
		r.text("x")
		r.keys("enter")
		r.mustAsk(`fork auth-feature-a3f2 at "" label "x" agent ""`)
	})
}

func TestArchiveDeleteUndo(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.m.tree.Select("spike-0b1c")
		r.keys(". a", "right", "enter")
		r.mustAsk("archive spike-0b1c")
		r.must("(u to undo)")
		r.keys(". d", "esc", ". d", "enter")
		if r.srv.asked("delete") {
			t.Error("cancel means cancel")
		}
		r.keys(". d", "right", "enter")
		r.mustAsk("delete spike-0b1c")
		r.keys("u")
		r.must("undo: delete spike", "[ Restore ]")
		r.keys("right", "enter")
		r.mustAsk("undelete spike-0b1c")
		r.keys("u")
		r.must("undo: archive spike")
		r.archived("spike-0b1c", true)
		r.keys("right", "enter")
		r.mustAsk("unarchive spike-0b1c")
		r.keys("u")
		r.must("Nothing to undo")
		r.archived("spike-0b1c", false)
		r.keys(". z")
		r.must("old-one")
		r.keys(". a")
		r.mustAsk("unarchive old-one-77aa")
	})
	on(t, world(), func(r *rig) { // one that runs asks first
		r.keys(". a")
		r.must("Its agent is running and will be stopped")
		r.keys("right", "enter")
		r.mustAsk("archive auth-feature-a3f2")
		r.archived("auth-feature-a3f2", true)
		r.keys("u")
		r.must("Its agent was stopped", "[ Restore and resume ]")
		r.keys("right", "enter")
		r.mustAsk("unarchive auth-feature-a3f2")
		r.must("auth-feature restored (. r to resume its agent)")
	})
}

func TestSmallActions(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys("P")
		r.mustAsk("pin auth-feature-a3f2 true")
		r.keys(". n", "ctrl+u")
		r.text("other")
		r.keys("enter")
		r.mustAsk("rename auth-feature-a3f2 other")
		r.keys("i")
		r.text("go on")
		r.keys("ctrl+j")
		r.text("please")
		r.must("enter send", "shift+enter new line")
		r.keys("enter")
		r.mustAsk(`send auth-feature-a3f2 "go on\nplease"`)
		r.keys(". s", "right", "enter")
		r.mustAsk("stop auth-feature-a3f2")
		r.srv.calls = nil
		time.Sleep(typing.Pause)
		r.keys(".", "ctrl+s")
		r.mustAsk("stop auth-feature-a3f2")
		r.mustAsk("stop auth-feature-a3f2")
		r.keys(". x", "enter")
		r.must("Enter a reason")
		r.text("slow")
		r.keys("enter", "enter")
		if r.srv.asked("abandon") {
			t.Error("it was abandoned unasked")
		}
		r.keys(". x")
		r.text("slow")
		r.keys("enter", "right", "enter")
		r.mustAsk(`abandon auth-feature-a3f2 "slow"`)
		r.run(r.m.do(intent.Resume)) // the menu does not offer it
		r.settle()
		r.must("auth-feature is already running")
	})
}

func TestResumeList(t *testing.T) {
	play(t, world(), 100, 30, nil, func(r *rig) {
		r.must("1 thread interrupted", "✓ verified (26.9 KiB)", "3 files changed")
		r.keys("A")
		r.mustAsk("resume all")
		r.keys("L", "enter")
		r.mustAsk("resume session-c8d3")
	})
}

func TestOffers(t *testing.T) {
	offer := thread.Offer{ID: "o1", Thread: "auth-feature-a3f2", Label: "try sqlite", Why: "the prompt leaves the subject", Rule: "subject"}
	for key, answer := range map[string]string{"a!": "take", "x!": "dismiss", ". t": "off"} {
		on(t, world(), func(r *rig) {
			r.offer(offer)
			r.must("fork? try sqlite", "a accept")
			r.keys("E")
			r.must("because the prompt leaves the subject", "rule: subject")
			r.keys("esc", key)
			if answer != "dismiss" {
				if r.srv.asked("offer") {
					t.Errorf("%s answers unasked", key)
				}
				r.keys(map[string][]string{"take": {"right", "enter"}, "off": {"right", "right", "right", "enter"}}[answer]...)
			}
			r.mustAsk(map[string]string{"take": "offer o1 take", "dismiss": "offer o1 dismiss", "off": "offers off"}[answer])
			if answer == "off" {
				return // the server takes it off the list
			}
			if strings.Contains(r.see(), "fork? try") {
				t.Error("the offer stays")
			}
		})
	}
}
