package tokens_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"orchestrator/contextmgr/tokens"
)

const (
	gpt    = "gpt-5.5"
	claude = "claude-opus-4-6"
)

func calibration(t testing.TB) *tokens.Calibration {
	t.Helper()
	c := tokens.OpenCalibration(folder(t), quiet)
	t.Cleanup(func() { closed(t, c) })
	return c
}

func factor(t testing.TB, c *tokens.Calibration, model, tool string, want, wantMargin float64, observed int) {
	t.Helper()
	got, margin, n := c.Factor(model, tool)
	if math.Abs(got-want) > 0.001 || math.Abs(margin-wantMargin) > 0.001 || n != observed {
		t.Errorf("%s, %q: factor %.3f ± %.3f of %d, want %.3f ± %.3f of %d",
			model, tool, got, margin, n, want, wantMargin, observed)
	}
}

func TestFactorBeforeAnythingIsLearned(t *testing.T) {
	c := calibration(t)
	for _, tc := range []struct {
		model, tool string
		want        float64
	}{
		{claude, "", 1.17}, {claude, tokens.AllTools, 1.17}, {claude, "Read", 1.14}, {claude, "Bash", 1.33},
		{claude, "Grep", 1.17}, {"us.anthropic.Claude-Opus-4-5-v1:0", "bash", 1.33},
		{gpt, "", 1}, {gpt, "Read", 1}, {"", "", 1}, {"\xff", strings.Repeat("日", 1000), 1},
	} {
		factor(t, c, tc.model, tc.tool, tc.want, 0.3, 0)
	}
	if rows := c.All(); rows == nil || len(rows) > 0 {
		t.Errorf("%+v", rows)
	}
}

// TestFiveAreEnough, of the model and of the tool that they are of.
func TestFiveAreEnough(t *testing.T) {
	c := calibration(t)
	for range 4 {
		c.Observe(claude, 1350, map[string]int64{"Read": 900})
	}
	factor(t, c, claude, "Read", 1.14, 0.3, 0)
	if rows := c.All(); len(rows) != 2 || rows[0].Learned || rows[0].Observations != 4 || rows[0].Factor != 1.17 {
		t.Errorf("%+v", rows)
	}
	c.Observe(claude, 1500, map[string]int64{"Read": 800, "": 200})
	factor(t, c, claude, tokens.AllTools, 1.5, 0.05, 5) // the first four were off, and the median is not
	factor(t, c, claude, "Read", 1.5, 0.05, 5)
	factor(t, c, claude, "Bash", 1.5*1.33/1.17, 0.05, 5) // not seen: as it is to the others
	factor(t, c, gpt, "Read", 1, 0.3, 0)
	for range 5 {
		c.Observe(claude, 2000, map[string]int64{"Bash": 799, "": 201}) // not enough of it to tell
	}
	factor(t, c, claude, "Read", 1.5, 0.05, 5)
	rows := c.All()
	if len(rows) != 2 || rows[0].Tool != tokens.AllTools || rows[0].Observations != 10 || !rows[1].Learned {
		t.Errorf("%+v", rows)
	}
}

// TestTwoLargeOnesThatAgree: a model that counts quite otherwise is known from its third answer on, if large texts agree.
func TestTwoLargeOnesThatAgree(t *testing.T) {
	for _, tc := range []struct {
		growths [2]int64
		ours    int64
		want    float64
	}{
		{[2]int64{2500, 2500}, 5000, 0.5}, {[2]int64{2600, 2500}, 5000, 0.5}, {[2]int64{7500, 7400}, 5000, 1.48},
		{[2]int64{2500, 3500}, 5000, 1}, {[2]int64{450, 450}, 900, 1}, {[2]int64{2500, 0}, 5000, 1},
	} {
		c := calibration(t)
		for _, growth := range tc.growths {
			c.Observe(gpt, growth, map[string]int64{"Read": tc.ours})
		}
		if got, _, _ := c.Factor(gpt, "Read"); got != tc.want {
			t.Errorf("%v of %d: factor %g, want %g", tc.growths, tc.ours, got, tc.want)
		}
	}
}

// TestNonsenseTeachesNothing: each of these is left out alone.
func TestNonsenseTeachesNothing(t *testing.T) {
	c := calibration(t)
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for _, growth := range []int64{
		0, -1, 200, -50_000, math.MinInt64, math.MaxInt64, 1 << 40, 100_000, 249,
		now.Unix(), now.UnixMilli(), now.UnixNano(),
	} {
		c.Observe(gpt, growth, map[string]int64{"Read": 1000})
	}
	for _, parts := range []map[string]int64{
		nil, {}, {"": 0}, {"Read": -1000}, {"Read": 1000, "Bash": -1}, {"Read": math.MaxInt64, "Bash": math.MaxInt64},
		{"Read": math.MinInt64}, {"Read": 10}, {"Read": 1 << 30},
		{"Read": math.MaxInt64, "Bash": math.MaxInt64, "exec": 1002}, // whose sum is 1000, if it overflows
	} {
		c.Observe(gpt, 1000, parts)
	}
	c.Observe(gpt, 200, map[string]int64{"": 200}) // too little to tell
	c.Observe(gpt, 20<<20, map[string]int64{"": 8 << 20})
	c.Observe(gpt, 8<<20, map[string]int64{"": 8 << 20, "Read": 8 << 20})
	for _, model := range []string{"", "\xff\xff"} {
		c.Observe(model, 1000, map[string]int64{"": 1000})
	}
	if rows := c.All(); len(rows) > 0 {
		t.Errorf("it learned %+v", rows)
	}
}

// TestFactorsStayInBounds: what is seen may be anything that can be true, and a factor is still one to work with.
func TestFactorsStayInBounds(t *testing.T) {
	c := calibration(t)
	for range 10 {
		c.Observe(claude, 5900, map[string]int64{"exec": 1000})
		c.Observe(gpt, 260, map[string]int64{"exec": 1000})
	}
	for _, tool := range []string{"exec", "Bash", "Read", "", tokens.AllTools} {
		f, off, _ := c.Factor(claude, tool)
		g, _, _ := c.Factor(gpt, tool)
		if f > 3 || f < 2.5 || g != 0.5 || off < 0.9 { // it is known that the factor is too small
			t.Errorf("%q: %v ± %v, %v", tool, f, off, g)
		}
	}
}

// TestMargin is the error that was seen, not what was hoped for.
func TestMargin(t *testing.T) {
	c := calibration(t)
	for i := range int64(200) {
		c.Observe(gpt, 1000+300*(i%3-1), map[string]int64{"exec": 1000}) // by 0, +30 or -30 %
		c.Observe(claude, 1000, map[string]int64{"exec": 1000})
	}
	if f, margin, _ := c.Factor(gpt, "exec"); f != 1 || margin < 0.15 || margin > 0.25 {
		t.Errorf("factor %v ± %v", f, margin)
	}
	factor(t, c, claude, "exec", 1, 0.05, 200) // as bad as it was at the beginning does not matter
}

// TestFollowsAChange: a provider changes its encoding under the same name.
func TestFollowsAChange(t *testing.T) {
	c := calibration(t)
	for range 500 {
		c.Observe(gpt, 1000, map[string]int64{"exec": 1000})
	}
	for range 40 {
		c.Observe(gpt, 1400, map[string]int64{"exec": 1000})
	}
	if f, _, _ := c.Factor(gpt, "exec"); f != 1.4 {
		t.Errorf("factor %v", f)
	}
}

// TestConverges: whatever a provider's factors are, they are found, although every fifth observation is wrong.
func TestConverges(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := tokens.NewCalibration()
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		truth, tools := map[string]float64{}, []string{"", "Read", "Bash", "exec"}
		for _, tool := range tools {
			truth[tool] = rapid.Float64Range(0.6, 2.8).Draw(rt, tool)
		}
		model := rapid.SampledFrom([]string{gpt, claude}).Draw(rt, "model")
		for range 120 {
			for _, tool := range tools {
				n := 300 + rng.Int64N(5_000)
				parts := map[string]int64{tool: n, "": n / 20}
				if tool == "" {
					parts = map[string]int64{tool: n}
				}
				growth := truth[tool] * float64(n+parts[""]*min(1, int64(len(tool)))) * (0.92 + 0.16*rng.Float64())
				if rng.IntN(5) == 0 {
					growth = wrong(rng)
				}
				c.Observe(model, int64(growth), parts)
			}
		}
		for tool, want := range truth {
			got, margin, n := c.Factor(model, tool)
			if math.Abs(got/want-1) > 0.1 || n < 80 || margin < 0.05 || margin > 0.5 {
				rt.Fatalf("%q: %.2f ± %.2f of %d, want %.2f", tool, got, margin, n, want)
			}
		}
	})
}

// wrong is a growth that has nothing to do with what was added.
func wrong(rng *rand.Rand) float64 {
	switch rng.IntN(6) {
	case 0:
		return 0
	case 1:
		return -float64(rng.IntN(100_000))
	case 2:
		return 1e9 + float64(rng.IntN(1e9)) // the time of day
	case 3:
		return math.MaxInt32
	case 4:
		return float64(rng.IntN(5_000))
	default:
		return float64(rng.IntN(200_000)) // the context of another agent
	}
}

// TestTwoAgents in one thread, whose requests alternate at random: what one of them counts less the other says nothing,
// unless both are as large by chance.
func TestTwoAgents(t *testing.T) {
	c := calibration(t)
	rng := rand.New(rand.NewPCG(3, 5))
	contexts, last := [2]int64{20_000, 60_000}, int64(0)
	for range 2000 {
		at := &contexts[rng.IntN(2)]
		n := 300 + rng.Int64N(3_000)
		if *at += n * 13 / 10; *at > 180_000 { // it is compacted
			*at = 20_000
		}
		c.Observe(gpt, *at-last, map[string]int64{"exec": n})
		last = *at
	}
	if f, _, n := c.Factor(gpt, "exec"); math.Abs(f/1.3-1) > 0.1 || n < 500 {
		t.Errorf("factor %v of %d", f, n)
	}
}

// TestAnything: no observation breaks what is asked and what is stored.
func TestAnything(t *testing.T) {
	number := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-10, 5000))
	rapid.Check(t, func(t *rapid.T) {
		c := tokens.NewCalibration()
		for range rapid.IntRange(0, 50).Draw(t, "observations") {
			c.Observe(rapid.SampledFrom([]string{gpt, claude, "", "\xff", "*"}).Draw(t, "model"), number.Draw(t, "growth"),
				rapid.MapOf(rapid.SampledFrom([]string{"", "Read", "*", "\xff"}), number).Draw(t, "parts"))
		}
		for _, r := range c.All() {
			f, margin, _ := c.Factor(r.Model, r.Tool)
			if !(f >= 0.5 && f <= 3 && margin >= 0.05 && margin <= 1) || f != r.Factor || margin != r.Margin {
				t.Fatalf("%+v: %v, %v", r, f, margin)
			}
		}
		again := tokens.NewCalibration()
		b, err := c.Encode()
		if err == nil {
			err = again.Decode(b)
		}
		if err != nil || len(again.All()) != len(c.All()) {
			t.Fatalf("%s is read as %+v: %v", b, again.All(), err)
		}
	})
}

// TestLearnedIsKept over a restart, and lets no more be kept than is allowed.
func TestLearnedIsKept(t *testing.T) {
	f := folder(t)
	c := tokens.OpenCalibration(f, quiet)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range int64(200) {
		c.Observe(claude, 1170+rng.Int64N(60), map[string]int64{"Read": 1000 + i%7})
		c.Observe(gpt, 1000+rng.Int64N(60), map[string]int64{"": 1000 + i%7})
	}
	before := c.All()
	for range 2 {
		closed(t, c)
		c = tokens.OpenCalibration(f, quiet)
		after := c.All()
		for i := range after { // four digits are stored
			if math.Abs(after[i].Factor-before[i].Factor) < 1e-4 && math.Abs(after[i].Margin-before[i].Margin) < 1e-4 {
				after[i].Factor, after[i].Margin = before[i].Factor, before[i].Margin
			}
		}
		if !reflect.DeepEqual(before, after) || len(after) != 4 {
			t.Errorf("%+v\nbecame\n%+v", before, after)
		}
	}
	closed(t, c)
	if info, err := os.Stat(f.Path("calibration.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestLearnedIsStoredNowAndThen: a server that is killed loses some minutes of it.
func TestLearnedIsStoredNowAndThen(t *testing.T) {
	f := folder(t)
	synctest.Test(t, func(t *testing.T) {
		c := tokens.OpenCalibration(f, quiet)
		c.Observe(gpt, 1000, map[string]int64{"": 1000})
		time.Sleep(tokens.KeepEvery) // of the test's clock
		synctest.Wait()
		other := tokens.OpenCalibration(f, quiet)
		if n := len(other.All()); n != 2 {
			t.Errorf("%d rows are stored", n)
		}
		closed(t, other)
		closed(t, c)
	})
}

// TestManyNames: names come from requests, and must not fill the memory. What is in use stays.
func TestManyNames(t *testing.T) {
	f := folder(t)
	c := tokens.OpenCalibration(f, quiet)
	long := strings.Repeat("日", 100)
	for i := range 200 {
		c.Observe(gpt, 1000, map[string]int64{"exec": 1000})
		c.Observe(gpt, 1000, map[string]int64{fmt.Sprint("tool ", i, long): 1000})
		c.Observe(fmt.Sprint("model ", i, long), 1000, map[string]int64{"": 1000})
	}
	for range 2 {
		names := map[string]int{}
		for _, r := range c.All() {
			names[r.Model]++
			if len(r.Model) > 100 || len(r.Tool) > 100 {
				t.Errorf("%d, %d bytes of names", len(r.Model), len(r.Tool))
			}
		}
		if len(names) != tokens.MostModels || names[gpt] != 1+tokens.MostTools {
			t.Errorf("%d models, %d rows of one", len(names), names[gpt])
		}
		factor(t, c, gpt, "exec", 1, 0.05, 200)
		closed(t, c)
		c = tokens.OpenCalibration(f, quiet)
	}
	for i := range tokens.MostModels - 2 { // which of them are the oldest is known after a restart too
		c.Observe(fmt.Sprint("new ", i), 1000, map[string]int64{"": 1000})
	}
	factor(t, c, gpt, "exec", 1, 0.05, 200)
	closed(t, c)
}

// TestBadCalibrationFile: rows that cannot be true are left out, and a file that cannot be read is as good as none.
func TestBadCalibrationFile(t *testing.T) {
	row := `{"model":"m","tool":"*","n":9,"margin":0.1,"seen":[[1.5,100],[1.5,100],[1.5,100],[1.5,100],[1.5,100]]}`
	swap := func(old, now string) string {
		return `{"version":1,"rows":[` + strings.Replace(row, old, now, 1) + `]}`
	}
	for content, want := range map[string]int{
		swap("", ""): 1, swap(row, row+","+row): 1,
		"": 0, "{": 0, "[]": 0, "null": 0, `{"version":2,"rows":[` + row + `]}`: 0, `{"version":1,"rows":null}`: 0,
		swap(`"m"`, `""`): 0, swap(`"m"`, `"`+strings.Repeat("m", 101)+`"`): 0,
		swap(`"n":9`, `"n":4`): 0, swap(`"n":9`, `"n":-1`): 0, swap(`"n":9`, `"n":9223372036854775807`): 0,
		swap(`0.1`, `-1`): 0, swap(`0.1`, `1.5`): 0, swap(`0.1`, `1e999`): 0,
		swap(`1.5`, `0`): 0, swap(`1.5`, `-1`): 0, swap(`1.5`, `99`): 0,
		swap(`,100`, `,0`): 0, swap(`,100`, `,1e300`): 0, swap(`[1.5,100]`, `[]`): 0,
		swap(`[1.5,100]`, strings.Repeat(`[1.5,100],`, 60)+`[1,1]`): 0,
	} {
		f := folder(t)
		if err := os.WriteFile(f.Path("calibration.json"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		c := tokens.OpenCalibration(f, quiet)
		if rows := c.All(); len(rows) != want {
			t.Errorf("%.300s: %+v", content, rows)
		}
		for range 5 {
			c.Observe("m", 1300, map[string]int64{"": 1000})
		}
		closed(t, c)
		c = tokens.OpenCalibration(f, quiet)
		if got, _, _ := c.Factor("m", ""); got != 1.3 {
			t.Errorf("%.300s: what is learned after it is %v", content, got)
		}
		closed(t, c)
	}
	f := folder(t)
	if err := os.Symlink("/dev/zero", f.Path("calibration.json")); err != nil {
		t.Fatal(err)
	}
	c := tokens.OpenCalibration(f, quiet)
	c.Observe("m", 1300, map[string]int64{"": 1000})
	if err := c.Close(); err == nil {
		t.Error("written over a link")
	}
}

func FuzzCalibrationFile(f *testing.F) {
	good := tokens.NewCalibration()
	good.Observe(gpt, 1000, map[string]int64{"exec": 900})
	b, err := good.Encode()
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range [][]byte{b, nil, []byte(`{"version":1}`), bytes.ToUpper(b)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c := tokens.NewCalibration()
		if c.Decode(b) != nil && len(c.All()) > 0 {
			t.Error("something of a file that is refused is taken")
		}
		c.Observe(gpt, 1000, map[string]int64{"exec": 900})
		for _, r := range c.All() {
			if !(r.Factor >= 0.5 && r.Factor <= 3 && r.Margin >= 0.05 && r.Margin <= 1) {
				t.Errorf("%+v", r)
			}
		}
		if _, err := c.Encode(); err != nil {
			t.Error(err)
		}
	})
}

// TestManyObserve at once, while others ask and one closes.
func TestManyObserve(t *testing.T) {
	c := calibration(t)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 300 {
				c.Observe(fmt.Sprint("m", i%40), 1200, map[string]int64{fmt.Sprint("t", g): 1000})
				c.Factor(fmt.Sprint("m", g), "t1")
				c.All()
				if g == 3 && i == 200 {
					closed(t, c)
				}
			}
		})
	}
	all.Wait()
}
