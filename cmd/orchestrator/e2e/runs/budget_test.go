package runs

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread/budget"
	"orchestrator/thread/spending"
	"orchestrator/thread/work"
)

// spendVariable has the test's program ask a model again and again, until it is refused.
const spendVariable = "ORCHESTRATOR_TEST_SPENDS"

// spends asks the model that its last argument names until it is refused, and says why.
func spends() int {
	_, _ = io.ReadAll(os.Stdin) // the task
	body := fmt.Sprintf(`{"model":%q,"stream":false,"max_tokens":64000,"tools":[{"name":"Bash","description":"d","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":%q}]}`,
		os.Args[len(os.Args)-1], strings.Repeat("word ", 700))
	for range 500 {
		resp, err := http.Post(os.Getenv("ANTHROPIC_BASE_URL")+"/v1/messages", "application/json", strings.NewReader(body))
		if err != nil {
			fmt.Println(err)
			return 1
		}
		answer, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			fmt.Printf("%d %s\n", resp.StatusCode, answer)
			time.Sleep(20 * time.Second) // it is ended
			return 1
		}
	}
	return 0
}

// provider answers in the words of Anthropic, and adds up what it would charge for the answers that were taken.
type provider struct {
	mu    sync.Mutex
	n     int
	cut   int
	usd   float64
	all   chan struct{}
	price map[string]float64 // of a million tokens of input; output costs five times as much
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	p.mu.Lock()
	if p.n++; p.n == 8 {
		close(p.all)
	}
	out := []int{30, 120, 800, 60, 4000}[p.n%5]
	p.mu.Unlock()
	model := "nobody-knows"
	for name := range p.price {
		if bytes.Contains(body, []byte(name)) {
			model = name
		}
	}
	select {
	case <-p.all: // all eight are in flight before the first is answered
	case <-time.After(e2e.Patience):
	}
	time.Sleep(30 * time.Millisecond)
	cost := (1000*p.price[model] + float64(out)*5*p.price[model]) / 1e6
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.Context().Err() != nil {
		p.cut++
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, err := fmt.Fprintf(w, `{"id":"m","type":"message","role":"assistant","model":%q,"content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","usage":{"input_tokens":1000,"output_tokens":%d}}`, model, out)
	if err != nil {
		p.cut++
		return
	}
	p.usd += cost
}

// counted waits until what an execution has used is stored with its end.
func counted(r *e2e.Rig, name string) (x work.Execution) {
	r.T.Helper()
	x = ends(r, name)
	e2e.Await(r.T, "the usage of "+name, func() bool {
		x = show(r, name)
		return x.Counted == x.Attempt
	})
	return x
}

// TestBudgetOfEight: eight runs of three models spend a dollar between them. What is spent exceeds it by no more than
// answers were longer than usual; it is what the provider counts; and all eight end with the reason.
func TestBudgetOfEight(t *testing.T) {
	t.Parallel()
	p := &provider{all: make(chan struct{}), price: map[string]float64{"claude-sonnet-4-6": 3, "claude-haiku-4-5": 1, "claude-opus-4-5": 5}}
	up := httptest.NewServer(p)
	defer up.Close()
	r := e2e.NewRig(t)
	r.Env = append(r.Env, spendVariable+"=1", "ANTHROPIC_BASE_URL="+up.URL)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r.Ok("budget", "set", "group:night", "--usd", "1")
	r.Ok("queue", "limit", "all", "8")
	models := []string{"claude-sonnet-4-6", "claude-haiku-4-5", "claude-opus-4-5"}
	var names []string
	for i := range 8 {
		names = append(names, submit(r, "-a", "command", "--no-worktree", "--group", "night", "spend it", "--", self, models[i%3]))
	}
	sum := 0.0
	for _, name := range names {
		x := counted(r, name)
		sum += x.Usage.CostUSD
		if x.State != work.Failed || x.Failure.Code != work.CodeOverflow || !strings.Contains(x.Reason, "the budget of the group night ") {
			t.Errorf("%s is %s: %q, %+v", name, x.State, x.Reason, x.Failure)
		}
	}
	r.Ok("budget", "set", "group:night", "--usd", "0.5") // what is left of the dollar may be enough for a small request
	waits := submit(r, "-a", "command", "--no-worktree", "--group", "night", "wait", "--", "/bin/sh", "-c", "cat >/dev/null")
	var a budget.Account
	for range 100 {
		for _, b := range e2e.Get[budget.Report](r, "budget").Accounts {
			if b.Name == "group:night" {
				a = b
			}
		}
		if a.InFlight == 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	cost := e2e.Get[spending.Report](r, "cost").Today
	p.mu.Lock()
	t.Logf("%d requests, %d cut off: $%.4f by the budget (%d unknown), $%.4f by `cost`, $%.4f by the provider; over the dollar by $%.4f",
		p.n, p.cut, a.Spent.USD, a.Spent.Unknown, *cost.USD, p.usd, max(0, a.Spent.USD-1))
	// An answer that was cut off on its way to a run that was ended is one that the provider may count, at an unknown cost.
	if cut := 0.1*float64(a.Spent.Unknown) + 1e-6; math.Abs(*cost.USD-p.usd) > cut || math.Abs(sum-*cost.USD) > 1e-6 {
		t.Errorf("by `cost` $%v, by the runs $%v, by the provider $%v", *cost.USD, sum, p.usd)
	}
	if math.Abs(a.Spent.USD-p.usd) > 0.1*float64(a.Spent.Unknown)+1e-6 {
		t.Errorf("by the budget $%v (%d unknown), by the provider $%v", a.Spent.USD, a.Spent.Unknown, p.usd)
	}
	if over := 8 * 4000 * 25e-6; p.usd < 0.7 || a.Spent.USD > 1+over { // 4000 tokens of the dearest model, eight times
		t.Errorf("$%v of $1.00 is spent", a.Spent.USD)
	}
	p.mu.Unlock()
	if x := e2e.Get[work.Execution](r, "exec", "show", waits); x.State != work.Queued || !strings.Contains(x.Reason, "the budget of the group night is used up") {
		t.Errorf("%s is %s: %s", waits, x.State, x.Reason)
	}
	if said := r.Ok("budget"); !strings.Contains(said, "group:night") || !strings.Contains(said, "used up") {
		t.Errorf("budget says\n%s", said)
	}
	if said := r.Ok("events", "--kind", "budget"); !strings.Contains(said, "75 % used") {
		t.Errorf("events say\n%s", said)
	}
	r.Ok("stop", "--force") // what was spent, and the reason to wait, are still there
	if x := e2e.Get[work.Execution](r, "exec", "show", waits); x.State != work.Queued {
		t.Errorf("after a restart %s is %s: %s", waits, x.State, x.Reason)
	}
	r.Ok("budget", "set", "group:night", "--usd", "5")
	if x := ends(r, waits); x.State == work.Cancelled || x.State == work.Lost {
		t.Errorf("after it was raised: %s, %s", x.State, x.Reason)
	}

	odd := submit(r, "-a", "command", "--no-worktree", "--budget", "$1", "spend it", "--", self, "nobody-knows")
	if x := ends(r, odd); x.State != work.Failed || !strings.Contains(x.Reason, "the price of the model \"nobody-knows\" is unknown") {
		t.Errorf("a model without a price: %s, %s", x.State, x.Reason)
	}
	odd = submit(r, "-a", "command", "--no-worktree", "--budget", "40k", "spend it", "--", self, "nobody-knows")
	if x := counted(r, odd); x.State != work.Failed || !strings.Contains(x.Reason, "of 40k tokens") || x.Usage.Money() != "?" {
		t.Errorf("a model without a price, in tokens: %s, %s, %+v", x.State, x.Reason, x.Usage)
	}
	if said := r.Ok("exec", "show", odd); !strings.Contains(said, "?, ") {
		t.Errorf("exec show says\n%s", said)
	}
	if said := r.Ok("cost"); !strings.Contains(said, "+ ?") {
		t.Errorf("cost says\n%s", said)
	}
}
