package gateway_test

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/contextmgr/gateway"
	"orchestrator/thread"
	"orchestrator/thread/budget"
)

// purse has a thread's requests paid for by one scope.
type purse struct {
	*budget.Books
	payer budget.Payer
	mu    sync.Mutex
	told  []string
}

func newPurse(kind budget.Kind, limit thread.Budget, before budget.Spent) *purse {
	p := &purse{payer: budget.Payer{Scope: budget.Scope{Kind: kind, ID: "t1"}, Name: "t1", Limit: limit}}
	p.Books = budget.New(func(budget.Scope) (budget.Spent, error) { return before, nil }, func(c budget.Crossing) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.told = append(p.told, c.Says())
	})
	return p
}

func (p *purse) Reserve(ctx context.Context, _ thread.ID, ask budget.Ask) (*budget.Hold, error) {
	return p.Books.Reserve(ctx, func() ([]budget.Payer, error) { return []budget.Payer{p.payer}, nil }, ask)
}

func (p *purse) Stops(thread.ID) error {
	a, stops, err := p.Books.Stops([]budget.Payer{p.payer})
	if stops {
		return thread.Kindf(thread.ErrRefused, "%s", budget.UsedUp(a))
	}
	return err
}

func (p *purse) Forget(thread.ID) {}

// account returns what is known once nothing is in flight: what is held back is settled after the observer has heard.
func (p *purse) account(t *testing.T) (a budget.Account) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if a, _ = p.Account(p.payer); a.InFlight == 0 {
			return a
		}
	}
	t.Fatalf("still held back: %+v", a)
	return a
}

func (p *purse) with(o *gateway.Options) { o.Budget = p }

func dollars(n float64) thread.Budget { return thread.Budget{USD: &n} }
func tokens(n int64) thread.Budget    { return thread.Budget{Tokens: &n} }

func TestBudgetRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		kind   budget.Kind
		limit  thread.Budget
		before budget.Spent
		model  string
		header []string
		passes int // requests before the first refusal
		says   string
	}{
		"no limit":        {budget.Thread, thread.Budget{}, budget.Spent{}, "", nil, 3, ""},
		"room":            {budget.Thread, dollars(5), budget.Spent{}, "", nil, 3, ""},
		"used up before":  {budget.Thread, dollars(5), budget.Spent{Amount: budget.Amount{USD: 5.01}}, "", nil, 0, "$5.01 of $5.00. Raise it with `orchestrator budget set t1 --usd N`"},
		"used up by one":  {budget.Thread, dollars(0.032), budget.Spent{}, "", nil, 2, "and the next request would use about"},
		"tokens":          {budget.Thread, tokens(12_300), budget.Spent{}, "", nil, 1, "of 12k tokens"},
		"nothing allowed": {budget.Execution, dollars(0), budget.Spent{}, "", nil, 0, "$0.00 of $0.00"},
		"no price, a run": {budget.Execution, dollars(5), budget.Spent{}, "nobody-knows", nil, 0, "the price of the model \"nobody-knows\" is unknown"},
		"no price":        {budget.Thread, dollars(5), budget.Spent{}, "nobody-knows", nil, 3, ""},
		"a login, a run":  {budget.Execution, dollars(5), budget.Spent{}, "", []string{"Anthropic-Beta", "oauth-2025-04-20"}, 0, "a subscription login pays"},
		"a login":         {budget.Thread, dollars(5), budget.Spent{}, "", []string{"Anthropic-Beta", "oauth-2025-04-20"}, 3, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPurse(tc.kind, tc.limit, tc.before)
			sent := 0
			w := open(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
				sent++
				w.Header().Set("Content-Type", "text/event-stream")
				for _, e := range answerEvents("ok") {
					if tc.model != "" {
						e = strings.ReplaceAll(e, "claude-sonnet-4-6", tc.model)
					}
					_, _ = io.WriteString(w, e)
				}
			}), p.with)
			body := request("x")
			if tc.model != "" {
				body = strings.Replace(body, "claude-sonnet-4-6", tc.model, 1)
			}
			for i := range 3 {
				resp, answer, err := post(t, w.base+"/v1/messages", body, tc.header...)
				if err != nil {
					t.Fatal(err)
				}
				w.obs.wait(t, i+1)
				p.account(t)
				if i < tc.passes {
					if resp.StatusCode != 200 {
						t.Fatalf("request %d: %d %s", i, resp.StatusCode, answer)
					}
					continue
				}
				kind, message := errorOf(t, answer)
				if resp.StatusCode != http.StatusPaymentRequired || kind != "billing_error" ||
					!strings.Contains(message, tc.says) || resp.Header.Get("Retry-After") != "" {
					t.Errorf("request %d: %d %s", i, resp.StatusCode, answer)
				}
			}
			if sent != tc.passes {
				t.Errorf("%d requests were sent, want %d", sent, tc.passes)
			}
			resp, answer, err := post(t, w.base+"/v1/messages/count_tokens", body)
			if err != nil || resp.StatusCode != 200 {
				t.Errorf("counting tokens: %v, %v %s", resp, err, answer)
			}
			a := p.account(t)
			if a.InFlight != 0 || a.Reserved != (budget.Amount{}) {
				t.Errorf("still held back: %+v", a)
			}
			unknown := tc.model != "" || tc.header != nil
			if unknown && (a.Spent.Unknown != int64(tc.passes) || a.Spent.USD != 0) || !unknown && tc.passes > 0 && (a.Spent.Unknown != 0 || a.Spent.USD <= 0) {
				t.Errorf("spent %+v", a.Spent)
			}
		})
	}
}

// In each format an agent is told in its own words, and a request that no codec reads is refused too once nothing is left.
func TestBudgetSaysWhyInEachFormat(t *testing.T) {
	for name := range paths {
		t.Run(name, func(t *testing.T) {
			p := newPurse(budget.Project, tokens(0), budget.Spent{})
			w := open(t, serve(t, func(http.ResponseWriter, *http.Request) { t.Error("it was sent") }), p.with)
			resp, body, err := post(t, w.base+paths[name], request("x"))
			if err != nil || resp.StatusCode != http.StatusPaymentRequired {
				t.Fatalf("%v, %v", resp, err)
			}
			if _, message := errorOf(t, body); !strings.Contains(message, "the budget of the project is used up: 0 of 0 tokens") {
				t.Errorf("told %s", body)
			}
			if resp, _, err := post(t, w.base+"/v9/unheard-of", "x"); err != nil || resp.StatusCode != http.StatusPaymentRequired {
				t.Errorf("in an unknown format: %v, %v", resp, err)
			}
		})
	}
}

// What no codec reads uses a budget up too, as much as is known by its size; it is free without one, and if it is not
// answered.
func TestBudgetCountsWhatIsNotRead(t *testing.T) {
	for name, tc := range map[string]struct {
		limit  thread.Budget
		status int
		passes int
	}{
		"a limit":      {tokens(4_500), 200, 2},
		"no limit":     {thread.Budget{}, 200, 5},
		"not answered": {tokens(4_500), 404, 5},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPurse(budget.Thread, tc.limit, budget.Spent{})
			n := 0
			w := open(t, serve(t, func(w http.ResponseWriter, _ *http.Request) { n++; w.WriteHeader(tc.status) }), p.with)
			for range 5 {
				_, _, _ = post(t, w.base+"/v1/messages/batches", strings.Repeat("x", 4500))
				p.account(t)
			}
			a := p.account(t)
			if n != tc.passes || (a.Spent.Unknown == 2 && a.Spent.Tokens == 4000) != (tc.passes == 2) {
				t.Errorf("%d passed; %+v", n, a)
			}
			resp, err := client(t).Get(w.base + "/v1/models")
			if err != nil || (resp.StatusCode == http.StatusPaymentRequired) {
				t.Errorf("a list of models: %v, %v", resp, err)
			}
		})
	}
}

// What a provider answers instead of an answer costs nothing; what is cut off, or has no usage that can be, costs an
// unknown amount.
func TestBudgetSettles(t *testing.T) {
	usage := func(in, out string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"id":"m","type":"message","role":"assistant","model":"claude-sonnet-4-6","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","usage":{"input_tokens":%s,"output_tokens":%s}}`, in, out)
		}
	}
	for name, tc := range map[string]struct {
		answer  func(w http.ResponseWriter)
		answers int64
		unknown int64
	}{
		"an answer": {usage("10", "5"), 1, 0},
		"none":      {usage("0", "0"), 1, 1},
		"negative":  {usage("-10", "5"), 1, 1},
		"absurd":    {usage("1000000000000000000", "5"), 1, 1},
		"refused":   {func(w http.ResponseWriter) { w.WriteHeader(429) }, 0, 0},
		"broken":    {func(w http.ResponseWriter) { w.WriteHeader(500) }, 0, 0},
		"a page":    {func(w http.ResponseWriter) { _, _ = w.Write([]byte("<html>")) }, 0, 0},
		"broken off": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, answerEvents("ok")[0])
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPurse(budget.Thread, thread.Budget{}, budget.Spent{})
			w := open(t, serve(t, func(w http.ResponseWriter, _ *http.Request) { tc.answer(w) }), p.with)
			_, _, _ = post(t, w.base+"/v1/messages", request("x"))
			e := w.obs.wait(t, 1)[0]
			a := p.account(t)
			if a.Spent.Answers != tc.answers || a.Spent.Unknown != tc.unknown || e.Usage.Unknown != tc.unknown || a.InFlight != 0 {
				t.Errorf("%+v; told %+v", a, e.Usage)
			}
			if tc.unknown > 0 && a.Spent.Tokens == 0 {
				t.Error("what is unknown is counted as nothing")
			}
			if e.Usage.Input < 0 || e.Usage.Context() > 1e9 {
				t.Errorf("told %+v", e.Usage)
			}
		})
	}
}

// Whatever panics where an answer is reported, what was held back for it is given back, and counted as unknown.
func TestBudgetSettlesAfterAPanic(t *testing.T) {
	p := newPurse(budget.Thread, tokens(1e6), budget.Spent{})
	w := open(t, serve(t, func(w http.ResponseWriter, _ *http.Request) { streamAnswer(w, "ok") }), p.with)
	w.obs.onEnd = func(thread.Exchange) { panic("no") }
	if _, _, err := post(t, w.base+"/v1/messages", request("x")); err != nil {
		t.Fatal(err)
	}
	if a := p.account(t); a.Spent.Answers != 1 || a.Spent.Unknown != 1 || a.Spent.Tokens == 0 {
		t.Errorf("%+v", a)
	}
}

// Eight threads at once with a dollar between them: what is spent exceeds it by no more than answers were longer than
// usual, and the sum is what the provider counts.
func TestBudgetOfEightAtOnce(t *testing.T) {
	var mu sync.Mutex
	var sum float64
	var n int
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		n++
		out := []int{40, 90, 700, 4000}[n%4]
		mu.Unlock()
		time.Sleep(time.Millisecond) // so that several are in flight
		model, in := "claude-sonnet-4-6", 3.0
		if strings.Contains(string(body), "claude-haiku-4-5") {
			model, in = "claude-haiku-4-5", 1.0
		} else if strings.Contains(string(body), "claude-opus-4-5") {
			model, in = "claude-opus-4-5", 5.0
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":"m","type":"message","role":"assistant","model":"%s","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","usage":{"input_tokens":1000,"output_tokens":%d}}`, model, out)
		mu.Lock()
		defer mu.Unlock()
		sum += (1000*in + float64(out)*in*5) / 1e6
	})
	p := newPurse(budget.Group, dollars(1), budget.Spent{})
	w := open(t, up, p.with)
	models := []string{"claude-sonnet-4-6", "claude-haiku-4-5", "claude-opus-4-5"}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			base, _, err := w.Route(thread.ID(fmt.Sprint("t", i)), thread.RouteSpec{Agent: "claude", Upstreams: map[string]string{"": up}})
			if err != nil {
				t.Error(err)
				return
			}
			body := strings.Replace(request(strings.Repeat("word ", 600)), "claude-sonnet-4-6", models[i%3], 1)
			for {
				resp, _, err := post(t, base+"/v1/messages", body)
				if err != nil {
					t.Error(err)
					return
				}
				if resp.StatusCode == http.StatusPaymentRequired {
					return
				}
			}
		})
	}
	all.Wait()
	w.obs.wait(t, n)
	a := p.account(t)
	t.Logf("%d requests, $%.4f of $1.00 spent by the budget, $%.4f by the provider; over by $%.4f", n, a.Spent.USD, sum, max(0, a.Spent.USD-1))
	if math.Abs(a.Spent.USD-sum) > 1e-6 {
		t.Errorf("%v is spent, the provider says %v", a.Spent.USD, sum)
	}
	if a.Spent.USD < 0.8 || a.Spent.USD > 1+8*0.1 { // the longest answer of the dearest model costs 10 cents
		t.Errorf("%+v", a.Spent)
	}
}
