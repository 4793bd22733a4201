package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/agenttest/model"
	"orchestrator/thread"
)

// realCLI is one real agent as a person has it set up: dummy keys, first-run dialogs answered, model
// requests to the scripted server.
type realCLI struct {
	name, model, mode string
	env               func(upstream string) []string
	home              func(r *rig, upstream string)
}

func realCLIs() []realCLI {
	return []realCLI{
		{"claude", "claude-sonnet-4-6", "bypassPermissions", func(up string) []string {
			return []string{"ANTHROPIC_BASE_URL=" + up, "ANTHROPIC_AUTH_TOKEN=dummy", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "IS_SANDBOX=1"}
		}, func(r *rig, _ string) {
			put(r.t, filepath.Join(r.home, ".claude.json"), fmt.Sprintf(`{"hasCompletedOnboarding":true,"projects":{%q:{"hasTrustDialogAccepted":true}}}`, r.project))
			put(r.t, filepath.Join(r.home, ".claude", "settings.json"), `{"skipDangerousModePermissionPrompt":true}`)
		}},
		{"codex", "gpt-5.5", "never/danger-full-access", func(string) []string { return nil }, func(r *rig, up string) {
			put(r.t, filepath.Join(r.home, ".codex", "config.toml"), fmt.Sprintf("openai_base_url = %q\ncheck_for_update_on_startup = false\n"+
				"[features]\nplugins = false\n[analytics]\nenabled = false\n[notice.model_migrations]\n\"gpt-5.5\" = \"gpt-6-sol\"\n"+
				"[projects.%q]\ntrust_level = \"trusted\"\n", up+"/v1", r.project))
			put(r.t, filepath.Join(r.home, ".codex", "auth.json"), `{"OPENAI_API_KEY":"sk-dummy"}`)
		}},
		{"gemini", "gemini-2.5-pro", "yolo", func(up string) []string {
			return []string{"GOOGLE_GEMINI_BASE_URL=" + up, "GEMINI_API_KEY=dummy", "GEMINI_CLI_TRUST_WORKSPACE=true"}
		}, func(r *rig, _ string) {
			put(r.t, filepath.Join(r.home, ".gemini", "settings.json"), `{"security":{"auth":{"selectedType":"gemini-api-key"}},`+
				`"privacy":{"usageStatisticsEnabled":false},"general":{"enableAutoUpdate":false,"enableAutoUpdateNotification":false,"sessionRetention":{"enabled":false}}}`)
		}},
		{"opencode", "fm/fake-1", "", func(string) []string {
			return []string{"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_SHARE=1"}
		}, func(r *rig, up string) {
			put(r.t, filepath.Join(r.home, ".config", "opencode", "opencode.json"), fmt.Sprintf(`{"model":"fm/fake-1","provider":{"fm":{"npm":"@ai-sdk/openai-compatible","name":"fm",`+
				`"options":{"baseURL":%q,"apiKey":"x"},"models":{"fake-1":{"name":"Fake 1","limit":{"context":100000,"output":8000}}}}}}`, up+"/v1"))
		}},
	}
}

// realRig is a rig with a real CLI in it.
type realRig struct {
	*rig
	cli   realCLI
	model *model.Server
}

func newRealRig(t *testing.T, cli realCLI) *realRig {
	bin := clis.Bin(t)
	r := &realRig{rig: newRig(t), cli: cli, model: model.New(nil)}
	t.Cleanup(r.model.Close)
	r.env = append(r.env, "COLORTERM=truecolor",
		// Nothing leaves this machine, whatever the program tries.
		"HTTPS_PROXY=http://127.0.0.1:9", "https_proxy=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost")
	for i, kv := range r.env {
		if path, ok := strings.CutPrefix(kv, "PATH="); ok {
			r.env[i] = "PATH=" + bin + ":" + path
		}
	}
	r.env = append(r.env, cli.env(r.model.URL())...)
	cli.home(r.rig, r.model.URL())
	return r
}

func (r *realRig) start(label string) string {
	r.t.Helper()
	args := []string{"new", "-a", r.cli.name, "-m", r.cli.model, label}
	if r.cli.mode != "" {
		args = append(args, "--permission-mode", r.cli.mode)
	}
	return r.ok(args...)
}

// realPrompt is a prompt of one turn: a file is written, a command run, an answer given.
func realPrompt(i int) string {
	return fmt.Sprintf("prompt-%d. #write:notes.txt=v-%d #bash:echo out-%d #usage:%d,20,0,7 #say:answer-%d.", i, i, i, 1000+i, i)
}

// request waits for the main request that brings a prompt to the model.
func (r *realRig) request(what string) model.Request {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 2*patience)
	defer cancel()
	q, err := r.model.Wait(ctx, func(q model.Request) bool { return !q.Turn.Side && strings.Contains(q.Turn.Prompt, what) })
	if err != nil {
		r.t.Fatalf("the model never heard %q: %v", what, err)
	}
	return q
}

// holdsTurns checks which turns a request holds.
func holdsTurns(t *testing.T, q model.Request, turns []int) {
	t.Helper()
	prompts, answers := strings.Join(q.Turn.Prompts(), "\n"), strings.Join(q.Turn.Answers(), "\n")
	for i := 1; i <= 5; i++ {
		want := slices.Contains(turns, i)
		if got := strings.Contains(prompts, fmt.Sprintf("prompt-%d.", i)); got != want {
			t.Errorf("prompt %d is in the request: %v, want %v", i, got, want)
		}
		if got := strings.Contains(answers, fmt.Sprintf("answer-%d.", i)); got != want {
			t.Errorf("answer %d is in the request: %v, want %v", i, got, want)
		}
	}
}

// TestRealResume drives every real CLI in the whole program: a turn with tools, a gauge that equals
// what the model counted, the plug pulled in the middle of the next answer, and the same history
// heard again after the resume.
func TestRealResume(t *testing.T) {
	for _, cli := range realCLIs() {
		t.Run(cli.name, func(t *testing.T) {
			r := newRealRig(t, cli)
			begin := time.Now()
			name := r.start("real")
			r.ok("send", name, realPrompt(1))
			s := r.awaitState(name, thread.StateDone, thread.StateIdle)
			if s.Gauge.Tokens != 1001+20+7 || s.Gauge.Estimated {
				t.Errorf("gauge %+v, and the model counted %d", s.Gauge, 1001+20+7)
			}
			if got := r.read("notes.txt"); !strings.Contains(got, "v-1") {
				t.Errorf("notes.txt: %q", got)
			}
			r.ok("send", "-d", name, "second. #hold:plug #say:never heard")
			r.request("second.")
			var agents []int
			for _, s := range get[[]thread.Status](r.rig, "threads") {
				if s.Execution != nil {
					agents = append(agents, s.Execution.PID)
				}
			}
			for _, pid := range append(agents, r.serverPID()) {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
			}
			r.model.Release("plug")
			s = r.status(name)
			await(t, "proof of what can be resumed", func() bool { s = r.status(name); return s.Resume != nil })
			if s.State.State != thread.StateInterrupted || s.Resume.How != thread.ResumeNative || s.Resume.Bytes == 0 {
				t.Errorf("after the kill: %s, %+v", s.State.State, s.Resume)
			}
			proof := *s.Resume
			r.ok("resume", name)
			r.ok("send", name, "third. #say:answer-3.")
			q := r.request("third.")
			if prompts := strings.Join(q.Turn.Prompts(), "\n"); !strings.Contains(prompts, "prompt-1.") || !strings.Contains(strings.Join(q.Turn.Results(), "\n"), "out-1") {
				t.Errorf("the model heard after the resume: %q", prompts)
			}
			t.Logf("%s: a turn, kill -9 of server and agent in the middle of the next, resume and a turn in %v; %d bytes verified (%s)",
				cli.name, time.Since(begin).Round(time.Second), proof.Bytes, proof.Detail)
		})
	}
}

// TestRealForks forks every real CLI at turn 3 of five.
func TestRealForks(t *testing.T) {
	for _, cli := range realCLIs() {
		t.Run(cli.name, func(t *testing.T) {
			r := newRealRig(t, cli)
			begin := time.Now()
			name := r.start("parent")
			for i := 1; i <= 5; i++ {
				r.ok("send", name, realPrompt(i))
			}
			fork := get[thread.Status](r.rig, "fork", "another way", "-t", name, "--at", "3")
			b, err := os.ReadFile(filepath.Join(fork.Dir, "notes.txt"))
			if err != nil || !strings.Contains(string(b), "v-3") {
				t.Errorf("the fork's notes.txt: %q %v", b, err)
			}
			r.ok("send", fork.Name, "fork. #say:answer-fork.")
			holdsTurns(t, r.request("fork."), []int{1, 2, 3})
			r.ok("send", name, "parent. #say:answer-parent.")
			holdsTurns(t, r.request("parent."), []int{1, 2, 3, 4, 5})
			if got := r.read("notes.txt"); !strings.Contains(got, "v-5") {
				t.Errorf("the parent's notes.txt: %q", got)
			}
			t.Logf("%s: five turns, fork at turn 3, a turn in each in %v", cli.name, time.Since(begin).Round(time.Second))
		})
	}
}

// TestRealApproval types a prompt into the pane, sees the agent ask, allows the tool there, and sees
// the answer.
func TestRealApproval(t *testing.T) {
	ask := map[string]struct{ mode, mark, yes string }{
		"claude": {"manual", "", "1"},
		"codex":  {"on-request/workspace-write", "#escalate ", "y"},
	}
	for _, cli := range realCLIs() {
		how, ok := ask[cli.name]
		if !ok {
			continue
		}
		t.Run(cli.name, func(t *testing.T) {
			cli.mode = how.mode
			r := newRealRig(t, cli)
			name := r.start("asked")
			s := r.open(120, 40, "attach", name)
			r.awaitState(name, thread.StateIdle, thread.StateUnknown, thread.StateDone)
			s.press("please. " + how.mark + "#bash:touch made.txt #usage:1234,20,0,7 #say:it is made.")
			s.see("it is made.")
			s.press("\r")
			r.awaitState(name, thread.StateApproval)
			s.see("made.txt")
			s.press(how.yes)
			st := r.awaitState(name, thread.StateIdle, thread.StateDone)
			if st.Gauge.Tokens != 1234+20+7 {
				t.Errorf("gauge %+v, and the model counted %d", st.Gauge, 1234+20+7)
			}
			if _, err := os.Stat(filepath.Join(r.project, "made.txt")); err != nil {
				t.Errorf("the tool did not run: %v", err)
			}
			t.Logf("%s: typed into the pane, asked, allowed, answered; the gauge says %d", cli.name, st.Gauge.Tokens)
		})
	}
}
