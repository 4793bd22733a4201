package agenttest_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/agenttest/model"
	"orchestrator/thread"
)

// askingCases are the rows about runs that ask a person, and that take further prompts.
func askingCases() []runCase {
	all := []runCase{{"goes on", goesOn}, {"no tools", withoutTools}, {"read-only asks", readOnlyAsks}}
	for _, c := range []runCase{
		{"approved", approved}, {"denied", deniedAsk}, {"approved for good", approvedForGood}, {"withdrawn", withdrawn},
		{"two at once", twoAtOnce}, {"sub-agents ask", subAgentsAsk}, {"choice", choice}, {"plan", planned},
	} {
		all = append(all, runCase{c.name, func(t *testing.T, s *runs) {
			if _, ok := s.dialogue().(thread.Asker); !ok {
				t.Skip("SKIPPED: it asks nobody")
			}
			c.test(t, s)
		}})
	}
	for _, c := range []runCase{{"steered", steered}, {"steered late", steeredLate}, {"steered and cancelled", steeredNot}} {
		all = append(all, runCase{c.name, func(t *testing.T, s *runs) {
			if _, ok := s.dialogue().(thread.Steerer); !ok {
				t.Skip("SKIPPED: it takes no further prompts")
			}
			c.test(t, s)
		}})
	}
	return all
}

// asking has a person asked.
func (s *runs) asking(spec *thread.LaunchSpec) {
	spec.Flags.PermissionMode, spec.Once.Asks = s.cli.Asking, thread.AsksPerson
}

// there reports whether a file is in the folder.
func (s *runs) there(name string) bool {
	_, err := os.Stat(filepath.Join(s.dir, name))
	return err == nil
}

// count returns how many events of a kind there are.
func count(p *agenttest.Piped, kind thread.RunEventKind) (n int) {
	for _, e := range p.Events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// answer answers a question.
func answer(t *testing.T, p *agenttest.Piped, q thread.Question, means thread.Meaning, text string) {
	t.Helper()
	if err := p.Answer(q, means, text); err != nil {
		t.Errorf("answer %q: %v", means, err)
	}
}

// approved: what a person allows is done. The question was there as soon as the model had answered.
func approved(t *testing.T, s *runs) {
	const prompt = "careful #escalate #bash:touch ../approved.txt #say:did it"
	p := s.once(s.asking).Begin(prompt)
	q := p.Asked(0)
	all := s.requests(prompt)
	if len(all) != 1 {
		t.Fatalf("%d requests", len(all))
	}
	t.Logf("REAL: %s asked %s after the request", s.cli.Name, time.Since(all[0].Received).Round(time.Millisecond))
	if q.Kind != thread.QuestionPermission || !strings.Contains(q.About, "touch ../approved.txt") || q.Text == "" ||
		q.Choice(thread.Approve) < 0 || q.Choice(thread.Deny) < 0 {
		t.Errorf("%+v", q)
	}
	p.Settle()
	if s.there("../approved.txt") || count(p, thread.RunEnd) > 0 {
		t.Errorf("it did not wait\n%s", p.Log())
	}
	answer(t, p, q, thread.Approve, "")
	if err := p.Answer(q, thread.Deny, ""); !errors.Is(err, thread.ErrRefused) {
		t.Errorf("answered twice: %v", err)
	}
	completes(t, p)
	if !s.there("../approved.txt") || p.Said(thread.RunText) != "did it" || count(p, thread.RunAnswered) != 1 || count(p, thread.RunRefused) != 0 {
		t.Errorf("done %v\n%s", s.there("../approved.txt"), p.Log())
	}
}

// deniedAsk: what a person denies is not done, the model is told what they say, and the turn goes on.
func deniedAsk(t *testing.T, s *runs) {
	const prompt = "careful #escalate #bash:touch ../denied-%d.txt #say:went on"
	for i, text := range []string{"", "use another folder #say:went on"} {
		prompt := fmt.Sprintf(prompt, i)
		p := s.once(s.asking).Begin(prompt)
		answer(t, p, p.Asked(0), thread.Deny, text)
		completes(t, p)
		if s.there(fmt.Sprintf("../denied-%d.txt", i)) || p.Said(thread.RunText) != "went on" || count(p, thread.RunRefused) != 0 {
			t.Errorf("%s", p.Log())
		}
		told := false
		for _, q := range s.server.Requests() {
			told = told || strings.Contains(string(q.Body), text)
		}
		if !told {
			t.Errorf("the model was not told %q", text)
		}
	}
}

// approvedForGood: what is alike is not asked again in this run, is in the next one, and no file of the person's has it.
func approvedForGood(t *testing.T, s *runs) {
	const prompt = "careful #escalate #bash:touch ../always.txt #escalate #bash:touch ../always.txt #say:did both"
	before := s.rulesFiles()
	for i := range 2 {
		p := s.once(s.asking).Begin(prompt)
		q := p.Asked(0)
		if q.Choice(thread.ApproveAlways) < 0 {
			t.Skipf("SKIPPED: it offers no such thing: %+v", q)
		}
		answer(t, p, q, thread.ApproveAlways, "")
		completes(t, p)
		if n := count(p, thread.RunAsks); n != 1 {
			t.Errorf("run %d: asked %d times\n%s", i, n, p.Log())
		}
	}
	if after := s.rulesFiles(); after != before {
		t.Errorf("the person's settings changed:\n%s\nwere\n%s", after, before)
	}
}

// rulesFiles are the files that hold rules of the person's.
func (s *runs) rulesFiles() string {
	var b strings.Builder
	for _, pattern := range []string{
		filepath.Join(s.home, ".claude", "settings*.json"), filepath.Join(s.dir, ".claude", "*"),
		filepath.Join(s.home, ".codex", "config.toml"), filepath.Join(s.home, ".codex", "rules", "*"), filepath.Join(s.dir, ".codex", "*"),
	} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, path := range paths {
			raw, err := os.ReadFile(path)
			if err != nil {
				s.t.Fatal(err)
			}
			fmt.Fprintf(&b, "%s\n%s\n", path, raw)
		}
	}
	return b.String()
}

// withdrawn: an interrupt takes a question back, and nobody can answer it any more.
func withdrawn(t *testing.T, s *runs) {
	p := s.once(s.asking).Begin("careful #escalate #bash:touch ../withdrawn.txt #say:never said")
	q := p.Asked(0)
	p.Interrupt()
	if err := p.Answer(q, thread.Approve, ""); !errors.Is(err, thread.ErrRefused) {
		t.Errorf("answered after the interrupt: %v", err)
	}
	if e := p.Wait(); e.Outcome != thread.RunCancelled {
		t.Errorf("%+v\n%s", e, p.Log())
	}
	if e := p.Until(thread.RunAnswered); !e.Failed || e.Question.ID != q.ID || s.there("../withdrawn.txt") {
		t.Errorf("%+v\n%s", e, p.Log())
	}
}

// twoAtOnce: each answer goes to its own question, whatever the order.
func twoAtOnce(t *testing.T, s *runs) {
	prompt := "careful #escalate #bash:touch ../both-a.txt #with #escalate #bash:touch ../both-b.txt #say:did one"
	if s.cli.Name == "claude" { // its shell asks for one after the other; what only reads asks at once
		for _, name := range []string{"both-a.txt", "both-b.txt"} {
			if err := os.WriteFile(filepath.Join(s.dir, "..", name), []byte("has "+name), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		prompt = fmt.Sprintf("careful #read:%s #with #read:%s #say:did one", filepath.Join(s.dir, "..", "both-a.txt"),
			filepath.Join(s.dir, "..", "both-b.txt"))
	}
	p := s.once(s.asking).Begin(prompt)
	p.Asked(0)
	p.Settle()
	together := count(p, thread.RunAsks)
	t.Logf("REAL: %s asks %d at once", s.cli.Name, together)
	if together > 1 { // the last one first
		for _, n := range []int{1, 0} {
			q := p.Asked(n)
			means := thread.Deny
			if strings.Contains(q.About, "both-b.txt") {
				means = thread.Approve
			}
			answer(t, p, q, means, "")
		}
	} else {
		for n := range 2 {
			q := p.Asked(n)
			means := thread.Deny
			if strings.Contains(q.About, "both-b.txt") {
				means = thread.Approve
			}
			answer(t, p, q, means, "")
		}
	}
	completes(t, p)
	failed, done := 0, 0
	for _, e := range p.Events {
		if e.Kind == thread.RunResult && e.Failed {
			failed++
		} else if e.Kind == thread.RunResult {
			done++
		}
	}
	if failed != 1 || done != 1 || p.Asked(0).ID == p.Asked(1).ID {
		t.Errorf("%d failed, %d done\n%s", failed, done, p.Log())
	}
	if s.cli.Name != "claude" && (s.there("../both-a.txt") || !s.there("../both-b.txt")) {
		t.Errorf("a %v, b %v", s.there("../both-a.txt"), s.there("../both-b.txt"))
	}
}

// subAgentsAsk: what sub-agents want is asked in their names, and the run ends when they have.
func subAgentsAsk(t *testing.T, s *runs) {
	if s.cli.Name != "claude" {
		t.Skip("SKIPPED: its sub-agents are started by tools of another shape")
	}
	p := s.once(s.asking).Begin(delegatingAsk)
	a, b := p.Asked(0), p.Asked(1)
	for _, q := range []thread.Question{b, a} {
		if !strings.Contains(q.Text, "sub-agent") || !strings.Contains(q.Text, "look") {
			t.Errorf("%+v", q)
		}
		answer(t, p, q, thread.Approve, "")
	}
	completes(t, p)
	for _, name := range []string{"sub-a.txt", "sub-b.txt"} {
		if !s.there(name) {
			t.Errorf("%s is not there\n%s", name, p.Log())
		}
	}
}

// choice: what the model wants to know is a question of its own kind; any words answer it.
func choice(t *testing.T, s *runs) {
	for _, c := range []struct {
		choice int
		text   string
		want   string
	}{{1, "", "Blue"}, {thread.Dismiss, "rather green", "rather green"}, {thread.Dismiss, "", ""}} {
		prompt := fmt.Sprintf("#ask which %q", c.want)
		p := s.once(func(spec *thread.LaunchSpec) {
			s.asking(spec)
			if s.cli.Name == "codex" { // else its tool is there in its plan mode only
				spec.Flags.Args = []string{"-c", "features.default_mode_request_user_input=true"}
			}
		}).Begin(prompt)
		p.Until(thread.RunSession)
		if !offers(s, prompt, "AskUserQuestion", "request_user_input", "ask_user", "question") {
			t.Skip("SKIPPED: it offers no tool to ask with")
		}
		q := p.Asked(0)
		if q.Kind != thread.QuestionChoice || q.Text != "Which colour?" || len(q.Choices) < 2 || !strings.Contains(q.Choices[1].Text, "Blue") {
			t.Fatalf("%+v", q)
		}
		if err := p.Choose(q, c.choice, c.text); err != nil {
			t.Error(err)
		}
		completes(t, p)
		given := ""
		for _, q := range s.requests(prompt) {
			for _, o := range q.Turn.Outcomes {
				given += o.Output
			}
		}
		if !strings.Contains(given, c.want) || c.want == "" && given == "" {
			t.Errorf("the model was told %q, not %q\n%s", given, c.want, p.Log())
		}
	}
}

// offers waits for the request of a prompt, and reports whether it offers one of the tools.
func offers(s *runs, prompt string, names ...string) bool {
	q, err := s.server.Wait(s.t.Context(), func(q model.Request) bool { return q.Turn.Prompt == prompt && len(q.Turn.Tools) > 0 })
	if err != nil {
		s.t.Fatal(err)
	}
	for _, tool := range q.Turn.Tools {
		for _, name := range names {
			if tool.Name == name {
				return true
			}
		}
	}
	return false
}

// planned: a plan is asked about, and only one that is right is done.
func planned(t *testing.T, s *runs) {
	if s.cli.Name != "claude" {
		t.Skip("SKIPPED: it asks about no plans without a terminal")
	}
	plan := func(spec *thread.LaunchSpec) {
		s.asking(spec)
		spec.Flags.PermissionMode = "plan"
	}
	p := s.once(plan).Begin("#exit 1")
	q := p.Asked(0)
	if q.Kind != thread.QuestionPlan {
		t.Errorf("%+v", q)
	}
	answer(t, p, q, thread.Deny, "write tests first")
	completes(t, p)
	p = s.once(plan).Begin("#plan 2")
	q = p.Asked(0)
	if !strings.Contains(q.About, "Greet in two languages") {
		t.Errorf("%+v", q)
	}
	answer(t, p, q, thread.Approve, "")
	completes(t, p)
}

// readOnlyAsks: what would write is refused at once in a run that may only read.
func readOnlyAsks(t *testing.T, s *runs) {
	p := s.once(func(spec *thread.LaunchSpec) {
		s.asking(spec)
		spec.Once.ReadOnly = true
	}).Begin("careful #escalate #bash:touch ro-asks.txt #say:tried")
	if e := p.Wait(); e.Outcome != thread.RunCompleted || count(p, thread.RunAsks) != 0 || s.there("ro-asks.txt") {
		t.Errorf("%+v\n%s", e, p.Log())
	}
}

// steered: a further prompt gets into the turn that runs.
func steered(t *testing.T, s *runs) {
	const prompt = "steer #bash:touch steer-started; while [ ! -e steer-go ]; do sleep 0.1; done #say:steered answer"
	p := s.once(nil).Begin(prompt)
	for !s.there("steer-started") {
		p.Settle()
	}
	if err := p.Steer("also the moon"); err != nil {
		t.Fatal(err)
	}
	p.Settle()
	if err := os.WriteFile(filepath.Join(s.dir, "steer-go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	completes(t, p)
	if e := p.Until(thread.RunSteered); e.Text != "also the moon" || count(p, thread.RunSteered) != 1 {
		t.Errorf("%+v\n%s", e, p.Log())
	}
	all, with := s.server.Requests(), 0
	for _, q := range all {
		if strings.Contains(string(q.Body), "also the moon") {
			with++
		}
	}
	if with == 0 {
		t.Errorf("it did not reach the model\n%s", p.Log())
	}
	if err := p.Steer("too late"); !errors.Is(err, thread.ErrBusy) {
		t.Errorf("after the end: %v", err)
	}
}

// steeredLate: a prompt that comes while the last answer is written is not lost either.
func steeredLate(t *testing.T, s *runs) {
	p := s.once(nil).Begin("late #hold:late #say:never said")
	p.Until(thread.RunSession) // it is asked by then
	if _, err := s.server.Wait(t.Context(), func(q model.Request) bool { return q.Reply.Hold == "late" }); err != nil {
		t.Fatal(err)
	}
	p.Settle()
	if err := p.Steer("and the sun #say:the sun, too"); err != nil {
		t.Fatal(err)
	}
	p.Settle()
	s.server.Release("late")
	completes(t, p)
	if got := p.Said(thread.RunText); count(p, thread.RunSteered) != 1 || !strings.Contains(got, "the sun, too") {
		t.Errorf("said %q\n%s", got, p.Log())
	}
}

// steeredNot: a prompt that was not taken when the run is cancelled does not begin a turn of its own.
func steeredNot(t *testing.T, s *runs) {
	p := s.once(nil).Begin("cancelled #bash:touch not-started; while [ ! -e not-go ]; do sleep 0.1; done #say:never said")
	for !s.there("not-started") {
		p.Settle()
	}
	if err := p.Steer("never heard"); err != nil {
		t.Fatal(err)
	}
	p.Settle()
	p.Interrupt()
	if e := p.Wait(); e.Outcome != thread.RunCancelled || count(p, thread.RunSteered) != 0 {
		t.Errorf("%+v\n%s", e, p.Log())
	}
	for _, q := range s.server.Requests() {
		if strings.Contains(string(q.Body), "never heard") {
			t.Error("the model was asked it")
		}
	}
}

// goesOn: after an interrupt the partial answer is said, and the next run of the session holds what was asked.
func goesOn(t *testing.T, s *runs) {
	const long = "the first part of a long answer, and a second part that is never said as the person stops it before"
	const prompt = "partial #usage:600,6,0,60 #hold:partial #say:" + long
	p := s.once(nil).Begin(prompt)
	p.Until(thread.RunSession)
	if _, err := s.server.Wait(t.Context(), func(q model.Request) bool { return q.Reply.Hold == "partial" }); err != nil {
		t.Fatal(err)
	}
	p.Until(thread.RunText)
	p.Settle()
	p.Interrupt()
	if e := p.Wait(); e.Outcome != thread.RunCancelled {
		t.Errorf("%+v\n%s", e, p.Log())
	}
	s.server.Release("partial")
	said := p.Said(thread.RunText)
	if said == "" {
		t.Errorf("nothing was said\n%s", p.Log())
	}
	id := p.Until(thread.RunSession).Session
	completes(t, s.once(resuming(id)).Begin("after it #say:went on"))
	all := s.requests("after it #say:went on")
	if len(all) != 1 || !strings.Contains(strings.Join(all[0].Turn.Prompts(), "\n"), "partial #usage") {
		t.Fatalf("%d requests: %+v", len(all), all)
	}
	t.Logf("REAL: %s keeps of a cancelled answer: %q", s.cli.Name, all[0].Turn.Answers())
}

// withoutTools: a session goes on without tools, for a report.
func withoutTools(t *testing.T, s *runs) {
	id := completes(t, s.once(nil).Begin("work #bash:echo worked #say:half done")).Until(thread.RunSession).Session
	const prompt = "report #bash:touch no-tools.txt #say:reported"
	p := completes(t, s.once(func(spec *thread.LaunchSpec) {
		resuming(id)(spec)
		spec.Once.Caps.NoTools = true
	}).Begin(prompt))
	if s.there("no-tools.txt") {
		t.Errorf("it used a tool\n%s", p.Log())
	}
	if got := p.Said(thread.RunText); !strings.Contains(got, "reported") {
		t.Errorf("said %q\n%s", got, p.Log())
	}
	for _, q := range s.server.Requests() {
		if strings.Contains(q.Turn.Prompt, "report #bash") {
			t.Logf("REAL: %s without tools offers %d", s.cli.Name, len(q.Turn.Tools))
			if !strings.Contains(string(q.Body), "half done") {
				t.Error("the request lacks what was before")
			}
		}
	}
}
