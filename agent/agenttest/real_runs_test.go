package agenttest_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/agenttest/model"
	"orchestrator/thread"
)

// TestRealRuns drives every real CLI without a terminal against the scripted model.
func TestRealRuns(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			s := newRuns(t, cli)
			for _, c := range append([]runCase{
				{"answer", answers}, {"tool", usesTool}, {"edit", edits}, {"asking", refuses}, {"read-only", readOnly},
				{"resume", resumes}, {"interrupt", interrupts}, {"unknown session", unknownSession}, {"trouble", troubles},
				{"long prompt", longPrompt}, {"sub-agent", delegates}, {"repository", strangeRepository}, {"odd prompts", oddPrompts}, {"take-over", takenOver}, {"keeps nothing", keepsNothing},
			}, askingCases()...) {
				t.Run(c.name, func(t *testing.T) {
					if why := s.not[c.name]; why != "" {
						t.Skip("SKIPPED: " + why)
					}
					c.test(t, s.in(t))
				})
			}
		})
	}
}

// runCase is a row of the suite.
type runCase struct {
	name string
	test func(*testing.T, *runs)
}

// runs starts runs of one CLI.
type runs struct {
	*stage
	headless thread.Headless
	dir      string
	n        *int
	not      map[string]string // cases that do not hold for this CLI, and why
}

func newRuns(t *testing.T, cli clis.CLI) *runs {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	clis.Bin(t)
	dir := filepath.Join(root, "work")
	s := newStageWith(t, cli, []string{dir}, withoutShell)
	h, ok := s.agent.(thread.Headless)
	if !ok {
		t.Skip("SKIPPED: does not work without a terminal")
	}
	return &runs{stage: s, headless: h, dir: dir, n: new(int), not: unlike[cli.Name]}
}

// wide are models that take a prompt of 1 MB where the usual one does not.
var wide = map[string]string{"claude": "claude-sonnet-4-6[1m]"}

// unlike are the cases that do not hold for a CLI, and why.
var unlike = map[string]map[string]string{
	"codex":    {"sub-agent": "its sub-agents are started by tools of another shape"},
	"gemini":   {"sub-agent": "it prints nothing of its sub-agents"},
	"opencode": {"sub-agent": "it prints nothing of its sub-agents", "goes on": "it prints what it says when that is whole"},
}

// stops are the CLIs in which a refused call ends the turn, which therefore fails.
var stops = map[string]bool{"opencode": true}

// nowhere are ids of sessions that there are not, where they are no UUIDs.
var nowhere = map[string]string{"opencode": "ses_dd3421f0fffecB74N1q8IQgJeP"}

// insists are the CLIs that ask a provider again for minutes.
var insists = map[string]bool{"opencode": true}

// leaves are the CLIs whose commands go on, each in a session of its own, when a signal ends the CLI.
var leaves = map[string]bool{"gemini": true, "opencode": true}

// hidden are the statuses of the provider that a CLI keeps to itself.
var hidden = map[string][]int{"codex": {500}}

// in are the same for a subtest.
func (s *runs) in(t *testing.T) *runs {
	stage := *s.stage
	stage.t = t
	one := *s
	one.stage = &stage
	return &one
}

// once starts a process.
func (s *runs) once(edit func(*thread.LaunchSpec)) *agenttest.Piped {
	s.t.Helper()
	return agenttest.StartPiped(s.t, s.prepared(edit))
}

// dialogue is one of a person's that is asked.
func (s *runs) dialogue() thread.Dialogue {
	s.t.Helper()
	return s.prepared(s.asking).Dialogue
}

// prepared is what a process is started by.
func (s *runs) prepared(edit func(*thread.LaunchSpec)) thread.HeadlessLaunch {
	s.t.Helper()
	*s.n++
	spec := thread.LaunchSpec{
		Thread: thread.ID(fmt.Sprintf("%016x", *s.n)), Once: thread.Once{On: true}, Dir: s.dir, Env: s.env, Model: s.cli.Model,
		StateDir: filepath.Join(filepath.Dir(s.home), fmt.Sprintf("run-%d", *s.n)), Flags: thread.Flags{PermissionMode: s.cli.Mode},
		BaseURL: s.server.URL() + "/t/secret", HookURL: s.server.URL() + "/h/secret",
	}
	if edit != nil {
		edit(&spec)
	}
	h, err := s.headless.Headless(s.t.Context(), spec)
	if err != nil {
		s.t.Fatal(err)
	}
	return h
}

func resuming(session string) func(*thread.LaunchSpec) {
	return func(spec *thread.LaunchSpec) { spec.Session, spec.Resume = session, true }
}

// completes waits for a run that must complete.
func completes(t *testing.T, p *agenttest.Piped) *agenttest.Piped {
	t.Helper()
	if e := p.Wait(); e.Outcome != thread.RunCompleted {
		t.Errorf("%+v, exit code %d\n%s", e, p.Code, p.Log())
	}
	return p
}

// requests returns those of the main conversation with a prompt.
func (s *runs) requests(prompt string) (all []model.Request) {
	for _, q := range s.server.Requests() {
		if q.Turn.Wire != "" && q.Turn.Prompt == prompt && len(q.Turn.Tools) > 0 {
			all = append(all, q)
		}
	}
	return all
}

// sent is the usage that the model server sent for a prompt.
func (s *runs) sent(prompt string) (sum thread.Usage) {
	for _, q := range s.requests(prompt) {
		if q.Reply.Status == 0 {
			u := q.Reply.Usage
			sum = sum.Add(thread.Usage{Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output})
		}
	}
	return sum
}

func answers(t *testing.T, s *runs) {
	const prompt = "hello #usage:1200,30,0,9 #say:the answer"
	p := completes(t, s.once(nil).Begin(prompt))
	if got := p.Said(thread.RunText); got != "the answer" {
		t.Errorf("said %q", got)
	}
	if got := p.Until(thread.RunSession).Session; got == "" {
		t.Error("no session")
	}
	if got, want := p.Usage(), s.sent(prompt); got != want || want.Input != 1200 {
		t.Errorf("usage %+v, sent %+v", got, want)
	}
	if got := p.Said(thread.RunLine); got != "" {
		t.Errorf("lines that it does not know: %s", got)
	}
}

func usesTool(t *testing.T, s *runs) {
	const prompt = "look #usage:1000,20,0,7 #bash:expr 40 + 2 #usage:2000,40,0,8 #bash:exit 3 #usage:3000,60,0,9 #say:looked"
	p := completes(t, s.once(nil).Begin(prompt))
	call, result := p.Until(thread.RunTool), p.Until(thread.RunResult)
	if !strings.Contains(call.Text, "expr 40 + 2") || call.Tool == "" || call.Call == "" {
		t.Errorf("call %+v", call)
	}
	if !strings.Contains(result.Text, "42") || result.Call != call.Call || result.Failed {
		t.Errorf("result %+v", result)
	}
	failed := 0
	for _, e := range p.Events {
		if e.Kind == thread.RunResult && e.Failed {
			failed++
		}
	}
	if failed != 1 {
		t.Errorf("%d calls failed\n%s", failed, p.Log())
	}
	if got, want := p.Usage(), s.sent(prompt); got != want {
		t.Errorf("usage %+v, sent %+v", got, want)
	}
}

func edits(t *testing.T, s *runs) {
	completes(t, s.once(nil).Begin("write it #write:edited.txt=by a run #say:written"))
	if raw, err := os.ReadFile(filepath.Join(s.dir, "edited.txt")); err != nil || string(raw) != "by a run" {
		t.Errorf("%q, %v", raw, err)
	}
}

func refuses(t *testing.T, s *runs) {
	p := s.once(func(spec *thread.LaunchSpec) { spec.Flags.PermissionMode = s.cli.Asking }).Begin("careful " +
		"#escalate #bash:touch ../asked.txt #say:refused it")
	want := thread.RunCompleted
	if stops[s.cli.Name] {
		want = thread.RunFailed
	}
	if e := p.Wait(); e.Outcome != want || want == thread.RunFailed && !strings.Contains(e.Reason, "touch ../asked.txt") {
		t.Errorf("%+v\n%s", e, p.Log())
	}
	if got := p.Said(thread.RunRefused); got == "" {
		t.Errorf("nothing was refused\n%s", p.Log())
	}
	if _, err := os.Stat(filepath.Join(s.dir, "..", "asked.txt")); err == nil {
		t.Error("it was done nevertheless")
	}
	if got := p.Said(thread.RunText); want == thread.RunCompleted && !strings.Contains(got, "refused it") {
		t.Errorf("said %q", got)
	}
}

func readOnly(t *testing.T, s *runs) {
	only := func(spec *thread.LaunchSpec) { spec.Once.ReadOnly = true }
	s.allow()
	writer := completes(t, s.once(nil).Begin("a turn that may write #say:done")).Until(thread.RunSession).Session
	if err := os.WriteFile(filepath.Join(s.dir, "there.txt"), []byte("read me"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := completes(t, s.once(only).Begin("read it #read:"+filepath.Join(s.dir, "there.txt")+" #say:read"))
	given := "" // not every CLI prints what its tool has read
	for _, q := range s.server.Requests() {
		for _, o := range q.Turn.Outcomes {
			given += o.Output
		}
	}
	if !strings.Contains(given, "read me") {
		t.Errorf("the model was not given the file\n%s", p.Log())
	}
	id := ""
	completes(t, s.once(func(spec *thread.LaunchSpec) {
		only(spec)
		resuming(writer)(spec)
	}).Begin("after a writer #bash:touch ro-resumed #write:ro-also=x #say:tried"))
	for i, how := range []string{"#write:ro-tool.txt=x", "#bash:touch ro-shell.txt", "#bash:echo x > ro-redirect.txt"} {
		p := s.once(only).Begin(fmt.Sprintf("change it %d %s #say:tried", i, how))
		id = p.Until(thread.RunSession).Session
		if e := p.Wait(); e.Outcome != thread.RunCompleted {
			t.Errorf("%s: %+v", how, e)
		}
	}
	if left, err := filepath.Glob(filepath.Join(s.dir, "ro-*")); err != nil || len(left) > 0 {
		t.Errorf("written: %v, %v", left, err)
	}
	// It is no property of the session: the next run may write again.
	completes(t, s.once(resuming(id)).Begin("afterwards #write:after.txt=x #say:written"))
	if _, err := os.Stat(filepath.Join(s.dir, "after.txt")); err != nil {
		t.Error(err)
	}
}

func resumes(t *testing.T, s *runs) {
	id := completes(t, s.once(nil).Begin("first turn #say:first answer")).Until(thread.RunSession).Session
	p := completes(t, s.once(resuming(id)).Begin("second turn #usage:700,7,0,7 #say:second answer"))
	if got := p.Until(thread.RunSession).Session; got != id {
		t.Errorf("session %q after %q", got, id)
	}
	all := s.requests("second turn #usage:700,7,0,7 #say:second answer")
	if len(all) != 1 || !strings.Contains(strings.Join(all[0].Turn.Prompts(), "\n"), "first turn") ||
		!strings.Contains(strings.Join(all[0].Turn.Answers(), "\n"), "first answer") {
		t.Errorf("%d requests: %+v", len(all), all)
	}
	if got, want := p.Usage(), s.sent("second turn #usage:700,7,0,7 #say:second answer"); got != want {
		t.Errorf("usage %+v, sent %+v: of this run alone", got, want)
	}
}

func interrupts(t *testing.T, s *runs) {
	p := s.once(nil).Begin("long #usage:600,6,0,60 #hold:never #say:never said")
	p.Until(thread.RunSession) // it is asked by then
	if _, err := s.server.Wait(t.Context(), func(q model.Request) bool { return q.Reply.Hold == "never" }); err != nil {
		t.Fatal(err)
	}
	p.Settle()
	p.Interrupt()
	if e := p.Wait(); e.Outcome != thread.RunCancelled {
		t.Errorf("%+v\n%s", e, p.Log())
	}
	s.server.Release("never")
	p = s.once(nil).Begin("long tool #bash:tail -s 987 -f /dev/null #say:never said")
	for len(processesWith(t, "tail\x00-s\x00987\x00")) == 0 {
		p.Settle()
	}
	p.Interrupt()
	if e := p.Wait(); e.Outcome != thread.RunCancelled {
		t.Errorf("%+v\n%s", e, p.Log())
	}
	left := processesWith(t, "tail\x00-s\x00987\x00")
	if len(left) > 0 != leaves[s.cli.Name] {
		t.Errorf("its commands go on: %v", left)
	}
	for _, pid := range left { // a session of ours finds them by their environment
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Error(err)
		}
	}
}

// processesWith returns the processes with these arguments.
func processesWith(t *testing.T, args string) (pids []int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if raw, gone := os.ReadFile(path); err == nil && gone == nil && strings.Contains(string(raw), args) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func unknownSession(t *testing.T, s *runs) {
	id := cmp.Or(nowhere[s.cli.Name], "019a0000-1111-7222-8333-444444444444")
	p := s.once(resuming(id)).Begin("hello")
	if e := p.Wait(); e.Outcome != thread.RunFailed || !strings.Contains(e.Reason, id) {
		t.Errorf("%+v\n%s", e, p.Log())
	}
}

func troubles(t *testing.T, s *runs) {
	for _, c := range []struct {
		status int
		state  thread.State
	}{{401, thread.StateUnauthorised}, {429, thread.StateLimited}, {500, thread.StateUnavailable}} {
		if insists[s.cli.Name] && c.status != 401 {
			continue
		}
		p := s.once(nil).Begin(fmt.Sprintf("trouble #status:%dx99", c.status))
		e := p.Wait()
		if e.Outcome != thread.RunFailed || e.Reason == "" {
			t.Errorf("%d: %+v\n%s", c.status, e, p.Log())
		}
		known := e.Status == c.status || e.Status == 0 && slices.Contains(hidden[s.cli.Name], c.status)
		if e.State != c.state || !known {
			t.Errorf("%d: state %q, status %d, %s", c.status, e.State, e.Status, e.Reason)
		}
		if strings.Contains(p.Log(), "/t/secret") {
			t.Errorf("%d: the address is said:\n%s", c.status, p.Log())
		}
	}
}

func longPrompt(t *testing.T, s *runs) {
	prompt := "long " + strings.Repeat("lorem ipsum ", 1_000_000/12) + "#say:read all of it"
	completes(t, s.once(func(spec *thread.LaunchSpec) { spec.Model = cmp.Or(wide[s.cli.Name], spec.Model) }).Begin(prompt))
	whole := 0
	for _, q := range s.server.Requests() {
		if bytes.Contains(q.Body, []byte(strings.Repeat("lorem ipsum ", 1_000_000/12)+"#say:read all of it")) {
			whole++
		}
	}
	if whole == 0 {
		t.Error("the prompt did not reach the model whole")
	}
}

func oddPrompts(t *testing.T, s *runs) {
	for i, begin := range []string{"-p", "--help", "/nothing", "@there.txt", "!touch odd.txt", "# note", "$(touch odd.txt)", "\n\nbelow"} {
		prompt := fmt.Sprintf("%s is odd %d", begin, i)
		p := completes(t, s.once(nil).Begin(prompt))
		found := false
		for _, q := range s.server.Requests() {
			found = found || strings.Contains(strings.Join(q.Turn.Prompts(), "\n"), strings.TrimSpace(prompt))
		}
		if !found {
			t.Errorf("%q did not reach the model\n%s", prompt, p.Log())
		}
	}
	if _, err := os.Stat(filepath.Join(s.dir, "odd.txt")); err == nil {
		t.Error("a prompt was run as a command")
	}
}

// takenOver opens the session of a run in a terminal, and the session of the terminal in a run.
func takenOver(t *testing.T, s *runs) {
	id := completes(t, s.once(nil).Begin("run turn #say:run answer")).Until(thread.RunSession).Session
	*s.n++
	r := s.start(thread.ID(fmt.Sprintf("%016x", *s.n)), s.dir, id, true)
	q := r.ask("terminal turn #say:terminal answer")
	if !strings.Contains(strings.Join(q.Turn.Prompts(), "\n"), "run turn") || !strings.Contains(strings.Join(q.Turn.Answers(), "\n"), "run answer") {
		t.Errorf("in the terminal: %q %q", q.Turn.Prompts(), q.Turn.Answers())
	}
	r.keep("terminal answer")
	r.stop()
	completes(t, s.once(resuming(id)).Begin("back turn #say:back answer"))
	all := s.requests("back turn #say:back answer")
	if len(all) != 1 {
		t.Fatalf("%d requests", len(all))
	}
	prompts, answers := strings.Join(all[0].Turn.Prompts(), "\n"), strings.Join(all[0].Turn.Answers(), "\n")
	for _, turn := range []string{"run", "terminal"} {
		if !strings.Contains(prompts, turn+" turn") || !strings.Contains(answers, turn+" answer") {
			t.Errorf("the %s turn is missing: %q %q", turn, prompts, answers)
		}
	}
}

// delegates has a sub-agent work: the run ends when it has, and its usage counts.
func delegates(t *testing.T, s *runs) {
	p := completes(t, s.once(nil).Begin(delegating))
	sub := false
	for _, e := range p.Events {
		sub = sub || e.Kind == thread.RunResult && e.Sub != "" && strings.Contains(e.Text, "out-sub")
	}
	if !sub {
		t.Errorf("what the sub-agent does is not said\n%s", p.Log())
	}
	if got, want := p.Usage(), s.sent(delegating).Add(s.sent(delegated)); got != want {
		t.Errorf("usage %+v, sent %+v", got, want)
	}
	if got := len(s.requests(delegated)); got != 2 {
		t.Errorf("%d requests of the sub-agent", got)
	}
}

// keepsNothing: what a read-only run may is no property of its session, neither in the next run nor in a terminal, with
// the person's own permissions.
func keepsNothing(t *testing.T, s *runs) {
	if s.cli.Name != "codex" {
		t.Skip("SKIPPED: only Codex keeps permissions in its sessions")
	}
	own := func(spec *thread.LaunchSpec) { spec.Flags.PermissionMode = "" }
	id := completes(t, s.once(func(spec *thread.LaunchSpec) {
		own(spec)
		spec.Once.ReadOnly = true
	}).Begin("reading turn #say:reading answer")).Until(thread.RunSession).Session
	run := func(file string) {
		completes(t, s.once(func(spec *thread.LaunchSpec) {
			own(spec)
			resuming(id)(spec)
		}).Begin("writing turn #write:"+file+"=x #say:wrote"))
	}
	run("by-run.txt")
	*s.n++
	r := s.startAs("", thread.ID(fmt.Sprintf("%016x", *s.n)), s.dir, id, true)
	q := r.ask("terminal turn #write:by-terminal.txt=x #say:terminal answer")
	if !strings.Contains(strings.Join(q.Turn.Answers(), "\n"), "reading answer") {
		t.Errorf("in the terminal: %q", q.Turn.Answers())
	}
	r.keep("terminal answer")
	r.stop()
	run("by-run-again.txt")
	for _, name := range []string{"by-run.txt", "by-terminal.txt", "by-run-again.txt"} {
		if _, err := os.Stat(filepath.Join(s.dir, name)); err != nil {
			t.Error(err)
		}
	}
}
