package masking_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/summaries"
	"orchestrator/contextmgr/summary"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// pen writes summaries, and keeps what it was given.
type pen struct {
	mu    sync.Mutex
	got   []summary.Draft
	text  string
	usd   float64
	err   error
	until chan struct{} // it writes when this is closed, or ctx ends
}

func (p *pen) Write(ctx context.Context, d summary.Draft) (summary.Written, error) {
	p.mu.Lock()
	p.got = append(p.got, d)
	p.mu.Unlock()
	if p.until != nil {
		select {
		case <-p.until:
		case <-ctx.Done():
			return summary.Written{}, ctx.Err()
		}
	}
	return summary.Written{Text: p.text, Source: "the pen", CostUSD: p.usd}, p.err
}

func (p *pen) drafts() []summary.Draft {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.got
}

const honest = "## Goal\nto go on with file1.go\n## Asked for\nprompts\n## Decisions\nnone\n## Files\nfile1.go\n## Facts\nnone\n" +
	"## Open points\nnone\n"

// penned is a conversation at about 55 %, of which a model is to write summaries.
func penned(t *testing.T, f format, p *pen) *world {
	t.Helper()
	w := open(t, f, policy.ModeSafe)
	w.summaries = summaries.Settings{By: thread.ByModel, Model: p, MostUSD: 5}
	w.turns(11)
	if len(p.drafts()) > 0 {
		t.Fatal("a summary is written of a small context")
	}
	return w
}

// TestModelWrites: the request for a summary begins with what was sent last, and a summary that names what is not there
// is not used.
func TestModelWrites(t *testing.T) {
	for _, f := range some(t) {
		t.Run(f.codec.Wire(), func(t *testing.T) {
			p := &pen{text: honest, usd: 0.25}
			w := penned(t, f, p)
			sent := ""
			for n := 0; len(p.drafts()) == 0 && n < 5; n++ {
				sent = w.turns(1)
			}
			drafts := p.drafts()
			if len(drafts) == 0 {
				t.Fatalf("no summary is written: %q", w.notices)
			}
			d := drafts[len(drafts)-1]
			body := d.Request("the question")
			scan, err := f.codec.Scan(wire.Call{Path: f.path, Body: body}, nil)
			if err != nil || scan.Request.Prompt != "the question" || !strings.HasPrefix(string(body), w.listUpTo(sent)) {
				t.Errorf("asked with a request that is not the last one with a prompt behind it: %v, %q", err, scan.Request.Prompt)
			}
			if strings.Contains(d.Replaced, d.Until) || !strings.Contains(d.Replaced, "go on with 0") || d.Thread != "t1" {
				t.Errorf("until %.60q of %d bytes", d.Until, len(d.Replaced))
			}
			w.ends = false
			if got := w.send("t1"); !strings.Contains(got, "written by the pen") || !strings.Contains(got, "to go on with file1.go") {
				t.Errorf("the summary is not sent; told %q", w.notices)
			}
			if last := w.saved[len(w.saved)-1]; last > -0.25 || last < -0.4 {
				t.Errorf("the first request with it costs $%.2f: what writing cost $0.25, and the cache", -last)
			}
			if n := strings.Count(strings.Join(w.notices, "\n"), "writing it cost $0.25"); n != len(drafts) {
				t.Errorf("told %d times what %d summaries cost: %q", n, len(drafts), w.notices)
			}
			again := w.send("t1")
			w.restart()
			if w.send("t1") != again {
				t.Error("after a restart another request is sent")
			}
			for _, saved := range w.saved[len(w.saved)-2:] {
				if saved < 0 {
					t.Errorf("the summary costs $%v again", -saved)
				}
			}
			for n := 0; len(p.drafts()) < 2 && n < 12; n++ {
				w.turns(1)
			}
			d = p.drafts()[len(p.drafts())-1]
			scan, err = f.codec.Scan(wire.Call{Path: f.path, Body: d.Request("again")}, nil)
			if err != nil || scan.Request.Prompt != "again" || len(p.drafts()) < 2 || !summarised(string(d.Request("again"))) {
				t.Errorf("the request for the next summary: %v, %d written", err, len(p.drafts()))
			}
		})
	}
}

// listUpTo returns a body up to the end of its list of items.
func (w *world) listUpTo(body string) string {
	w.Helper()
	scan, err := w.codec.Scan(wire.Call{Path: w.format.path, Body: []byte(body)}, nil)
	if err != nil {
		w.Fatal(err)
	}
	return body[:scan.List.End]
}

// TestLiesAreRefused: what a model invents, or does not say, never stands in a conversation, and it is not asked again
// and again.
func TestLiesAreRefused(t *testing.T) {
	for name, p := range map[string]*pen{
		"lies":  {text: honest + "see a/b.go, c/d.go and e_f()\n"},
		"empty": {text: ""},
		"short": {text: "all is well"},
		"long":  {text: honest + strings.Repeat("word ", 100_000)},
		"fails": {err: errors.New("the provider is on fire")},
	} {
		w := penned(t, formats()[0], p)
		if summarised(w.turns(8)) {
			t.Errorf("%s: a summary is sent", name)
		}
		if n := len(p.drafts()); n != 2 {
			t.Errorf("%s: asked %d times", name, n)
		}
		if n := strings.Count(strings.Join(w.notices, "\n"), "not replaced by a summary"); n != 1 {
			t.Errorf("%s: told %d times: %q", name, n, w.notices)
		}
		p.text, p.err = honest, nil
		if err := w.Summarise(t.Context(), "t1", "default"); err != nil || !summarised(w.send("t1")) {
			t.Errorf("%s: an honest one by hand: %v", name, err)
		}
	}
}

// TestConsent: with a subscription login the model is asked only if people have allowed that.
func TestConsent(t *testing.T) {
	p := &pen{text: honest}
	w := penned(t, formats()[0], p)
	w.oauth = true
	mode := thread.MaskSafe
	if err := w.Change("t1", thread.ContextChange{Mode: &mode}); err != nil {
		t.Fatal(err)
	}
	if w.turns(4); len(p.drafts()) > 0 || strings.Contains(strings.Join(w.notices, "\n"), "summary") {
		t.Errorf("the model was asked, or people were told of it: %q", w.notices)
	}
	if err := w.Summarise(t.Context(), "t1", thread.ByModel); !errors.Is(err, thread.ErrRefused) || len(p.drafts()) > 0 {
		t.Errorf("by hand: %v", err)
	}
	if err := w.Summarise(t.Context(), "t1", thread.ByExtract); err != nil {
		t.Errorf("an extract needs no consent: %v", err)
	}
	w.summaries.Login = true
	w.turns(9)
	if len(p.drafts()) == 0 {
		t.Error("although it is allowed the model is not asked")
	}
}

// offer is what people are told of a summary that could be written.
var offer = regexp.MustCompile(`context \d+%\. A summary would free \d+k \(<?\$\d+\.\d\d\)\. s in context`)

// TestOffered: people are told once what a summary would mean, and nothing is written.
func TestOffered(t *testing.T) {
	p := &pen{text: honest}
	w := penned(t, formats()[0], p)
	w.summaries.By, w.summaries.Offer = thread.ByNobody, true
	if summarised(w.turns(4)) || len(p.drafts()) > 0 {
		t.Error("a summary is written")
	}
	told := strings.Join(w.notices, "\n")
	if !offer.MatchString(told) || strings.Count(told, "A summary would free") != 1 {
		t.Errorf("told %q", w.notices)
	}
	report, err := w.Report("t1")
	if o := report.Offer; err != nil || o == nil || o.Frees < 10_000 || o.Turns < 10 || !o.Priced || o.CostUSD <= 0 {
		t.Errorf("offers %+v, %v", o, err)
	}
	if err := w.Summarise(t.Context(), "t1", ""); err != nil {
		t.Fatal(err)
	}
	if report, _ = w.Report("t1"); report.Offer != nil || len(report.Summaries) != 1 || report.Summaries[0].Source != "the pen" {
		t.Errorf("by hand: %+v, %+v", report.Offer, report.Summaries)
	}
	if err := w.Summarise(t.Context(), "t1", thread.ByModel); !errors.Is(err, thread.ErrRefused) || len(p.drafts()) != 1 {
		t.Errorf("the same again: %v, asked %d times", err, len(p.drafts()))
	}
}

// TestSummaryIsRefused: by hand too, what must not be written is not, with words that say why.
func TestSummaryIsRefused(t *testing.T) {
	for want, do := range map[string]func(w *world) error{
		"mode observe": func(w *world) error {
			w.mode = policy.ModeObserve
			return w.Summarise(w.Context(), "t1", thread.ByExtract)
		},
		"more than the $0.01": func(w *world) error {
			w.summaries.MostUSD = 0.01
			return w.Summarise(w.Context(), "t1", thread.ByModel)
		},
		"no older turns":   func(w *world) error { return w.Summarise(w.Context(), "small", thread.ByExtract) },
		"older turns":      func(w *world) error { return w.Summarise(w.Context(), "tiny", thread.ByExtract) },
		"is not in memory": func(w *world) error { return w.Summarise(w.Context(), "other", thread.ByExtract) },
		"in memory, where": func(w *world) error {
			w.Forget("t1")
			return w.Summarise(w.Context(), "t1", thread.ByExtract)
		},
		"summary_program":  func(w *world) error { return w.Summarise(w.Context(), "t1", thread.ByProgram) },
		"does not write":   func(w *world) error { return w.Summarise(w.Context(), "t1", "oracle") },
		"a cancelled call": func(w *world) error { return cancelled(w) },
		"is being written": func(w *world) error { return atOnce(w) },
	} {
		p := &pen{text: honest}
		w := penned(t, formats()[0], p)
		w.summaries.Program = nil
		items := w.items
		w.items = []string{w.person(strings.Repeat("long ", 5000))}
		w.send("small")
		w.items = []string{w.person("a few words")} // are a turn too
		w.send("tiny")
		w.items = items
		err := do(w)
		said := fmt.Sprint(err)
		if errors.Is(err, context.Canceled) {
			said = "a cancelled call"
		}
		if err == nil || !strings.Contains(said, want) {
			t.Errorf("want %q, got %s", want, said)
		}
	}
}

// cancelled asks for a summary and leaves.
func cancelled(w *world) error {
	w.summaries.Model = &pen{until: make(chan struct{})}
	ctx, cancel := context.WithCancel(w.Context())
	cancel()
	return w.Summarise(ctx, "t1", thread.ByModel)
}

// atOnce asks for two summaries at once, closes the masker and returns the error of the second.
func atOnce(w *world) error {
	p := &pen{text: honest, until: make(chan struct{})}
	w.summaries.Model = p
	first := make(chan error)
	go func() { first <- w.Summarise(context.Background(), "t1", thread.ByModel) }()
	for len(p.drafts()) == 0 {
		select {
		case err := <-first:
			return err
		default:
		}
	}
	err := w.Summarise(w.Context(), "t1", thread.ByExtract)
	_ = w.Close()
	if got := <-first; got == nil {
		w.Error("a summary was written after the masker was closed")
	}
	if w.Summarise(w.Context(), "t1", thread.ByExtract) == nil {
		w.Error("a summary was written by a closed masker")
	}
	return err
}

// TestSummaryAfterAKill: all that a summary replaces was stored, and the server was killed before the summary was: the
// next one is stored and sent as it was written.
func TestSummaryAfterAKill(t *testing.T) {
	first := penned(t, formats()[0], &pen{text: honest})
	if err := first.Summarise(t.Context(), "t1", thread.ByModel); err != nil {
		t.Fatal(err)
	}
	report, err := first.Report("t1")
	if err != nil || len(report.Summaries) != 1 {
		t.Fatalf("%+v, %v", report.Summaries, err)
	}
	w := penned(t, formats()[0], &pen{text: strings.ReplaceAll(honest, "to go on", "to carry on")})
	set, err := w.store.Thread("t1", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := set.Add([]masks.New{{
		Mask: masks.Mask{ID: policy.ID("summary-" + report.Summaries[0].ID)}, Content: []byte("all of it"),
		Text: func(string, thread.Token) string { return "a summary that nobody will see" },
	}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Summarise(t.Context(), "t1", thread.ByModel); err != nil {
		t.Fatal(err)
	}
	if got := w.send("t1"); !strings.Contains(got, "to carry on") || strings.Contains(got, "nobody will see") {
		t.Error("another summary is sent than was written")
	}
}
