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
	"path"
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

	Input       float64  `json:"input,omitempty"`
	Output      float64  `json:"output,omitempty"`
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
	for i, r := range t.Rows {
		if _, err := path.Match(r.Match, ""); err != nil || r.Match == "" {
			return Table{}, fmt.Errorf("read model table: row %d: bad pattern %q", i+1, r.Match)
		}
		if r.Input < 0 || r.Output < 0 || r.Window < 0 || r.Long < 0 {
			return Table{}, fmt.Errorf("read model table: row %d (%s): negative number", i+1, r.Match)
		}
	}
	return t, nil
}

// Window returns how many tokens a model holds, 0 when it is unknown. long is set where the
// request asked for the long window; used is what the context held, which tells of a long window
// by itself when it does not fit the short one.
func (t Table) Window(model string, long bool, used int64) int64 {
	name := bare(model)
	for _, r := range t.Rows {
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
	for _, r := range t.Rows {
		if r.Input == 0 && r.Output == 0 || n.in() <= r.Above && r.Above > 0 || !r.matches(name) {
			continue
		}
		write := or(r.CacheWrite, r.Input)
		sum := float64(n.Input)*r.Input +
			float64(n.CacheRead)*or(r.CacheRead, r.Input) +
			float64(n.CacheWrite-n.CacheWriteHr)*write +
			float64(n.CacheWriteHr)*or(r.CacheWriteH, write) +
			float64(n.Output)*r.Output
		return sum / 1e6, true
	}
	return 0, false
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
