// Package models knows what models cost and how much they hold, from a small table.
//
// The table is data with a date and a source. A model that is in no row has no price and no window, and the
// caller is told so: it never guesses. Prices are list prices of the standard tier; discounts and batch rates are not
// known here.
package models

import (
	_ "embed" // the table
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

//go:embed models.json
var builtin []byte

// Table is a list of rows; the first that matches stands. It is never changed after it was made.
type Table struct {
	// Date and Source say where the rows come from.
	Date   string `json:"date"`
	Source string `json:"source"`
	Rows   []Row  `json:"models"`

	own []Row // the person's, which go before all
}

// With returns a table in which the person's own rows go before these. A row that gives no window or no price
// leaves that to the others.
func (t Table) With(own []Row) (Table, error) {
	if err := check(own); err != nil {
		return Table{}, err
	}
	t.own = slices.Concat(own, t.own)
	return t, nil
}

// Row says what the models of a pattern hold and cost. Money is USD per million tokens; a missing
// cache price is the input price.
type Row struct {
	// Match is a glob over the lower-case model name without a provider's prefix: "gpt-5*".
	Match string `json:"match"`
	// Above makes the prices stand only for requests with more input tokens than this.
	Above int64 `json:"above,omitempty"`

	Window int64 `json:"window,omitempty"`
	// Long is the window where the request asks for the long one.
	Long int64 `json:"long,omitempty"`

	Input  float64 `json:"input,omitempty"`
	Output float64 `json:"output,omitempty"`
	// Free is set where the prices are 0 because nothing is to be paid, not because they are unknown.
	Free        bool     `json:"free,omitempty"`
	CacheRead   *float64 `json:"cacheRead,omitempty"`
	CacheWrite  *float64 `json:"cacheWrite,omitempty"`
	CacheWriteH *float64 `json:"cacheWrite1h,omitempty"`
}

// Tokens is what one response used; the kinds of input are disjoint.
type Tokens struct {
	Input, CacheRead, CacheWrite, CacheWriteHr, Output int64
}

func (t Tokens) in() int64 { return t.Input + t.CacheRead + t.CacheWrite }

// Builtin returns the table that comes with the program.
func Builtin() (Table, error) { return Parse(builtin) }

// Parse reads a table and checks it.
func Parse(b []byte) (Table, error) {
	var t Table
	if err := json.Unmarshal(b, &t); err != nil {
		return Table{}, fmt.Errorf("read model table: %w", err)
	}
	if err := check(t.Rows); err != nil {
		return Table{}, fmt.Errorf("read model table: %w", err)
	}
	return t, nil
}

func check(rows []Row) error {
	for i, r := range rows {
		if _, err := path.Match(r.Match, ""); err != nil || r.Match == "" {
			return fmt.Errorf("row %d: bad pattern %q", i+1, r.Match)
		}
		for _, n := range []float64{float64(r.Window), float64(r.Long), r.Input, r.Output, or(r.CacheRead, 0), or(r.CacheWrite, 0)} {
			if n < 0 {
				return fmt.Errorf("row %d (%s): negative number", i+1, r.Match)
			}
		}
	}
	return nil
}

// Window returns how many tokens a model holds, 0 when it is unknown. The person's own rows win over what the
// agent is configured with, by model or pattern, and that wins over the table. long is set where the request asked
// for the long window; used is what the context held, which tells of a long window by itself when it does not fit
// the short one.
func (t Table) Window(model string, long bool, used int64, agents map[string]int64) int64 {
	name := bare(model)
	if n := window(t.own, name, long, used); n > 0 {
		return n
	}
	if n := agents[model]; n > 0 {
		return n
	}
	for _, match := range slices.Sorted(maps.Keys(agents)) {
		if r := (Row{Match: bare(match)}); agents[match] > 0 && r.matches(name) {
			return agents[match]
		}
	}
	return window(t.Rows, name, long, used)
}

func window(rows []Row, name string, long bool, used int64) int64 {
	for _, r := range rows {
		if r.Window == 0 || !r.matches(name) {
			continue
		}
		if r.Long > 0 && (long || strings.HasSuffix(name, "[1m]") || used > r.Window) {
			return r.Long
		}
		return r.Window
	}
	return 0
}

// Cost returns the price of a response in USD, and whether the model has one.
func (t Table) Cost(model string, n Tokens) (usd float64, priced bool) {
	name := bare(model)
	if r, ok := price(t.own, name, n.in()); ok {
		return r.cost(n), true
	}
	if r, ok := price(t.Rows, name, n.in()); ok {
		return r.cost(n), true
	}
	return 0, false
}

// price returns the first row that prices a request with so many input tokens.
func price(rows []Row, name string, in int64) (Row, bool) {
	for _, r := range rows {
		if (r.Free || r.Input > 0 || r.Output > 0) && (r.Above == 0 || in > r.Above) && r.matches(name) {
			return r, true
		}
	}
	return Row{}, false
}

// cost returns what a response costs by the row's prices, in USD.
func (r Row) cost(n Tokens) float64 {
	write := or(r.CacheWrite, r.Input)
	sum := float64(n.Input)*r.Input +
		float64(n.CacheRead)*or(r.CacheRead, r.Input) +
		float64(n.CacheWrite-n.CacheWriteHr)*write +
		float64(n.CacheWriteHr)*or(r.CacheWriteH, write) +
		float64(n.Output)*r.Output
	return sum / 1e6
}

func or(p *float64, otherwise float64) float64 {
	if p == nil {
		return otherwise
	}
	return *p
}

func (r Row) matches(name string) bool {
	ok, _ := path.Match(r.Match, strings.TrimSuffix(name, "[1m]")) // patterns were checked
	return ok
}

// bare returns a model's name without what providers and clouds put around it:
// "us.anthropic.claude-opus-4-5-20251101-v1:0", "anthropic/claude-opus-4.5", "models/gemini-2.5-pro".
func bare(model string) string {
	name := strings.ToLower(model)
	name = name[strings.LastIndexByte(name, '/')+1:]
	if at := strings.Index(name, "claude"); at >= 0 {
		name = strings.ReplaceAll(name[at:], ".", "-")
	}
	return name
}
