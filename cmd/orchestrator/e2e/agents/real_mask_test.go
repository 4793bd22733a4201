package agents

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/agenttest/model"
	"orchestrator/agent/scripted"
	"orchestrator/thread"
)

// masked matches what stands in place of a masked result.
var masked = regexp.MustCompile(`\[Masked: [^\]]+ returned \d+ lines, \d+ tokens\] (/[^\s"\\]+/outputs/[0-9a-f]{8}\.txt) max:[0-9a-f]{8}`)

// beginning matches the first line of what a command of the long task prints.
var beginning = regexp.MustCompile(`\b(\d+)00001\n`)

// maskRounds is how many commands the long task runs, and maskLines how many lines each prints.
const (
	maskRounds = 24
	maskLines  = 900
)

// newLong is a rig in which the model works on a long task: it runs commands until there are masks, and reads what the
// first one stands for.
func newLong(t *testing.T, cli clis.CLI) (r *realRig) {
	long := func(turn model.Turn) scripted.Reply {
		if turn.Side || !strings.Contains(turn.Prompt, "the long task") {
			return atWork(turn)
		}
		switch {
		case turn.Round < maskRounds:
			command := fmt.Sprintf("seq %d00001 %d%05d", turn.Round+1, turn.Round+1, maskLines)
			return scripted.Reply{Calls: []scripted.Call{turn.Shell(command, false)}}
		case turn.Round == maskRounds:
			files := stubs(r.newest())
			if len(files) == 0 {
				return scripted.Reply{Text: "nothing is masked"}
			}
			path := masked.FindStringSubmatch(files[0])[1]
			if offers(turn, "Read", "read_file", "read") {
				return scripted.Reply{Calls: []scripted.Call{turn.Read(path)}}
			}
			return scripted.Reply{Calls: []scripted.Call{turn.Shell("cat "+path, false)}}
		default:
			return scripted.Reply{Text: "the long task is done"}
		}
	}
	r = newScripted(t, cli, long)
	r.Env = append(r.Env, "ORCHESTRATOR_MASKING=lean", "ORCHESTRATOR_MASKING_TOKENS=10000")
	return r
}

// TestRealMasks has each real CLI work on a long task: results that are far back are masked in what the provider gets,
// the agent reads one again by the path in its place without being asked, and after a stop and in a fork the same bytes
// are sent.
func TestRealMasks(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			r := newLong(t, cli)
			name := r.start("long")
			if got := r.Run("send", "--timeout", "5m", name, "the long task"); got.Code != 0 {
				t.Fatalf("the long task: %+v", got)
			}
			last := r.newest()
			before := stubs(last)
			if len(before) == 0 {
				t.Fatalf("nothing is masked in a request of %d bytes", len(last))
			}
			path := masked.FindStringSubmatch(before[0])[1]
			content, err := os.ReadFile(path)
			printed := beginning.FindSubmatch(content) // a busy agent may return a part of the first ones, too short to be masked
			if err != nil || printed == nil {
				t.Fatalf("%s: %.40q (%v)", path, content, err)
			}
			if !strings.Contains(last, string(printed[1])+"00300") {
				t.Error("the agent did not read what is masked")
			}
			if s := r.Status(name); s.Gauge.Masked == 0 || s.State.State != thread.StateDone {
				t.Errorf("gauge %+v, state %s", s.Gauge, s.State.State)
			}
			t.Logf("%d masks; the last request has %d bytes, %d are masked\n%s", len(before), len(last),
				r.Status(name).Gauge.Masked, r.Ok("context", "show", name))
			// The model counts a token for four bytes.
			s := r.Status(name)
			want, priced := savedAs(t, s.Model, r.model.Main(), 4)
			t.Logf("masking saved $%.4f; by what the provider got it is $%.4f (with a price: %v)", s.Gauge.SavedUSD, want, priced)
			if !nearly(s.Gauge.SavedUSD, want) {
				t.Errorf("masking is said to have saved $%.4f; by what the provider got it is $%.4f", s.Gauge.SavedUSD, want)
			}
			same := func(what string) {
				t.Helper()
				now := stubs(r.newest())
				for _, s := range before {
					if !slices.Contains(now, s) {
						t.Errorf("%s: %s is not sent", what, s)
						return
					}
				}
			}
			r.Ok("stop", name)
			r.Ok("resume", name)
			r.Ok("send", "--timeout", "2m", name, "hello #say:again")
			same("after a stop")
			r.Ok("fork", "more", "-t", name, "-p", "and now #say:in the fork")
			r.model.Wait(t.Context(), func(q model.Request) bool { return strings.Contains(string(q.Body), "in the fork") }) //nolint:errcheck // the next line tells
			same("in a fork")
		})
	}
}

// newest returns the body of the newest main request.
func (r *realRig) newest() string {
	all := r.model.Main()
	if len(all) == 0 {
		return ""
	}
	return string(all[len(all)-1].Body)
}

func stubs(body string) []string { return masked.FindAllString(body, -1) }

// offers reports whether a request offers one of the tools.
func offers(turn model.Turn, names ...string) bool {
	return slices.ContainsFunc(turn.Tools, func(t scripted.Tool) bool { return slices.Contains(names, t.Name) })
}

// TestRealMasksKilled kills the server again and again while the real Claude Code works on a long task: for each masked
// result the provider is sent one text only, and its content is never sent again. KILL_ROUNDS sets how often.
func TestRealMasksKilled(t *testing.T) {
	prompts := 0
	long := func(turn model.Turn) scripted.Reply {
		if turn.Side || !strings.Contains(turn.Prompt, "the long task") {
			return atWork(turn)
		}
		if turn.Round >= maskRounds {
			return scripted.Reply{Text: "the long task is done"}
		}
		command := fmt.Sprintf("seq %d00001 %d%05d # %s", turn.Round+1, turn.Round+1, maskLines, turn.Prompt)
		return scripted.Reply{Calls: []scripted.Call{turn.Shell(command, false)}}
	}
	r := newScripted(t, realClaude(), long)
	r.Env = append(r.Env, "ORCHESTRATOR_MASKING=lean", "ORCHESTRATOR_MASKING_TOKENS=10000")
	name := r.start("long")
	rounds := 4
	if n, err := strconv.Atoi(os.Getenv("KILL_ROUNDS")); err == nil {
		rounds = n
	}
	for range rounds {
		prompts++
		r.Ok("send", "-d", name, fmt.Sprintf("the long task %d", prompts))
		time.Sleep(time.Duration(1500+rand.IntN(6000)) * time.Millisecond)
		if err := syscall.Kill(r.ServerPID(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		r.Run("resume", name)
		r.AwaitState(name, thread.StateDone, thread.StateIdle, thread.StateExited)
	}
	r.Ok("send", "--timeout", "5m", name, "hello #say:again")
	texts, last := map[string]string{}, map[string]int{} // by the path in it
	n := 0
	for i, q := range r.model.Main() {
		for _, m := range masked.FindAllStringSubmatch(string(q.Body), -1) {
			n++
			if was, ok := texts[m[1]]; ok && was != m[0] {
				t.Errorf("request %d: %s was %s before", i, m[0], was)
			}
			texts[m[1]], last[m[1]] = m[0], i
		}
	}
	newest := len(r.model.Main()) - 1
	for path, at := range last {
		if at < newest && !strings.Contains(r.newest(), path) {
			t.Logf("%s is not in the newest request: the agent went back", path)
		}
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	if len(texts) == 0 {
		t.Error("nothing was masked")
	}
	t.Logf("%d rounds, %d requests, %d results masked, %d times", rounds, newest+1, len(texts), n)
}
