package replay

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// saving returns a base that saves the same of every agent.
func saving(s Saving) Base {
	return Base{"slim", func(string) Saving { return s }}
}

// compared replays a session in a window with the policies that are named.
func compared(t *testing.T, s Session, c Compared, window int64, factor float64, names ...string) Group {
	t.Helper()
	for _, name := range names {
		c.Policies = append(c.Policies, named(t, name))
	}
	c.Caches = Caches()[:1]
	all := NewComparison(c, Models{Window: func(string, int64) int64 { return window },
		Price: func(string) (float64, bool) { return 1, true }, Factor: func(string) float64 { return factor }})
	if err := all.Add(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return all.Groups()[0]
}

// TestBases holds what is sent with smaller bases against a calculation by hand: 1,000 of the 10,000 tokens of the first
// request are what the person said, the second request is read from the cache, and the third comes too late for it.
func TestBases(t *testing.T) {
	short := newStory(t, "claude").person(2_850).request(10_000, 0).request(12_000, 1).request(15_000, 301).b.Session()
	for _, c := range []struct {
		name        string
		base        Base
		definitions Definitions
		window      int64
		factor      float64
		raw, sent   [3]int64
	}{
		{"as recorded", Base{Name: "full"}, Definitions{}, 200_000, 1.5, [3]int64{10_000, 12_000, 15_000}, [3]int64{10_000, 12_000, 15_000}},
		{"tokens", saving(Saving{Tokens: 2_000}), Definitions{}, 200_000, 1, [3]int64{10_000, 12_000, 15_000}, [3]int64{8_000, 10_000, 13_000}},
		{"tokens, as the provider counts them", saving(Saving{Tokens: 2_000}), Definitions{}, 200_000, 1.5,
			[3]int64{10_000, 12_000, 15_000}, [3]int64{7_000, 9_000, 12_000}},
		{"a share, which the provider counted", saving(Saving{Percent: 50}), Definitions{}, 200_000, 1.5,
			[3]int64{10_000, 12_000, 15_000}, [3]int64{5_500, 7_500, 10_500}},
		{"more than there is", saving(Saving{Tokens: 50_000}), Definitions{}, 200_000, 1, [3]int64{10_000, 12_000, 15_000}, [3]int64{1_000, 3_000, 6_000}},
		{"less than nothing", saving(Saving{Tokens: -50}), Definitions{}, 200_000, 1, [3]int64{10_000, 12_000, 15_000}, [3]int64{10_000, 12_000, 15_000}},
		{"definitions", Base{Name: "full"}, Definitions{All: 4_000, On: 1_000}, 200_000, 1.5, [3]int64{16_000, 18_000, 21_000}, [3]int64{11_500, 13_500, 16_500}},
		{"definitions and tokens", saving(Saving{Tokens: 2_000}), Definitions{All: 4_000, On: 1_000}, 200_000, 1,
			[3]int64{14_000, 16_000, 19_000}, [3]int64{9_000, 11_000, 14_000}},
		{"a share where the base is not known", saving(Saving{Percent: 50}), Definitions{}, 30_000, 1,
			[3]int64{10_000, 12_000, 15_000}, [3]int64{10_000, 12_000, 15_000}},
		{"tokens there", saving(Saving{Tokens: 2_000}), Definitions{}, 30_000, 1, [3]int64{10_000, 12_000, 15_000}, [3]int64{8_000, 10_000, 13_000}},
	} {
		g := compared(t, short, Compared{Bases: []Base{c.base}, Definitions: c.definitions}, c.window, c.factor, "raw")
		o := g.Results[0]
		mean := func(n [3]int64) float64 { return float64(n[0]+n[1]+n[2]) / 3 }
		cost := func(n [3]int64) float64 {
			return 1.25*float64(n[0]) + 0.1*float64(n[0]) + 1.25*float64(n[1]-n[0]) + 1.25*float64(n[2])
		}
		near(t, c.name+": recorded", g.Context, mean(c.raw))
		near(t, c.name+": sent", o.Context, mean(c.sent))
		near(t, c.name+": its cut", o.ContextCut, 100-100*mean(c.sent)/mean(c.raw))
		near(t, c.name+": history", o.History, (0+2_000+5_000)/3.)
		near(t, c.name+": its cut", o.HistoryCut, 0)
		near(t, c.name+": recorded cost", o.RawUSD, cost(c.raw))
		near(t, c.name+": cost", o.USD, cost(c.sent))
		if o.Base != c.base.Name {
			t.Errorf("%s: the base is called %q", c.name, o.Base)
		}
	}
}

// TestBaseOfSession: the base is what the provider counted before anything was said, the least of what a session tells.
func TestBaseOfSession(t *testing.T) {
	for _, c := range []struct {
		name  string
		story *story
		want  int64
	}{
		{"without a prompt", newStory(t, "claude").request(10_000, 0).request(90_000, 0), 10_000},
		{"with one", newStory(t, "claude").person(2_850).request(10_000, 0), 9_000},
		{"a prompt that seems larger", newStory(t, "claude").person(28_500_000).request(10_000, 0), 0},
		{"a compaction with its summary", newStory(t, "claude").request(80_000, 0).compacted().person(28_500).request(25_000, 1), 15_000},
		{"gone back", newStory(t, "claude").request(10_000, 0).request(90_000, 0).request(50_000, 0), 10_000},
		{"nothing", newStory(t, "claude"), 0},
	} {
		if got := c.story.b.Session().Base(); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// TestBaseMasksLater: masks are decided for what is sent. With a smaller base the first one comes later, and until then
// each request is smaller by what the base saves.
func TestBaseMasksLater(t *testing.T) {
	seg := working(t).b.Session().Segments[0]
	first := func(f Front) (n int, size int64) {
		t.Helper()
		r := &run{policy: named(t, "lean"), cache: Caches()[0], front: f, window: 200_000, segment: seg, maskedAt: make(map[read]int)}
		for n, req := range seg.Requests {
			r.decide(n, req, r.take(n, req))
			r.sent = req.Context + f.Sent
			if r.tally.Masks > 0 {
				return n, r.sent
			}
		}
		return -1, 0
	}
	n, size := first(Front{})
	late, lateSize := first(Front{Sent: -9_000})
	if n < 1 || late <= n || lateSize < size-1_400 || lateSize > size+9_000 {
		t.Errorf("masked at request %d with %d tokens, and with less at %d with %d", n, size, late, lateSize)
	}
	full := simulate(t, Session{Segments: []Segment{seg}}, named(t, "lean"), Caches()[0])
	slim, err := Simulate(t.Context(), seg, named(t, "lean"), Caches()[0], Front{Sent: -9_000}, 200_000)
	if err != nil {
		t.Fatal(err)
	}
	if subtracted := full.Context - 9_000*int64(full.Requests); slim.Context <= subtracted || slim.Context >= full.Context {
		t.Errorf("sends %d, as recorded %d, and %d if what is saved were subtracted at the end", slim.Context, full.Context, subtracted)
	}
}

// random is a session of any shape.
func random(t *testing.T, rng *rand.Rand) Session {
	s := newStory(t, []string{"claude", "codex", "pi"}[rng.IntN(3)])
	size := 20_000 + rng.Int64N(30_000)
	s.person(rng.Int64N(3_000)).request(size, 0)
	for i := range 20 + rng.IntN(60) {
		switch rng.IntN(12) {
		case 0:
			size = 20_000 + rng.Int64N(30_000)
			s.compacted().person(rng.Int64N(9_000))
		case 1:
			s.person(rng.Int64N(3_000))
		default:
			grown := rng.Int64N(6_000)
			s.call(fmt.Sprint(i), []string{"Read", "Bash", "Edit"}[rng.IntN(3)], fmt.Sprintf("/f%d", rng.IntN(9)), rng.Int64N(3_000), 3*grown)
			size += grown
		}
		s.request(size, rng.IntN(400))
	}
	return s.b.Session()
}

// TestBasesOfAnySession: the base that was recorded changes no figure, and a smaller one makes every context smaller: by
// what it saves where nothing is masked or where size does not decide it, and else by as much less than without masks.
func TestBasesOfAnySession(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 24))
	names := []string{"raw", "observe", "sliding", "safe", "lean"}
	var fuller, smaller float64
	for range 60 {
		s := random(t, rng)
		saved := rng.Int64N(s.Base())
		plain := compared(t, s, Compared{}, 200_000, 1, names...)
		based := compared(t, s, Compared{Bases: []Base{{Name: "full"}, saving(Saving{Tokens: saved})}}, 200_000, 1, names...)
		var full, slim []Outcome
		for _, o := range based.Results {
			if o.Base == "full" {
				o.Base = ""
				full = append(full, o)
			} else {
				slim = append(slim, o)
			}
		}
		if based.Context != plain.Context || !slices.Equal(full, plain.Results) {
			t.Fatalf("as recorded\n%+v, with the full base\n%+v", plain, based)
		}
		for i, o := range slim {
			was := full[i]
			if strings.Contains("raw observe sliding", names[i]) {
				near(t, names[i], o.Context, was.Context-float64(saved))
				near(t, names[i]+", history", o.History, was.History)
			}
			if o.Context > based.Context-float64(saved)+1e-6 || o.USD > o.RawUSD && names[i] != "sliding" && was.USD <= was.RawUSD {
				t.Errorf("%s sends %.0f of %.0f with %d less, for %.0f of %.0f", names[i], o.Context, based.Context, saved, o.USD, o.RawUSD)
			}
			fuller, smaller = fuller+was.Context, smaller+o.Context
		}
	}
	if smaller >= fuller {
		t.Errorf("in all, the smaller bases send %.0f, the full ones %.0f", smaller, fuller)
	}
}
