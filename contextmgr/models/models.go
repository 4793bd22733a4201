// Package models knows the prices and context windows of models, from a small table.
//
// The table is data, with its date and source. A model that matches no row has no price and no window, and the caller
// is told so: the package never guesses. Prices are list prices of the standard tier; discounts and batch rates are not
// included.
package models

import (
	_ "embed" // the table
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pkoukk/tiktoken-go"
)

//go:embed models.json
var builtin []byte

// Table is a list of rows; the first match wins. It is immutable.
type Table struct {
	// Date and Source are the rows' origin.
	Date   string `json:"date"`
	Source string `json:"source"`
	Rows   []Row  `json:"models"`

	own []Row // the person's, which take precedence
}

// With returns a table in which the person's own rows take precedence. For a window or price that a row does not set,
// the next matching row is used.
func (t Table) With(own []Row) (Table, error) {
	if err := check(own); err != nil {
		return Table{}, err
	}
	t.own = slices.Concat(own, t.own)
	return t, nil
}

// Row is the context window and the prices of the models that match a pattern. Prices are in USD per million tokens; a
// missing cache price is the input price.
type Row struct {
	// Match is a glob over the lower-case model name without a provider's prefix: "gpt-5*".
	Match string `json:"match"`
	// Above limits the prices to requests with more input tokens than this.
	Above int64 `json:"above,omitempty"`

	// Encoding is the name of the encoding by which tokens are counted.
	Encoding string `json:"encoding,omitempty"`

	Window int64 `json:"window,omitempty"`
	// Long is the window for requests that ask for the long one.
	Long int64 `json:"long,omitempty"`

	Input  float64 `json:"input,omitempty"`
	Output float64 `json:"output,omitempty"`
	// Free means that the prices are 0 because the model is free, not because they are unknown.
	Free      bool     `json:"free,omitempty"`
	CacheRead *float64 `json:"cacheRead,omitempty"`
	// CacheWrite is the price of the usual writes to a cache, CacheWriteH that of writes for an hour. Without the second,
	// a row whose writes cost more than input charges twice the input price for them, any other what writes cost.
	CacheWrite  *float64 `json:"cacheWrite,omitempty"`
	CacheWriteH *float64 `json:"cacheWrite1h,omitempty"`
}

// Tokens is the usage of one response. The kinds of input are disjoint, except that CacheWriteHr is the part of
// CacheWrite that the cache keeps for an hour.
type Tokens struct {
	Input, CacheRead, CacheWrite, CacheWriteHr, Output int64
}

func (t Tokens) in() int64 { return t.Input + t.CacheRead + t.CacheWrite }

// Builtin returns the table that is embedded in the program.
func Builtin() (Table, error) { return Parse(builtin) }

// Parse reads and validates a table.
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
		for _, n := range []float64{
			float64(r.Window), float64(r.Long), r.Input, r.Output, or(r.CacheRead, 0), or(r.CacheWrite, 0),
			or(r.CacheWriteH, 0),
		} {
			if n < 0 {
				return fmt.Errorf("row %d (%s): negative number", i+1, r.Match)
			}
		}
	}
	return nil
}

// Window returns the context window of a model in tokens, 0 if unknown. The person's own rows take precedence over the
// agent's configuration (by model or pattern), and that over the table. long means that the request asked for the long
// window; used is the size of the context, which implies the long window if it exceeds the short one.
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

// Encoding returns the name of the encoding that counts a model's tokens: the first row's that has one, otherwise
// tiktoken's. For a model that neither knows, newer ones of OpenAI's and those of others, it is o200k_base.
func (t Table) Encoding(model string) string {
	name := bare(model)
	for _, r := range t.Rows {
		if r.Encoding != "" && r.matches(name) {
			return r.Encoding
		}
	}
	if encoding, ok := tiktoken.MODEL_TO_ENCODING[name]; ok {
		return encoding
	}
	for prefix, encoding := range tiktoken.MODEL_PREFIX_TO_ENCODING { // none begins with another
		if strings.HasPrefix(name, prefix) {
			return encoding
		}
	}
	return tiktoken.MODEL_O200K_BASE
}

// Cost returns the price of a response in USD, and whether the model's price is known.
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

// price returns the first row with a price for a request of that many input tokens.
func price(rows []Row, name string, in int64) (Row, bool) {
	for _, r := range rows {
		if (r.Free || r.Input > 0 || r.Output > 0) && (r.Above == 0 || in > r.Above) && r.matches(name) {
			return r, true
		}
	}
	return Row{}, false
}

// cost returns the price of a response by this row, in USD.
func (r Row) cost(n Tokens) float64 {
	hour := min(max(n.CacheWriteHr, 0), max(n.CacheWrite, 0))
	sum := float64(n.Input)*r.Input +
		float64(n.CacheRead)*or(r.CacheRead, r.Input) +
		float64(n.CacheWrite-hour)*or(r.CacheWrite, r.Input) +
		float64(hour)*r.writeHour() +
		float64(n.Output)*r.Output
	return sum / 1e6
}

// hourly is the price of writing to a cache for an hour, in prices of input, where the usual write costs more than
// input.
const hourly = 2

// writeHour returns the price of writing to a cache for an hour. Providers that charge more for the usual write than
// for input charge twice the price of input for an hour; a row without its own price, such as the person's, follows
// that.
func (r Row) writeHour() float64 {
	write := or(r.CacheWrite, r.Input)
	if write > r.Input {
		write = max(write, hourly*r.Input)
	}
	return or(r.CacheWriteH, write)
}

func or(p *float64, otherwise float64) float64 {
	if p == nil {
		return otherwise
	}
	return *p
}

func (r Row) matches(name string) bool {
	ok, _ := path.Match(r.Match, strings.TrimSuffix(name, "[1m]")) // patterns have been validated
	return ok
}

// bare returns a model's name without the prefixes and suffixes of providers and clouds:
// "us.anthropic.claude-opus-4-5-20251101-v1:0", "anthropic/claude-opus-4.5", "models/gemini-2.5-pro".
func bare(model string) string {
	name := strings.ToLower(model)
	name = name[strings.LastIndexByte(name, '/')+1:]
	if at := strings.Index(name, "claude"); at >= 0 {
		name = strings.ReplaceAll(name[at:], ".", "-")
	}
	return name
}
