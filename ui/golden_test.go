package ui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/glyph"
	"orchestrator/ui/tree"
	"orchestrator/ui/typing"

	"github.com/charmbracelet/colorprofile"
)

var update = flag.Bool("update", false, "update the golden files")

func TestMain(m *testing.M) {
	time.Local = time.UTC // the goldens show times
	os.Exit(m.Run())
}

// golden compares with a file, or writes it with -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; `go test ./ui -update` writes it", err)
	}
	if string(want) != got {
		t.Errorf("%s differs; look at it, and if it is right: go test ./ui -update\ngot\n%s\nwant\n%s", path, got, want)
	}
}

// goldenOf compares what a rig shows at a size.
func goldenOf(t *testing.T, name string, size [2]int, r *rig) {
	t.Helper()
	golden(t, fmt.Sprintf("%s-%dx%d.txt", name, size[0], size[1]), r.see())
}

// scenes are the panels, and the keys that lead to them.
var scenes = []struct {
	name string
	do   func(*rig)
}{
	{"tree", func(r *rig) {}},
	{"terminal", func(r *rig) { r.keys("enter") }},
	{"stopped", func(r *rig) { r.m.tree.Select("session-c8d3"); r.keys("tab", "shift+tab"); r.showMain() }},
	{"timeline", func(r *rig) { r.keys("tab") }},
	{"timeline-lost", func(r *rig) {
		lost := thread.Checkpoint{ID: "c2", Thread: r.srv.checkpoints[0].Thread, Turn: r.srv.checkpoints[0].Turn - 1,
			Kind: thread.KindTurn, Damaged: true}
		asked := thread.PromptRow(thread.Prompt{ID: "p1", Thread: lost.Thread, State: thread.PromptInterrupted,
			Text: "and the tests too", Reason: "the agent exited: ended by signal 9",
			Accepted: r.srv.checkpoints[0].Created}, lost.Turn)
		r.srv.checkpoints = slices.Insert(r.srv.checkpoints, 1, asked, lost)
		r.keys("tab")
	}},
	{"responses", func(r *rig) { r.keys("tab", "down", "right") }},
	{"turn", func(r *rig) { r.keys("tab", "down", "enter") }},
	{"turn-open", func(r *rig) { r.keys("tab", "down", "enter", "z") }},
	{"context", func(r *rig) { r.masked(); r.keys("tab", "tab") }},
	{"context-based", func(r *rig) { r.based(); r.keys("tab", "tab", "home") }},
	{"context-base", func(r *rig) { r.based(); r.keys("tab", "tab", "home", "enter") }},
	{"context-based-about", func(r *rig) { r.based(); r.keys("tab", "tab", ". i") }},
	{"context-part", func(r *rig) { r.based(); r.keys("tab", "tab", "home", "enter", "down", "down", "enter") }},
	{"context-masked", func(r *rig) { r.masked(); r.keys("tab", "tab", "home", "M", "down", "down") }},
	{"context-filter", func(r *rig) { r.keys("tab", "tab", "/"); r.text("read auth"); r.keys("enter") }},
	{"context-all", func(r *rig) { r.keys("tab", "tab", "A") }},
	{"context-mode", func(r *rig) { r.keys("tab", "tab", ". k") }},
	{"context-result", func(r *rig) { r.keys("tab", "tab", "home", "enter") }},
	{"context-why", func(r *rig) { r.keys("tab", "tab", "home", "E") }},
	{"context-why-kept", func(r *rig) { r.keys("tab", "tab", "/"); r.text("by rule"); r.keys("enter", "E") }},
	{"context-restarted", func(r *rig) {
		r.srv.context = thread.ContextReport{Tokens: 31_000, Window: 32_000, Mode: thread.MaskSafe, Reason: "filled by the next prompt. Last: 31k/32k, 96%"}
		r.keys("tab", "tab")
	}},
	{"context-summary", func(r *rig) { r.summarised(); r.keys("tab", "tab", "s") }},
	{"context-about", func(r *rig) { r.keys("tab", "tab", ". i") }},
	{"context-observe", func(r *rig) {
		c := &r.srv.context
		c.Mode, c.Why, c.Masked, c.SavedUSD, c.Rereads = thread.MaskObserve, "subscription login", 0, -0.12, 0
		r.keys("tab", "tab")
	}},
	{"context-aside", func(r *rig) {
		r.aside()
		r.srv.context = thread.ContextReport{Aside: r.srv.threads[0].Aside}
		r.keys("tab", "tab")
	}},
	{"context-empty", func(r *rig) { r.srv.context = thread.ContextReport{}; r.keys("tab", "tab") }},
	{"diff", func(r *rig) { r.keys("tab", "tab", "tab") }},
	{"help", func(r *rig) { r.keys("?") }},
	{"palette", func(r *rig) { r.keys("ctrl+p"); r.text("fork") }},
	{"find", func(r *rig) { r.keys("ctrl+f"); r.text("prog") }},
	{"filter", func(r *rig) { r.keys("/"); r.text("jwt") }},
	{"new", func(r *rig) { r.keys("n") }},
	{"new-base", func(r *rig) { r.keys("n", "shift+tab", "right", "right") }},
	{"fork", func(r *rig) { r.keys("f") }},
	{"fork-program", func(r *rig) { r.keys("f"); r.text("sh\t"); r.keys("right", "tab") }},
	{"runs", func(r *rig) { r.ran() }},
	{"runs-opened", func(r *rig) { r.ran(); r.m.tree.Select("auth-feature-a3f2"); r.keys("right") }},
	{"runs-ended", func(r *rig) { r.ran(); r.m.tree.Select("list-todos-6f70") }},
	{"runs-lost", func(r *rig) { r.ran(); r.m.tree.Select("write-docs-5e6f") }},
	{"runs-ask", func(r *rig) { r.ran(); r.asks(); r.m.tree.Select("review-auth-1a2b") }},
	{"runs-menu", func(r *rig) { r.ran(); r.m.tree.Select("write-docs-5e6f"); time.Sleep(typing.Pause); r.keys(".") }},
	{"new-once", func(r *rig) { r.keys("n", "shift+tab", "shift+tab", "right", "right") }},
	{"inbox", func(r *rig) { r.full(); r.keys("I") }},
	{"work", func(r *rig) { r.recorded(); r.proposed(); r.keys("W", "down", "down") }},
	{"work-folded", func(r *rig) { r.recorded(); r.keys("W", "left", "end", "right", "down") }},
	{"work-page", func(r *rig) { r.recorded(); r.keys("W", "down", "down", "down", "down", "E") }},
	{"work-proceed", func(r *rig) { r.recorded(); r.proposed(); r.keys("W", "down", "down", "down", "a") }},
	{"tasks", func(r *rig) { r.waves(); r.keys("W") }},
	{"tasks-empty", func(r *rig) { r.keys("W", "tab") }},
	{"tasks-asked", func(r *rig) { r.waves(); tree.SelectAsked(r.m.tree, r.m.waves.Asked()[0]); r.settle() }},
	{"graph", func(r *rig) { r.waves(); r.keys("W", "enter") }},
	{"graph-failed", func(r *rig) { r.waves(); r.keys("W", "enter", "home", "tab", "tab") }},
	{"graph-menu", func(r *rig) { r.waves(); r.keys("W", "enter", "left"); r.wait(typing.Pause); r.keys(".") }},
	{"work-empty", func(r *rig) { r.keys("W") }},
	{"menu", func(r *rig) { time.Sleep(typing.Pause); r.keys(".") }},
	{"rename", func(r *rig) { r.keys(". n") }},
	{"delete", func(r *rig) { r.keys(". d") }},
	{"finish", func(r *rig) { r.keys(". f") }},
	{"undo", func(r *rig) { r.keys(". d", "right", "enter", "u") }},
	{"prompts", func(r *rig) { r.srv.prompts = somePrompts(); r.keys("p") }},
	{"prompt", func(r *rig) { r.srv.prompts = somePrompts(); r.keys("p", "down", "enter") }},
	{"typed", func(r *rig) { r.burst("please fix it\r") }},
	{"rewind", func(r *rig) { r.keys("tab", "down", "R") }},
	{"merge", func(r *rig) { r.keys(". m") }},
	{"names", func(r *rig) {
		for i, title := range []string{"修复 缓存 🚀", "Größe ändern", "שלום עולם", "修复 缓存 🚀", "a name that is much longer than any list has room for it to show"} {
			s := r.srv.threads[i]
			s.Title = title
			r.event(thread.Event{Kind: thread.EventThread, ThreadID: s.ID, Status: &s})
		}
	}},
	{"shared", func(r *rig) { r.share("docs-f9a0", "spike-0b1c"); r.wait(100 * time.Millisecond) }},
	{"shared-diff", func(r *rig) { r.share("docs-f9a0"); r.keys("tab", "tab", "tab") }},
	{"shared-merge", func(r *rig) {
		r.srv.merge.Conflicts, r.srv.merge.Shared, r.srv.merge.Beside = nil, []string{"docs-f9a0"}, []string{"main-1a2b", "old-one-77aa"}
		r.keys(". m")
	}},
	{"merge-commit", func(r *rig) {
		r.srv.merge.Conflicts, r.srv.dirty = nil, []string{"parse.go", "docs/plan.md"}
		r.keys(". m")
	}},
	{"why", func(r *rig) { r.keys("E") }},
	{"events", func(r *rig) { r.happened(); r.keys("!", "down", "down") }},
	{"events-filter", func(r *rig) { r.happened(); r.keys("!"); r.text("auth !sent") }},
	{"money", func(r *rig) { r.spent(); r.keys("$") }},
	{"money-budgets", func(r *rig) { r.budgets(); r.keys("$") }},
	{"budget", func(r *rig) { r.budgets(); r.keys("$", "esc") }},
	{"money-threads", func(r *rig) { r.spent(); r.keys("$", "tab", "tab", "l", "down") }},
	{"money-none", func(r *rig) { r.keys("$", "l", "l") }},
	{"mcp", func(r *rig) { r.servers("") }},
	{"mcp-details", func(r *rig) { r.servers("playwright", "enter") }},
	{"mcp-accept", func(r *rig) { r.servers("evil", "a") }},
	{"mcp-tools", func(r *rig) { r.servers("notes", "t") }},
	{"mcp-tools-accept", func(r *rig) { r.servers("notes", "t", "a") }},
	{"mcp-problems", func(r *rig) { r.servers("", "p") }},
	{"mcp-log", func(r *rig) { r.servers("github", "l") }},
	{"mcp-ending", func(r *rig) { r.servers("github", "space") }},
	{"mcp-empty", func(r *rig) { r.srv.mcp = thread.MCPReport{}; r.servers("") }},
	{"mcp-offer", func(r *rig) {
		r.offer(thread.Offer{ID: "o2", Thread: "auth-feature-a3f2", Server: "playwright", Why: "3 of your 5 similar tasks used it", Rule: "mcp"})
	}},
	{"agents", func(r *rig) { r.keys("g") }},
	{"archive", func(r *rig) { r.keys(". z") }},
	{"resumes", func(r *rig) { r.keys("L") }},
	{"offer", func(r *rig) {
		r.offer(thread.Offer{ID: "o1", Thread: "auth-feature-a3f2", Label: "try sqlite", Why: "the prompt leaves the subject", Rule: "subject"})
	}},
	{"base-offer", func(r *rig) { r.offer(workflowOffered) }},
	{"aside", func(r *rig) { r.aside() }},
	{"notice", func(r *rig) {
		r.event(thread.Event{Kind: thread.EventNotice, Notice: &thread.Notice{Level: thread.LevelWarn, Text: "disk is nearly full \x1b[31m"}})
	}},
}

// masked has the server tell that much is masked of the first thread.
func (r *rig) masked() {
	s := r.srv.threads[0]
	s.Gauge.Masked, s.Gauge.SavedUSD = 31_000, 1.42
	r.event(thread.Event{Kind: thread.EventThread, ThreadID: s.ID, Status: &s})
}

// based has the server tell what the first thread's agent sends before a word is said.
func (r *rig) based() {
	r.srv.base = sampleBase()
	r.srv.context.Base, r.srv.context.BaseParts = r.srv.base.Tokens, r.srv.base.Parts
	s := r.srv.threads[0]
	s.Gauge.Masked, s.Gauge.SavedUSD, s.Gauge.Base = 31_000, 1.42, r.srv.base.Tokens
	r.event(thread.Event{Kind: thread.EventThread, ThreadID: s.ID, Status: &s})
}

// aside has the server tell that the first thread's requests go past the gateway.
func (r *rig) aside() {
	s := &r.srv.threads[0]
	s.Aside = "/etc/claude-code/managed-settings.json says where its model is, and nothing outranks it"
	told := *s
	r.event(thread.Event{Kind: thread.EventThread, ThreadID: s.ID, Status: &told})
}

// showMain gives the keys to the main pane, so that it shows where the side bar is folded.
func (r *rig) showMain() {
	if r.m.place().Alone {
		r.m.screen.area = areaMain
		r.m.screen.stale = true
	}
}

// stage begins a scene: the list of what is interrupted is closed, the first thread selected.
func stage(r *rig) {
	r.keys("esc")
	r.m.tree.Select("auth-feature-a3f2")
	r.send(settledMsg{r.m.follow.Generation()})
	r.wait(100 * time.Millisecond)
}

func TestGolden(t *testing.T) {
	for _, size := range [][2]int{{60, 20}, {80, 24}, {100, 30}, {120, 36}, {200, 50}, {250, 70}} {
		for _, s := range scenes {
			name := fmt.Sprintf("%s-%dx%d", s.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				play(t, world(), size[0], size[1], nil, func(r *rig) {
					stage(r)
					s.do(r)
					golden(t, name+".txt", r.see())
					if size[0] == 100 {
						golden(t, name+".style", r.styles())
					}
				})
			})
		}
	}
}

// Each scene on a light background and without colours: the text is the same, the styles fit.
func TestGoldenGrounds(t *testing.T) {
	for _, c := range []struct {
		name    string
		profile colorprofile.Profile
		ground  string
	}{{"light", colorprofile.TrueColor, "light"}, {"none", colorprofile.ASCII, "auto"}} {
		for _, s := range scenes {
			t.Run(s.name+"-"+c.name, func(t *testing.T) {
				play(t, world(), 100, 30, func(cfg *Config) { cfg.Profile, cfg.Theme = c.profile, c.ground }, func(r *rig) {
					stage(r)
					s.do(r)
					if letters := strings.HasPrefix(s.name, "context"); c.name == "light" || !letters { // without colours, the parts of a context have letters
						golden(t, s.name+"-100x30.txt", r.see())
					}
					golden(t, s.name+"-"+c.name+".style", r.styles())
				})
			})
		}
	}
}

// In ASCII each view has its own frames, and none of them anything else, whatever is in names and texts.
func TestGoldenASCII(t *testing.T) {
	mains := []string{"tree", "terminal", "timeline", "turn-open", "context", "diff", "help", "inbox", "menu", "fork", "merge", "events",
		"money", "mcp", "mcp-tools"}
	for _, size := range [][2]int{{60, 20}, {80, 24}, {120, 36}} {
		for _, s := range scenes {
			t.Run(fmt.Sprintf("%s-%dx%d", s.name, size[0], size[1]), func(t *testing.T) {
				for _, set := range []glyph.Set{glyph.ASCII, glyph.Bytes} {
					play(t, world(), size[0], size[1], func(cfg *Config) { cfg.Glyphs = set }, func(r *rig) {
						stage(r)
						s.do(r)
						if set == glyph.Bytes {
							if i := strings.IndexFunc(r.see(), func(c rune) bool { return c >= 0x7f }); i >= 0 {
								t.Errorf("%q is not ASCII", r.see()[i:i+4])
							}
						} else if slices.Contains(mains, s.name) {
							goldenOf(t, "ascii-"+s.name, size, r)
						}
					})
				}
			})
		}
	}
}

// The same screen in every kind of terminal: the text is the same, the styles fit the terminal.
func TestGoldenProfiles(t *testing.T) {
	for _, c := range []struct {
		name    string
		profile colorprofile.Profile
		ground  string
	}{{"none", colorprofile.ASCII, "dark"}, {"16", colorprofile.ANSI, "dark"}, {"16-light", colorprofile.ANSI, "light"}, {"256", colorprofile.ANSI256, "dark"}, {"light", colorprofile.TrueColor, "light"}} {
		t.Run(c.name, func(t *testing.T) {
			play(t, world(), 100, 30, func(cfg *Config) { cfg.Profile, cfg.Theme = c.profile, c.ground }, func(r *rig) {
				stage(r)
				r.keys("tab", "tab", "tab")
				golden(t, "diff-100x30.txt", r.see())
				golden(t, "profile-"+c.name+".style", r.styles())
			})
		})
	}
}

// Without colours the parts of a context are told apart by letters.
func TestGoldenContextWithoutColours(t *testing.T) {
	for _, size := range [][2]int{{60, 20}, {80, 24}, {120, 36}, {200, 50}} {
		play(t, world(), size[0], size[1], func(cfg *Config) { cfg.Profile = colorprofile.ASCII }, func(r *rig) {
			stage(r)
			r.keys("tab", "tab")
			goldenOf(t, "context-mono", size, r)
		})
	}
}

// Without colours the states of servers are told apart by glyphs and words.
func TestGoldenServersWithoutColours(t *testing.T) {
	for _, size := range [][2]int{{60, 20}, {120, 36}} {
		play(t, world(), size[0], size[1], func(cfg *Config) { cfg.Profile = colorprofile.ASCII }, func(r *rig) {
			stage(r)
			r.servers("github")
			goldenOf(t, "mcp-mono", size, r)
			golden(t, fmt.Sprintf("mcp-mono-%dx%d.style", size[0], size[1]), r.styles())
		})
	}
}

func TestGoldenFirstRun(t *testing.T) {
	for _, size := range [][2]int{{60, 20}, {100, 30}, {200, 50}} {
		srv := world()
		srv.threads = nil
		srv.agents = srv.agents[1:]
		name := fmt.Sprintf("first-run-%dx%d.txt", size[0], size[1])
		play(t, srv, size[0], size[1], nil, func(r *rig) {
			golden(t, name, r.see())
			r.keys("enter")
			r.mustAsk("new demo")
		})
	}
	play(t, world(), 59, 20, nil, func(r *rig) {
		golden(t, "too-small.txt", r.see())
	})
}
