package agents

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/agenttest/model"
	"orchestrator/agent/scripted"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// The windows in tokens that the models of the real CLIs are said to have. OpenCode compacts what is near its own idea of
// the window.
const (
	smallWindow    = 120_000
	openCodeWindow = 90_000
)

// summaryAsked is how the request for a summary begins.
const summaryAsked = "Write a summary of this conversation up to"

// writesSummaries answers prompts by their markers, and writes summaries.
func writesSummaries(turn model.Turn) scripted.Reply {
	if strings.HasPrefix(turn.Prompt, summaryAsked) {
		return scripted.Reply{Text: "## Goal\nto note everything down\n## Asked for\nnotes\n## Decisions\nnone\n## Files\nnone\n" +
			"## Facts\nthe first note is note-1\n## Open points\nnone\n"}
	}
	return atWork(turn)
}

// note is a prompt of about 4,000 tokens.
func note(i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "note-%d ", i)
	for n := range 700 {
		fmt.Fprintf(&b, "line %d of note %d is here, ", n, i)
	}
	fmt.Fprintf(&b, "#say:noted-%d", i)
	return b.String()
}

// share returns how full a thread's context is, in percent.
func (r *realRig) share(name string) float64 { return r.Status(name).Gauge.Share() }

// TestRealSummaries has each real CLI fill a small window: the older turns are summarised by its own model, which reads
// the same beginning with the same key; the gauge falls; after a stop and in a fork the same bytes are sent; and at 95 %
// a prompt is refused with the way out, or goes on in a fork.
func TestRealSummaries(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			r := newScripted(t, cli, writesSummaries)
			window := smallWindow
			if cli.Name == "opencode" {
				window = openCodeWindow
			}
			r.window(window)
			name := r.start("notes")
			i := 0
			fill := func(until float64, most int) {
				t.Helper()
				for range most {
					if r.share(name) >= until {
						return
					}
					i++
					if got := r.Run("send", "--timeout", "2m", name, note(i)); got.Code != 0 {
						t.Fatalf("note %d at %.0f %%: %+v", i, r.share(name), got)
					}
				}
				t.Fatalf("%d notes, and the context is only %.0f %% full", i, r.share(name))
			}
			fill(62, 40)
			before := r.share(name)
			last := r.newest()
			t.Logf("%d notes: %.0f %%\n%s", i, before, r.Ok("context", "summary", name))
			t.Log(r.Ok("context", "summary", name, "--write"))
			var asked model.Request
			for _, q := range r.model.Requests() {
				if strings.HasPrefix(q.Turn.Prompt, summaryAsked) {
					asked = q
				}
			}
			at := strings.LastIndex(last, fmt.Sprintf("line 699 of note %d", i))
			if at < 0 || !strings.HasPrefix(string(asked.Body), last[:at]) {
				t.Errorf("the request for the summary (%d bytes) does not begin as the last one (%d of %d bytes)",
					len(asked.Body), at, len(last))
			}
			r.Ok("send", "--timeout", "2m", name, "hello #say:after")
			sent := r.newest()
			// The first prompt stays: agents put what they know about the project before it.
			begin := strings.Index(sent, "[Summary: the earlier part")
			if begin < 0 || !strings.Contains(sent, "the first note is note-1") || strings.Contains(sent, "line 300 of note 2 ") {
				t.Fatalf("the summary is not in the next request of %d bytes", len(sent))
			}
			if now := r.share(name); now > before-10 {
				t.Errorf("the context went from %.0f to %.0f %%", before, now)
			}
			summary := sent[begin : begin+600]
			r.Ok("stop", name)
			r.Ok("resume", name)
			r.Ok("send", "--timeout", "2m", name, "hello #say:again")
			if !strings.Contains(r.newest(), summary) {
				t.Error("after a stop the summary is not sent as it was")
			}
			r.Ok("fork", "more", "-t", name, "-p", "and now #say:in-the-fork")
			q := r.request("in-the-fork")
			if !strings.Contains(string(q.Body), summary) {
				t.Error("in a fork the summary is not sent as it was")
			}

			fill(84, 60)
			refused := ""
			for range 12 {
				i++
				if got := r.Run("send", "--timeout", "30s", name, note(i)); got.Code != 0 {
					refused = got.Stdout + got.Stderr
					break
				}
			}
			if refused == "" {
				t.Fatalf("at %.0f %% prompts are still sent", r.share(name))
			}
			if strings.Contains(r.newest(), fmt.Sprintf("note-%d ", i)) {
				t.Error("the prompt that is refused was sent")
			}
			if why := r.Ok("why", name); !strings.Contains(why, "orchestrator does not send this request") {
				t.Errorf("it is not said why: %s", why)
			}
			t.Logf("refused at %.0f %%: %s", r.share(name), refused)

			r.Ok("stop")
			r.Env = append(r.Env, "ORCHESTRATOR_OFFERS=auto", "ORCHESTRATOR_SUMMARIES=off")
			r.Ok("resume", name)
			i++
			r.Run("send", "--timeout", "30s", name, note(i))
			q = r.request(fmt.Sprintf("note-%d ", i))
			if body := string(q.Body); strings.Contains(body, "line 5 of note 2 ") && len(body) > len(last) {
				t.Error("the fork was given the whole conversation")
			}
			if !r.forked(name) {
				t.Error("the prompt did not go on in a fork")
			}
		})
	}
}

// window says how many tokens the window of each model has.
func (r *realRig) window(tokens int) {
	r.T.Helper()
	e2e.Put(r.T, filepath.Join(r.Home, ".config", "orchestrator", "config.toml"), fmt.Sprintf(
		"[models]\n\"claude-sonnet-*\" = { window = %[1]d, input = 3, output = 15 }\n\"gpt-5*\" = { window = %[1]d }\n"+
			"\"gemini-2.5-pro\" = { window = %[1]d }\n\"fake-*\" = { window = %[1]d }\n", tokens))
}

// TestRealEmergency has each real CLI fill a window within ten requests of one turn, whose results are protected: at
// 90 % all but the newest one are masked, and the agent goes on.
func TestRealEmergency(t *testing.T) {
	const rounds, lines = 12, 1300 // each result has about 2,300 tokens
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			room := 20_000
			if cli.Name == "gemini" { // which sends half of a result
				room /= 2
			}
			r := newScripted(t, cli, func(turn model.Turn) scripted.Reply {
				switch {
				case turn.Side || !strings.Contains(turn.Prompt, "the long task"):
					return atWork(turn)
				case turn.Round < rounds:
					command := fmt.Sprintf("seq %d00001 %d%05d", turn.Round+1, turn.Round+1, lines)
					return scripted.Reply{Calls: []scripted.Call{turn.Shell(command, false)}}
				default:
					return scripted.Reply{Text: "the long task is done"}
				}
			})
			name := r.start("long")
			r.Ok("send", "--timeout", "2m", name, "hello #say:hello")
			base := r.Status(name).Gauge.Tokens
			r.Ok("stop")
			r.window(int(base) + room)
			r.Ok("resume", name)
			if got := r.Run("send", "--timeout", "5m", name, "the long task"); got.Code != 0 {
				t.Fatalf("the long task: %+v", got)
			}
			before := 0 // bytes of the request before the first one with masks
			for _, q := range r.model.Main() {
				body := string(q.Body)
				if n := len(stubs(body)); n > 0 {
					t.Logf("window of %d tokens: after %d bytes, %d results are masked in the request with result %d; then %.0f %%",
						int(base)+room, before, n, q.Turn.Round, r.share(name))
					if n < q.Turn.Round-2 || q.Turn.Round > 10 {
						t.Error("not all but the newest, or not because of the window")
					}
					return
				}
				before = len(body)
			}
			t.Errorf("nothing is masked at %.0f %%", r.share(name))
		})
	}
}

// forked reports whether a thread has a fork that began with a summary.
func (r *realRig) forked(name string) bool {
	parent := r.Status(name).ID
	for _, s := range e2e.Get[[]thread.Status](r.Rig, "threads", "--all") {
		if s.Parent == parent && s.Handoff != nil && s.Handoff.Fresh {
			return true
		}
	}
	return false
}
