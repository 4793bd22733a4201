package tokens_test

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"orchestrator/contextmgr/tokens"
	"orchestrator/thread"
	"orchestrator/thread/bundle"
	"orchestrator/thread/work"
)

// plans is how many random plans are tried if PLANS, 1000 for all the promise, says nothing.
const plans = 100

// reference is the encoding of the provider in these tests: another than the one that is counted with.
const reference = "cl100k_base"

// corpus is text of many kinds: what this program consists of.
func corpus(t *testing.T) (names []string, texts map[string]string) {
	t.Helper()
	texts = map[string]string{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		kinds := []string{".go", ".md", ".txt", ".json", ".sh", ".yml", ".toml"}
		if err != nil || d.IsDir() || !slices.Contains(kinds, filepath.Ext(path)) {
			return err
		}
		b, err := os.ReadFile(path)
		if err == nil && bundle.IsText(b) && len(b) > 200 && len(b) < 200<<10 {
			names, texts[path] = append(names, path), string(b)
		}
		return err
	})
	if err != nil || len(names) < 500 {
		t.Fatalf("%d files: %v", len(names), err)
	}
	return names, texts
}

// provider counts by its own encoding, times a factor that nobody knows.
type provider struct {
	count  func(string) int64
	factor float64
}

func (p provider) tokens(texts ...string) int64 {
	var n int64
	for _, text := range texts {
		n += p.count(text)
	}
	return int64(math.Ceil(float64(n) * p.factor))
}

// remembered has each text counted once.
func remembered(count func(string) int64) func(string) int64 {
	known := map[string]int64{}
	return func(text string) int64 {
		n, ok := known[text]
		if !ok {
			n = count(text)
			known[text] = n
		}
		return n
	}
}

// TestPlansDoNotOverflow: of random plans of six agents, whose provider counts otherwise than we do and by a factor that
// nobody knows, no bundle is larger than its model has room for, the first one included; and once some answers were seen,
// the counts are right but for a few percent.
func TestPlansDoNotOverflow(t *testing.T) {
	n, err := strconv.Atoi(cmp.Or(os.Getenv("PLANS"), strconv.Itoa(plans)))
	if err != nil {
		t.Fatal(err)
	}
	names, texts := corpus(t)
	counter := tokens.New()
	ours := remembered(func(text string) int64 { return int64(counter.Count(text)) })
	theirs := remembered(func(text string) int64 { return int64(counter.CountBy(reference, text)) })
	rng := rand.New(rand.NewPCG(13, 3))
	var off []float64
	var runs, first, overflows, refused, dropped, full int
	for plan := range n {
		model := fmt.Sprint([]string{"gpt-x-", "claude-x-", "other-"}[plan%3], plan)
		learned := tokens.NewCalibration()
		meter := tokens.NewMeter(counter, learned, func(string) string { return tokens.Default })
		p := provider{theirs, 0.8 + 0.5*rng.Float64()}
		window, base := int64(30_000+rng.IntN(170_000)), int64(rng.IntN(20_000))
		for agent := range 6 {
			_, margin, measured := meter.For(model)
			factor, _, _ := learned.Factor(model, "")
			to := bundle.Target{
				Count:  func(text string) int64 { return int64(float64(ours(text))*factor + 0.5) },
				Margin: margin, Measured: measured, Window: window, Base: base,
			}
			if measured == 0 {
				first++
			}
			made, err := bundle.Make(bundle.Order{AgentType: "a", Scope: "b", Items: draw(rng, names, texts, window)}, to, time.Unix(0, 0))
			if errors.Is(err, thread.ErrLimit) {
				refused++
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			runs++
			dropped += len(made.Dropped)
			var given []string
			for _, sum := range made.Kept.Pieces {
				given = append(given, string(made.Pieces[sum]))
			}
			items := p.tokens(given...)
			if sent := base + p.tokens(append(given, bundle.Frame(made.Kept.Bundle))...); sent > window {
				overflows++
				t.Errorf("plan %d, agent %d: %d tokens are sent to a window of %d (factor %.2f)", plan, agent, sent, window, p.factor)
			} else if float64(sent) > 0.8*float64(window) {
				full++
			}
			if measured > 0 {
				off = append(off, math.Abs(float64(made.Kept.Bundle.Total)/float64(items)-1))
			}
			if measured == 0 { // it reads some files, as agents do
				learn(rng, learned, model, p, ours, names, texts)
			}
		}
	}
	slices.Sort(off)
	within, _ := slices.BinarySearch(off, 0.05)
	over := len(off) - within
	t.Logf("%d plans, %d bundles (%d times before anything was learned, %d refused before the run, %d recommended items left out, %d above 80%% of the window): %d overflows; counts after calibration: median %.1f%% off, 95%% of them within %.1f%%, 99%% within %.1f%%, worst %.1f%%; %d of %d (%.1f%%) more than 5%% off",
		n, runs, first, refused, dropped, full, overflows, 100*off[len(off)/2], 100*off[len(off)*95/100], 100*off[len(off)*99/100], 100*off[len(off)-1], over, len(off), 100*float64(over)/float64(len(off)))
	if float64(over) > 0.01*float64(len(off)) || full < runs/20 {
		t.Errorf("%d of %d are more than 5%% off; %d of %d bundles come near the window", over, len(off), full, runs)
	}
}

// learn has the calibration see some answers, as the gateway does.
func learn(rng *rand.Rand, c *tokens.Calibration, model string, p provider, ours func(string) int64, names []string, texts map[string]string) {
	for seen := 0; seen < 8; {
		text := texts[names[rng.IntN(len(names))]]
		if n := ours(text); n > 300 {
			c.Observe(model, p.tokens(text), map[string]int64{"Read": n})
			seen++
		}
	}
}

// draw draws the files of an agent: a few, or as many as come near its window.
func draw(rng *rand.Rand, names []string, texts map[string]string, window int64) []bundle.Item {
	room := int(float64(window) * 4 * (0.2 + 1.2*rng.Float64()))
	var items []bundle.Item
	for len(items) < 60 && room > 0 {
		name := names[rng.IntN(len(names))]
		it := bundle.Item{Source: name, Content: []byte(texts[name]), Priority: work.Required}
		if len(items) > 3 {
			it.Priority = work.Recommended
		}
		items, room = append(items, it), room-len(texts[name])
	}
	return items
}

// TestDedupOfPublicRepositories measures what sharing saves for a plan of six agents, on the three public repositories
// that were named before it was written. ORCHESTRATOR_PLANS is a folder with their git directories.
func TestDedupOfPublicRepositories(t *testing.T) {
	folder := os.Getenv("ORCHESTRATOR_PLANS")
	if folder == "" {
		t.Skip("not run: ORCHESTRATOR_PLANS is a folder with git directories of spf13/cobra, pallets/flask and expressjs/express, as OWNER+NAME/repo")
	}
	counter := tokens.New()
	var before, after, windows int64
	for _, p := range publicPlans() {
		s := p.measure(t, folder, counter)
		before, after, windows = before+s.Before, after+s.After, windows+s.Windows
		t.Logf("%s: %d tokens in %d bundles; %d are shared items read again: %d of them from the cache, %d not, since others stand before them; %d doubled. In full: %d (%.1f%% less). In the windows: %d (%.1f%% less)",
			p.repository, s.Before, len(s.Bundles), s.Cached+s.Apart, s.Cached, s.Apart, s.Doubled, s.After, s.Percent(), s.Windows, 100*float64(s.Before-s.Windows)/float64(s.Before))
		if s.After > s.Before || s.Before-s.Doubled-s.Cached != s.After {
			t.Errorf("%+v", s)
		}
	}
	t.Logf("all: %d tokens before, %d in full after (%.1f%% less), %d in the windows (%.1f%% less)", before, after,
		100*float64(before-after)/float64(before), windows, 100*float64(before-windows)/float64(before))
}

// publicPlan is which of six agents needs which files, as somebody would plan it who has not counted anything.
type publicPlan struct {
	repository string
	agents     [][]string
}

func publicPlans() []publicPlan {
	return []publicPlan{
		{"spf13+cobra", [][]string{ // mark flags as experimental
			{"README.md", "CONTRIBUTING.md", "command.go", "flag_groups.go", "cobra.go"},
			{"CONTRIBUTING.md", "command.go", "flag_groups.go", "args.go"},
			{"CONTRIBUTING.md", "flag_groups.go", "flag_groups_test.go", "command_test.go"},
			{"CONTRIBUTING.md", "completions.go", "bash_completionsV2.go", "flag_groups.go"},
			{"README.md", "CONTRIBUTING.md", "flag_groups.go", "site/content/user_guide.md", "doc/md_docs.go", "doc/util.go"},
			{"CONTRIBUTING.md", "command.go", "flag_groups.go", "flag_groups_test.go", ".golangci.yml"},
		}},
		{"pallets+flask", [][]string{ // a limit for the size of sessions
			{"README.md", "src/flask/sessions.py", "src/flask/app.py", "docs/design.rst", "docs/config.rst"},
			{"src/flask/sessions.py", "src/flask/app.py", "src/flask/typing.py", "src/flask/wrappers.py"},
			{"src/flask/sessions.py", "src/flask/testing.py", "docs/testing.rst"},
			{"src/flask/sessions.py", "src/flask/config.py", "docs/config.rst", "docs/web-security.rst"},
			{"README.md", "docs/config.rst", "docs/quickstart.rst", "docs/api.rst"},
			{"src/flask/sessions.py", "src/flask/app.py", "docs/web-security.rst", "pyproject.toml"},
		}},
		{"expressjs+express", [][]string{ // an option of res.cookie
			{"Readme.md", "package.json", "lib/response.js", "lib/utils.js", "lib/application.js"},
			{"lib/response.js", "lib/utils.js", "lib/request.js", "package.json"},
			{"lib/response.js", "test/res.cookie.js", "test/res.clearCookie.js", "test/support/utils.js"},
			{"lib/response.js", "lib/request.js", "test/acceptance/cookies.js", "test/acceptance/auth.js"},
			{"Readme.md", "lib/response.js"},
			{"lib/response.js", "lib/utils.js", "test/res.cookie.js", "package.json", ".github/workflows/ci.yml"},
		}},
	}
}

func (p publicPlan) measure(t *testing.T, folder string, counter *tokens.Counter) bundle.Shared {
	t.Helper()
	var all []work.KeptBundle
	to := bundle.Target{Count: remembered(func(text string) int64 { return int64(counter.Count(text)) })}
	for i, files := range p.agents {
		var items []bundle.Item
		for _, name := range files {
			dir := filepath.Join(folder, p.repository, "repo")
			content, err := exec.CommandContext(t.Context(), "git", "--git-dir", dir, "show", "HEAD:"+name).Output()
			if err != nil {
				t.Fatalf("%s: %s: %v", p.repository, name, err)
			}
			items = append(items, bundle.Item{Source: name, Content: content})
		}
		made, err := bundle.Make(bundle.Order{ID: fmt.Sprint("agent-", i+1), Items: items}, to, time.Unix(0, 0))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, made.Kept)
	}
	s, err := bundle.Dedup(all)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
