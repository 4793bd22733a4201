package bases

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/thread"
)

// claudeBench is a bench with Claude Code.
func claudeBench(t *testing.T) *bench { return newBench(t, clis.All()[0]) }

// TestRealBaseApproval has Claude Code ask before it writes, with each profile: what is denied by the profile is gone,
// what the person allows or denies stays so, and what they approve is done.
func TestRealBaseApproval(t *testing.T) {
	for _, profile := range []string{thread.BaseSlim, thread.BaseMinimal} {
		t.Run(profile, func(t *testing.T) {
			b := claudeBench(t)
			own := `{"permissions":{"allow":["Bash(touch allowed-*)"],"deny":["Bash(touch denied-*)"]}}`
			b.write("shop/.claude/settings.local.json", own)
			r := b.start(b.launch(b.left(profile), b.withServer, func(spec *thread.LaunchSpec) { spec.Flags.PermissionMode = b.cli.Asking }))
			r.say("one #write:" + r.path("new.txt") + "=hello #say:written")
			r.await(thread.StateApproval)
			r.sees("Do you want to create")
			if _, err := os.Stat(r.path("new.txt")); err == nil {
				t.Error("written before it was approved")
			}
			r.enter()
			r.done("one #write:" + r.path("new.txt") + "=hello #say:written")
			if raw, err := os.ReadFile(r.path("new.txt")); err != nil || string(raw) != "hello" {
				t.Errorf("after the approval: %q %v", raw, err)
			}
			r.turn("two #bash:touch allowed-1 #say:ran") // is not asked about
			_, said := r.turn("three #bash:touch denied-1 #say:ran")
			if !strings.Contains(strings.ToLower(said), "denied") {
				t.Errorf("what the person denies: %s", said)
			}
			for name, want := range map[string]bool{"allowed-1": true, "denied-1": false} {
				if _, err := os.Stat(r.path(name)); (err == nil) != want {
					t.Errorf("%s: %v", name, err)
				}
			}
			r.end()
			if raw, err := os.ReadFile(filepath.Join(b.project, ".claude", "settings.local.json")); err != nil || string(raw) != own {
				t.Errorf("the person's settings are %s %v", raw, err)
			}
			b.sameHome()
		})
	}
}

// TestRealBasePlan has Claude Code plan, with each profile: it shows its plan, the person accepts it, and then it writes.
func TestRealBasePlan(t *testing.T) {
	for _, profile := range []string{thread.BaseFull, thread.BaseSlim, thread.BaseMinimal} {
		t.Run(profile, func(t *testing.T) {
			b := claudeBench(t)
			r := b.start(b.launch(b.left(profile), func(spec *thread.LaunchSpec) { spec.Flags.PermissionMode = "plan" }))
			const prompt = "plan it #plan"
			q := r.say(prompt)
			if got := baseOf(t, q); len(got.mentions("ExitPlanMode")) == 0 && got.tools["ExitPlanMode"] == "" {
				t.Errorf("there is no way out of planning: %v", got.names())
			}
			r.await(thread.StateApproval)
			r.sees("Exit plan mode?")
			r.enter()
			done := r.done(prompt)
			for _, o := range done.Turn.Outcomes {
				if o.Failed {
					t.Errorf("%s: %s", o.Name, o.Output)
				}
			}
			const write = "now #write:new.txt=hello #say:written"
			r.say(write) // which it asks for, as it did before it planned
			r.sees("Do you want to create")
			r.enter()
			r.done(write)
			if raw, err := os.ReadFile(r.path("new.txt")); err != nil || string(raw) != "hello" {
				t.Errorf("after the plan: %q %v\n%s", raw, err, r.screen())
			}
			r.end()
		})
	}
}

// TestRealBaseOwn has settings, skills and agents of the person's and the repository's: they stay in use.
func TestRealBaseOwn(t *testing.T) {
	b := claudeBench(t)
	b.write("home/.claude/settings.json", `{"skipDangerousModePermissionPrompt":true,"autoMemoryEnabled":true,"permissions":{"allow":["CronList"]}}`)
	b.config = b.sums()
	b.write("shop/.claude/skills/deploy/SKILL.md", "---\nname: deploy\ndescription: How this shop is deployed, plugh.\n---\nPush it.\n")
	b.write("shop/.claude/agents/critic.md", "---\nname: critic\ndescription: Finds what is wrong, xyzzy.\n---\nBe strict.\n")
	for _, profile := range []string{thread.BaseSlim, thread.BaseReadOnly, thread.BaseMinimal} {
		full := baseOf(t, b.first(nil))
		got := baseOf(t, b.first(b.left(profile)))
		t.Logf("%s: %d of %d tokens, %v", profile, got.size(), full.size(), got.names())
		texts := strings.Join(got.texts, "\n")
		for _, word := range []string{"plugh", "xyzzy", "# Memory", "CronList", "Name a thing by what it is"} {
			if !strings.Contains(texts, word) {
				t.Errorf("%s: %q has gone", profile, word)
			}
		}
		for _, tool := range []string{"Skill", "Agent", "ToolSearch", "Read"} {
			if got.tools[tool] == "" {
				t.Errorf("%s: %s has gone", profile, tool)
			}
		}
		if got.tools["Workflow"] != "" || strings.Contains(texts, "code-review") || got.size() >= full.size() {
			t.Errorf("%s: what nobody asked for is there", profile)
		}
	}
	b.sameHome()
}

// TestRealBaseUndeferred has an environment in which the definitions of all tools come first: the levers take away more,
// and MCP tools stay. The tools for plans then name other tools.
func TestRealBaseUndeferred(t *testing.T) {
	b := claudeBench(t)
	b.env = append(b.env, "ENABLE_TOOL_SEARCH=false")
	l := b.levers()
	full := b.second(nil)
	for _, profile := range thread.BaseProfiles()[1:] {
		left := b.left(profile)
		got := b.second(left)
		t.Logf("%s: %d of %d tokens, %d %%, %v", profile, got.size(), full.size(), 100*got.size()/full.size(), got.names())
		b.gone(profile, full, got, l.Named(left), append([]string{"Agent", "AskUserQuestion"}, mentioned["claude"]...))
	}
}

// second starts the CLI with an MCP server, and returns what it sends once it has reached that.
func (b *bench) second(left []string) base {
	b.Helper()
	r := b.start(b.launch(left, b.withServer))
	defer r.end()
	for i := range 10 {
		got := baseOf(b.T, r.say(fmt.Sprintf("hello %d of %d", i, b.starts)))
		if got.tools["mcp__orch__echo"] != "" {
			return got
		}
		time.Sleep(time.Second)
	}
	b.Fatalf("the tools of the MCP server never came:\n%s", r.screen())
	return base{}
}
