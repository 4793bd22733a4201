package models_test

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/pkoukk/tiktoken-go"

	"orchestrator/contextmgr/models"
	"orchestrator/contextmgr/tokens"
)

func builtin(t *testing.T) models.Table {
	t.Helper()
	tab, err := models.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func TestBuiltinSaysWhereItIsFrom(t *testing.T) {
	if tab := builtin(t); tab.Date == "" || tab.Source == "" || len(tab.Rows) == 0 {
		t.Errorf("date %q, source %q, %d rows", tab.Date, tab.Source, len(tab.Rows))
	}
}

func TestWindow(t *testing.T) {
	tab := builtin(t)
	for _, tc := range []struct {
		model string
		long  bool
		used  int64
		want  int64
	}{
		{"claude-sonnet-4-6", false, 84_000, 200_000},
		{"claude-sonnet-4-6", true, 84_000, 1_000_000},
		{"claude-opus-5-5[1m]", false, 0, 1_000_000},
		{"claude-opus-5-5", false, 84_000, 1_000_000}, // it holds that much by itself: no request has to ask for it
		{"claude-opus-4-6", false, 84_000, 200_000},
		{"claude-sonnet-4-6", false, 250_000, 1_000_000}, // it fits no short window
		{"us.anthropic.claude-opus-4-5-20251101-v1:0", false, 0, 200_000},
		{"anthropic/claude-haiku-4.5", true, 0, 200_000}, // has no long one
		{"claude-next", false, 0, 200_000},
		{"gpt-5.5", false, 0, 272_000},
		{"models/gemini-2.5-pro", false, 0, 1_048_576},
		{"gemini-3.8-flash", false, 0, 1_048_576},
		{"fake-1", false, 0, 0},
		{"", false, 0, 0},
	} {
		if got := tab.Window(tc.model, tc.long, tc.used, nil); got != tc.want {
			t.Errorf("Window(%q, %v, %d) = %d, want %d", tc.model, tc.long, tc.used, got, tc.want)
		}
	}
}

// TestWhoseWordOnWindows: the table, then what the agent is configured with, then what the person sets; the later wins.
func TestWhoseWordOnWindows(t *testing.T) {
	agents := map[string]int64{"qwen3-coder": 65_536, "claude-*": 100_000, "unset": 0}
	own, err := builtin(t).With([]models.Row{{Match: "claude-opus-5*", Window: 300_000},
		{Match: "glm-9*", Input: 1, Output: 2}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		tab   models.Table
		model string
		want  int64
	}{
		{builtin(t), "qwen3-coder", 65_536},
		{builtin(t), "qwen3-coder-plus", 1_000_000},
		{builtin(t), "claude-opus-5-5", 100_000},
		{own, "anthropic/claude-opus-5-5", 300_000},
		{own, "claude-sonnet-5", 100_000},
		{own, "glm-9-air", 0}, // a price of one's own says nothing of the window
		{own, "unset", 0},
	} {
		if got := tc.tab.Window(tc.model, false, 10, agents); got != tc.want {
			t.Errorf("Window(%q) = %d, want %d", tc.model, got, tc.want)
		}
	}
	if _, err := builtin(t).With([]models.Row{{Match: "["}}); err == nil {
		t.Error("a bad pattern is taken")
	}
}

func TestOwnPrices(t *testing.T) {
	own, err := builtin(t).With([]models.Row{{Match: "claude-sonnet-5*", Input: 1, Output: 1},
		{Match: "local-*", Free: true}, {Match: "gpt-5.5", Window: 9}})
	if err != nil {
		t.Fatal(err)
	}
	for model, want := range map[string]float64{
		"claude-sonnet-5-5": 2, "local-llama": 0, "gpt-5.5": 35, "claude-fable-5-2": 48,
	} {
		got, priced := own.Cost(model, models.Tokens{Input: 1_000_000, Output: 1_000_000})
		if math.Abs(got-want) > 1e-9 || !priced {
			t.Errorf("Cost(%q) = %v, %v, want %v", model, got, priced, want)
		}
	}
}

func TestCost(t *testing.T) {
	tab := builtin(t)
	m := int64(1_000_000)
	for _, tc := range []struct {
		model string
		n     models.Tokens
		want  float64
		ok    bool
	}{
		{"claude-sonnet-4-6", models.Tokens{Input: m, CacheRead: m, CacheWrite: 2 * m, CacheWriteHr: m, Output: m},
			3 + 0.3 + 3.75 + 6 + 15, true},
		{"claude-sonnet-4-6", models.Tokens{CacheWrite: m, CacheWriteHr: 2 * m}, 6, true}, // not more than all of it
		{"claude-sonnet-4-6", models.Tokens{CacheWrite: m, CacheWriteHr: -m}, 3.75, true},
		{"gpt-5.5", models.Tokens{CacheWrite: m, CacheWriteHr: m}, 5, true}, // writing costs what input costs
		{"claude-opus-4-1-20250805", models.Tokens{Output: m}, 75, true},
		{"claude-opus-4-5-20251101", models.Tokens{Output: m}, 25, true},
		{"claude-haiku-5-5", models.Tokens{Input: 100_000}, 0.01, true},
		{"claude-haiku-5-5", models.Tokens{Input: 100_000, CacheRead: 1}, 0.05 + 0.05e-6, true},
		{"gpt-5.5", models.Tokens{Input: m, CacheRead: m, CacheWrite: m, Output: m}, 5 + 0.5 + 5 + 30, true},
		{"gpt-5.5-codex-next", models.Tokens{Input: m}, 0, false},
		{"gemini-2.5-pro", models.Tokens{Input: 200_000}, 0.25, true},
		{"gemini-2.5-pro", models.Tokens{Input: 200_001}, 0.5000025, true},
		{"claude-next", models.Tokens{Input: m}, 0, false},
		{"fake-1", models.Tokens{Input: m}, 0, false},
	} {
		got, ok := tab.Cost(tc.model, tc.n)
		if math.Abs(got-tc.want) > 1e-9 || ok != tc.ok {
			t.Errorf("Cost(%q, %+v) = %v, %v, want %v, %v", tc.model, tc.n, got, ok, tc.want, tc.ok)
		}
	}
}

// TestHourOfOwnPrices: a row that has no price for an hour of cache follows the list prices, which are twice the input's.
func TestHourOfOwnPrices(t *testing.T) {
	price := func(usd float64) *float64 { return &usd }
	for _, tc := range []struct {
		row  models.Row
		want float64
	}{
		{models.Row{Input: 4, CacheWrite: price(5)}, 8},
		{models.Row{Input: 4, CacheWrite: price(5), CacheWriteH: price(6)}, 6},
		{models.Row{Input: 4, CacheWrite: price(9)}, 9}, // never less than the usual write
		{models.Row{Input: 4, CacheWrite: price(3)}, 3},
		{models.Row{Input: 4}, 4},
		{models.Row{Input: 4, CacheWrite: price(0)}, 0},
	} {
		tc.row.Match = "own"
		own, err := models.Table{}.With([]models.Row{tc.row})
		if err != nil {
			t.Fatal(err)
		}
		got, ok := own.Cost("own", models.Tokens{CacheWrite: 1e6, CacheWriteHr: 1e6})
		if got != tc.want || !ok {
			t.Errorf("%+v: %v, %v, want %v", tc.row, got, ok, tc.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, in := range []string{
		``, `{`, `{"models":[{"match":"["}]}`, `{"models":[{"window":1}]}`, `{"models":[{"match":"a","input":-1}]}`,
		`{"models":[{"match":"a","input":1,"cacheWrite1h":-1}]}`,
	} {
		if _, err := models.Parse([]byte(in)); err == nil {
			t.Errorf("Parse(%q) took it", in)
		}
	}
}

func TestEncoding(t *testing.T) {
	tab := builtin(t)
	for model, want := range map[string]string{
		"gpt-5.5": "o200k_base", "gpt-6-sol": "o200k_base", "gpt-4o": "o200k_base", "gpt-4o-2024-05-13": "o200k_base",
		"gpt-4.1-mini": "o200k_base", "gpt-4.5-preview": "o200k_base", "o3": "o200k_base", "claude-opus-5": "o200k_base",
		"": "o200k_base", "gpt": "o200k_base", "gpt-40": "o200k_base", "ft:gpt-4o:acme": "o200k_base",
		"gpt-4": "cl100k_base", "openai/gpt-4": "cl100k_base", "GPT-4-0613": "cl100k_base", "gpt-4-32k": "cl100k_base",
		"gpt-3.5-turbo-0125": "cl100k_base", "gpt-35-turbo-16k": "cl100k_base", "ft:gpt-4:acme": "cl100k_base",
		"text-embedding-3-small": "cl100k_base", "text-davinci-003": "p50k_base", "text-davinci-edit-001": "p50k_edit",
		"davinci": "r50k_base", "gpt2": "r50k_base", // the library's table has no encoding of that name
	} {
		if got := tab.Encoding(model); got != want {
			t.Errorf("%s: %s, want %s", model, got, want)
		}
	}
}

// TestEncodingsAreKnown: every encoding that a table names can be loaded.
func TestEncodingsAreKnown(t *testing.T) {
	names := slices.Collect(maps.Values(tiktoken.MODEL_TO_ENCODING))
	for _, r := range builtin(t).Rows {
		names = append(names, r.Encoding)
	}
	slices.Sort(names)
	counter := tokens.New()
	for _, name := range slices.Compact(names) {
		if name == "" || name == "gpt2" { // see TestEncoding
			continue
		}
		if err := counter.Load(name); err != nil {
			t.Error(err)
		}
	}
}
