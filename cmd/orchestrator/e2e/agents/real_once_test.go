package agents

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/agent/agenttest/model"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/contextmgr/tokens"
	"orchestrator/thread"
)

// TestRealInstructionsOnce forks the real Claude Code into worktrees, two generations, with its file of instructions sent
// again and sent once: the second copy is not in what the provider gets from the first request of the fork on, all else
// is, and a file that differs is sent.
func TestRealInstructionsOnce(t *testing.T) {
	const rules = 35 // about 3 KB
	said := fmt.Sprintf("- Rule %d: ", rules-1)
	first := map[bool][]int{} // tokens of what was read again, in the first requests of both generations
	for _, once := range []bool{false, true} {
		t.Run(fmt.Sprint("claude once=", once), func(t *testing.T) {
			r := newRealRig(t, realClaude())
			if once {
				e2e.Put(t, filepath.Join(r.Home, ".config/orchestrator/config.toml"), "[context.base]\nrepeated_instructions = \"once\"\n")
			}
			r.rules(rules, "plain")
			name := r.talked(1)
			copies := func(q model.Request, want int) int {
				t.Helper()
				if got := strings.Count(string(q.Body), said); got != want {
					t.Errorf("%q: the rules stand there %d times, want %d", q.Turn.Prompt, got, want)
				}
				return readAgain(t, q.Body)
			}
			count := func(n int) int { // of copies that are sent in generation n
				if once {
					return 1
				}
				return 1 + n
			}
			fork := e2e.Get[thread.Status](r.Rig, "fork", "gen one", "-t", name)
			r.Ok("send", fork.Name, "one. #say:x1")
			q := r.request("one.")
			first[once] = append(first[once], copies(q, count(1)))
			was := string(q.Body)
			r.Ok("send", fork.Name, "then. #say:x2")
			if q = r.request("then."); !strings.HasPrefix(messages(t, q.Body), strings.TrimSuffix(messages(t, []byte(was)), "]")) {
				t.Errorf("the fork's second request does not begin with the first one:\n%s\n\n%s", was, q.Body)
			}
			copies(q, count(1))
			r.Ok("stop", fork.Name)
			r.Ok("resume", fork.Name)
			r.Ok("send", fork.Name, "resumed. #say:x3")
			copies(r.request("resumed."), count(1))

			second := e2e.Get[thread.Status](r.Rig, "fork", "gen two", "-t", fork.Name)
			r.Ok("send", second.Name, "two. #say:x4")
			q = r.request("two.")
			first[once] = append(first[once], copies(q, count(2)))
			if refers := strings.Count(string(q.Body), "unchanged; they hold here"); once && refers != 2 {
				t.Errorf("%d references in the second generation", refers)
			}
			if once {
				t.Logf("%s", r.Ok("context", "show", second.Name, "--results"))
			}
			third := e2e.Get[thread.Status](r.Rig, "fork", "gen three", "-t", second.Name)
			e2e.Put(t, filepath.Join(third.Dir, "CLAUDE.md"), "Other rules.\n"+strings.Repeat(said+"changed\n", 40))
			r.Ok("send", third.Name, "three. #say:x")
			copies(r.request("three."), count(2)+40)
			r.Ok("send", name, "parent. #say:x")
			copies(r.request("parent."), 1)
		})
	}
	if len(first[true]) == 2 && len(first[false]) == 2 {
		for n, before := range first[false] {
			t.Logf("generation %d: %d tokens of instructions that were read again in the fork's first request, %d when they are sent once (-%d)", n+1, before, first[true][n], before-first[true][n])
			if first[true][n] >= before-(n+1)*500 {
				t.Errorf("generation %d saves too little", n+1)
			}
		}
	}
}

// rules writes a file of instructions and commits it.
func (r *realRig) rules(n int, of string) {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "- Rule %d: keep \"quotes\", <tags> & %s words as they are, in each file that you write.\n", i, of)
	}
	r.Write("CLAUDE.md", b.String())
	r.Git("add", "CLAUDE.md")
	r.Git("commit", "-q", "-m", "rules")
}

// readAgain returns the tokens of the blocks with files that were read again.
func readAgain(t *testing.T, body []byte) (n int) {
	t.Helper()
	var b struct {
		Messages []struct{ Content json.RawMessage }
	}
	if err := json.Unmarshal(body, &b); err != nil {
		t.Fatal(err)
	}
	for _, m := range b.Messages {
		var blocks []struct{ Text string }
		_ = json.Unmarshal(m.Content, &blocks) // a string is one block without any
		for _, block := range blocks {
			if strings.Contains(block.Text, "Instruction files were re-read") {
				n += tokens.New().Count(block.Text)
			}
		}
	}
	return n
}

// messages returns the messages of a body without their marks for the cache.
func messages(t *testing.T, body []byte) string {
	t.Helper()
	var b struct{ Messages any }
	if err := json.Unmarshal(body, &b); err != nil {
		t.Fatal(err)
	}
	return plainJSON(t, withoutMarks(b.Messages))
}
