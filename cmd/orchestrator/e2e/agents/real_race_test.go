package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/agenttest/model"
	"orchestrator/agent/scripted"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

// TestRealAnswersRaceThePerson: while a question is answered from outside, the person answers it in its terminal at any
// moment, or it is answered elsewhere, so that another dialog takes its place within 50 ms. No key of ours reaches that
// one, nor does one that the person typed at the first; where nothing happens, the answer arrives. RACES asks for more
// rounds.
func TestRealAnswersRaceThePerson(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			r := newRaces(t, cli)
			for range e2e.FromEnv(t, "RACES", 12) {
				r.round()
			}
			r.finish()
		})
	}
}

// series is the model's part: it asks for one command after the other, each with a number, some two at a time.
type series struct {
	mark  string // what makes this CLI ask
	hooks bool   // its hooks answer

	mu   sync.Mutex // guards the rest
	next int
}

// odd is what makes a command read otherwise in its dialog than in a hook: then keys answer it, and no hook does.
func (s *series) odd(n int) string {
	if s.hooks && n%2 == 0 {
		return " # \u202e"
	}
	return ""
}

// perPrompt is after how many commands the model has done what a prompt asks.
const perPrompt = 24

func (s *series) script(t model.Turn) scripted.Reply {
	if t.Side || !strings.Contains(t.Prompt, "race on") {
		return model.Markers(t)
	}
	if t.Round >= perPrompt {
		return scripted.Reply{Text: "that is enough."}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	time.Sleep(time.Duration(rand.IntN(50)) * time.Millisecond)
	var calls []scripted.Call
	for range 1 + rand.IntN(2) {
		calls = append(calls, t.Shell(fmt.Sprintf("touch %d.txt", s.next)+s.odd(s.next), s.mark != ""))
		s.next++
	}
	return scripted.Reply{Calls: calls}
}

// asked is how many commands it has asked for.
func (s *series) asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next
}

// races is one agent that asks again and again, and what became of the answers.
type races struct {
	*realRig
	client *client.Client
	name   string
	pane   *client.Terminal
	port   string // of OpenCode's own server
	series *series
	seen   map[int]bool // the numbers that were asked about
	last   int          // the newest of them

	late    bool    // what the person typed last was for the next question
	denied  []round // by us
	allowed []int   // numbers, by whomever
	slowest time.Duration
	keys    int // how many were answered by keys

	rounds, person, elsewhere, refused, quiet, delivered, wrong int
}

// password is that of OpenCode's own server.
const password = "dummy"

func newRaces(t *testing.T, cli clis.CLI) *races {
	cli.Mode = askingModes[cli.Name].mode
	s := &series{mark: askingModes[cli.Name].mark, hooks: cli.Name == "claude"}
	r := &races{realRig: newScripted(t, cli, s.script), series: s, seen: map[int]bool{}, last: -1}
	r.Env = append(r.Env, `OPENCODE_PERMISSION={"bash":"ask"}`, "OPENCODE_SERVER_PASSWORD="+password)
	args := []string{"new", "-a", cli.Name, "-m", cli.Model, "raced"}
	if cli.Mode != "" {
		args = append(args, "--permission-mode", cli.Mode)
	}
	switch cli.Name {
	case "claude":
		r.setHook()
	case "opencode":
		r.port = freePort(t)
		args = append(args, "--", "--port", r.port)
	}
	r.name = r.Ok(args...)
	r.client = client.NewBelow(r.Claimed().Dial, "")
	t.Cleanup(r.client.Close)
	pane, err := r.client.Attach(t.Context(), r.Status(r.name).ID, 100, 36)
	if err != nil {
		t.Fatal(err)
	}
	r.pane = pane
	go func() {
		for {
			if _, err := pane.Read(t.Context()); err != nil {
				return
			}
		}
	}()
	return r
}

func freePort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// setHook gives the person of Claude Code a hook of their own that may decide, and is told by a pipe with the command's
// number in its name.
func (r *races) setHook() {
	hook := "sh -c 'n=$(sed -n \"s/.*touch \\([0-9]*\\)\\.txt.*/\\1/p\"); mkfifo \"$HOME/hook-$n\" && cat \"$HOME/hook-$n\"'"
	entry := map[string]any{"hooks": []any{map[string]any{"type": "command", "command": hook, "timeout": 600}}}
	settings, err := json.Marshal(map[string]any{
		"skipDangerousModePermissionPrompt": true, "hooks": map[string]any{"PermissionRequest": []any{entry}},
	})
	if err != nil {
		r.T.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.Home, ".claude", "settings.json"), settings, 0o600); err != nil {
		r.T.Fatal(err)
	}
}

// hooked writes what a waiting hook decides; false if it does not wait.
func (r *races) hooked(n int, decision string) bool {
	name := filepath.Join(r.Home, fmt.Sprintf("hook-%d", n))
	f, err := os.OpenFile(name, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	if decision != "" {
		_, err = f.WriteString(`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"` + decision + `"}}}`)
	}
	return err == nil
}

// state is what the thread does now.
func (r *races) state() thread.StateReport {
	list, err := api.List.Do(r.T.Context(), r.client, api.None{})
	if err != nil {
		r.T.Fatal(err)
	}
	for _, s := range list {
		if s.Name == r.name {
			return s.State
		}
	}
	r.T.Fatal("the thread is gone")
	return thread.StateReport{}
}

// number is the number in a question, or -1.
func number(q *thread.Question) int {
	about, is := strings.CutPrefix(q.About, "touch ")
	digits, _, text := strings.Cut(about, ".txt")
	n, err := strconv.Atoi(digits)
	if !is || !text || err != nil {
		return -1
	}
	return n
}

// asked waits for the next question, and asks the model for more of them where it has done what it was asked.
func (r *races) asked() *thread.Question {
	r.T.Helper()
	begin, said := time.Now(), time.Time{}
	for end := time.Now().Add(r.Patience); ; time.Sleep(10 * time.Millisecond) {
		state := r.state()
		if q := state.Question; q != nil && len(q.Choices) > 0 {
			if n := number(q); n >= 0 && (!r.seen[n] || n == r.last && time.Since(begin) > 5*time.Second) { // one that is gone is shown for a moment
				r.untouched(n)
				return q
			}
		}
		if (state.State == thread.StateIdle || state.State == thread.StateDone) && time.Since(said) > 20*time.Second {
			said = time.Now()
			if _, err := api.Ask.Do(r.T.Context(), r.client, api.AskRequest{Thread: r.name, Text: "race on " + strconv.Itoa(r.last) + "."}); err != nil {
				r.T.Fatal(err)
			}
		}
		if time.Now().After(end) {
			r.T.Fatalf("no question after number %d: %+v", r.last, state)
		}
	}
}

// untouched records that a number is asked about now. None that was not asked about may have run: nobody has looked at
// it. Some ask about two at a time in any order.
func (r *races) untouched(n int) {
	r.T.Helper()
	for i := range r.series.asked() {
		if r.seen[i] || !r.ran(i) {
			continue
		}
		r.seen[i] = true
		if !r.late { // else the person was it
			r.wrong++
			r.T.Errorf("number %d ran, and nobody had looked at it; it asks about %d", i, n)
		}
	}
	r.seen[n], r.last, r.late = true, n, false
}

func (r *races) ran(n int) bool {
	_, err := os.Stat(filepath.Join(r.Project, strconv.Itoa(n)+".txt"))
	return err == nil
}

// stepsIn returns how somebody else answers, of which a CLI has one or two.
func (r *races) stepsIn() (who *int, do func(n int) error) {
	switch {
	case r.cli.Name == "claude" && rand.IntN(2) == 0:
		return &r.elsewhere, func(n int) error {
			for end := time.Now().Add(time.Second); !r.hooked(n, "allow"); time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					return errors.New("no hook waits")
				}
			}
			return nil
		}
	case r.cli.Name == "opencode" && rand.IntN(2) == 0:
		return &r.elsewhere, r.replies
	default:
		return &r.person, func(int) error { return r.pane.Write(r.T.Context(), []byte("\r")) }
	}
}

// replies answers by OpenCode's own server, as another client of it does.
func (r *races) replies(n int) error {
	at := "http://127.0.0.1:" + r.port + "/permission"
	call := func(method, at, body string, into any) error {
		req, err := http.NewRequestWithContext(r.T.Context(), method, at, strings.NewReader(body))
		if err != nil {
			return err
		}
		req.SetBasicAuth("opencode", password)
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		if into == nil {
			return nil // it may be answered by now
		}
		return json.NewDecoder(res.Body).Decode(into)
	}
	var open []struct {
		ID       string
		Patterns []string
	}
	if err := call(http.MethodGet, at, "", &open); err != nil {
		return err
	}
	for _, one := range open {
		if slices.Contains(one.Patterns, fmt.Sprintf("touch %d.txt", n)) {
			return call(http.MethodPost, at+"/"+one.ID+"/reply", `{"reply":"once"}`, nil)
		}
	}
	return nil
}

// round is one question, and who else answers it.
type round struct {
	n             int // the number in it
	means         thread.Meaning
	who           *int // the count of those who step in
	at            time.Time
	called, ended time.Time
	err           error
}

func (o round) String() string {
	of := func(t time.Time) time.Duration { return t.Sub(o.called).Round(time.Millisecond) }
	return fmt.Sprintf("number %d, %s, which took %v (%v); somebody else after %v", o.n, o.means, of(o.ended), o.err, of(o.at))
}

// round answers one question, while somebody else steps in or not.
func (r *races) round() {
	r.T.Helper()
	q := r.asked()
	o := round{n: r.last, means: thread.Approve}
	if rand.IntN(6) == 0 {
		o.means = thread.Deny
	}
	var steps func(n int) error
	if rand.IntN(3) > 0 {
		o.who, steps = r.stepsIn()
	}
	ended, stepped := make(chan struct{}), make(chan struct{})
	typed := r.cli.Name != "claude" || r.series.odd(o.n) != ""
	when := time.After(time.Duration(rand.IntN(map[bool]int{true: 1500, false: 450}[typed])) * time.Millisecond)
	go func() {
		defer close(stepped)
		select {
		case <-ended:
		case <-when:
			if steps == nil {
				return
			}
			o.at = time.Now()
			if err := steps(o.n); err != nil {
				r.T.Errorf("%v: %v", o, err)
			}
		}
	}()
	time.Sleep(time.Duration(rand.IntN(300)) * time.Millisecond) // the other may be first
	r.keys += map[bool]int{true: 1}[typed]
	o.called = time.Now()
	_, o.err = api.Answer.Do(r.T.Context(), r.client, api.AnswerRequest{
		Thread: r.name, AnswerRequest: thread.AnswerRequest{Question: q.ID, Means: o.means},
	})
	o.ended = time.Now()
	close(ended)
	<-stepped
	if !o.at.IsZero() {
		r.T.Log(o)
	}
	r.judge(o)
	r.hooked(o.n, "") // it waits no longer
}

// judge checks what became of a command. What became of the next ones is seen when the next question is asked.
func (r *races) judge(o round) {
	r.T.Helper()
	r.rounds++
	quiet := o.at.IsZero()
	switch {
	case quiet:
		r.quiet++
	default:
		*o.who++
		r.late = o.at.After(o.ended) // then it was meant for the next question
	}
	switch {
	case o.err == nil && quiet:
		r.delivered++
		r.slowest = max(r.slowest, o.ended.Sub(o.called))
	case quiet:
		r.T.Logf("%v: not delivered", o)
		r.seen[o.n] = false // it is asked about again
		return
	case o.err != nil:
		r.refused++
		if !errors.Is(o.err, thread.ErrRefused) {
			r.T.Log(o)
		}
	}
	if o.err == nil && o.means == thread.Deny {
		r.denied = append(r.denied, o)
		return
	}
	r.allowed = append(r.allowed, o.n)
}

// finish looks once more, and reports.
func (r *races) finish() {
	r.T.Helper()
	r.asked() // whatever a late key answered has run now
	overtaken := 0
	for _, o := range r.denied {
		switch {
		case !r.ran(o.n):
		case !o.at.IsZero(): // the other one answered first, and nothing showed that in time
			overtaken++
			r.T.Logf("%v: it ran", o)
		default:
			r.wrong++
			r.T.Errorf("%v: it ran", o)
		}
	}
	for _, n := range r.allowed {
		if !r.ran(n) && r.cli.Name != "gemini" { // which runs none of two if one is denied
			r.wrong++
			r.T.Errorf("number %d was approved, and it did not run", n)
		}
	}
	r.T.Logf("%s: %d raced by the person, %d answered elsewhere, %d of them refused; %d wrong; %d of %d arrived where nobody stepped in, the slowest after %v; %d denials, %d of them overtaken; %d of %d by keys",
		r.cli.Name, r.person, r.elsewhere, r.refused, r.wrong, r.delivered, r.quiet, r.slowest.Round(time.Millisecond), len(r.denied), overtaken, r.keys, r.rounds)
	if r.delivered*100 < r.quiet*95 {
		r.T.Error("too few answers arrive")
	}
}
