package bundle

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"orchestrator/thread/work"
)

// From which size on an item should be looked at, or made smaller; and data that an agent should be given a token of.
const (
	ReviewAbove   = 20_000
	OptimizeAbove = 50_000
	InlineAbove   = 1_000
)

// Verdict says what to do with an item.
type Verdict string

// The verdicts.
const (
	Keep     Verdict = "KEEP"
	Review   Verdict = "REVIEW"   // more than ReviewAbove
	Optimize Verdict = "OPTIMIZE" // more than OptimizeAbove
)

// Explained is what a bundle consists of, and how it could be smaller.
type Explained struct {
	Bundle    string          `json:"bundle_id"`
	Hash      string          `json:"hash,omitempty"`
	Total     int64           `json:"total_tokens"`
	Remaining int64           `json:"budget_remaining"`
	Items     []ExplainedItem `json:"context_items"`
	// Drop are the sources of what can be left out, the first first, and Frees how many tokens that is.
	Drop  []string `json:"drop_first"`
	Frees int64    `json:"frees_tokens"`
}

// ExplainedItem is an item, and what speaks against it.
type ExplainedItem struct {
	Source   string        `json:"source"`
	Sections []string      `json:"sections,omitempty"`
	Type     work.ItemType `json:"type"`
	Priority work.Priority `json:"priority"`
	Tokens   int64         `json:"token_count"`
	Share    float64       `json:"share"` // of the bundle, in percent
	Verdict  Verdict       `json:"verdict"`
	// Data is about how many tokens of it are data that is only looked up, Double what it is a double of.
	Data   int64  `json:"data_tokens,omitempty"`
	Double string `json:"double_of,omitempty"`
	Advice string `json:"advice,omitempty"`
	// Claimed is set if its content is not known, so that its count is what somebody says.
	Claimed bool `json:"claimed,omitempty"`
}

// Explain explains a bundle. Of items whose content is not among pieces, only what is known is said.
func Explain(k work.KeptBundle, pieces map[string][]byte) Explained {
	b := k.Bundle
	out := Explained{Bundle: b.ID, Hash: k.Hash, Total: b.Total, Remaining: b.Remaining, Drop: []string{}}
	seen, whole := map[string]string{}, map[string]string{}
	all := itemsOf(k)
	for _, it := range all {
		if len(it.form.Sections) == 0 && it.source != "" {
			whole[it.source] = it.form.Source
		}
	}
	for _, it := range all {
		f := it.form
		e := ExplainedItem{
			Source: f.Source, Sections: f.Sections, Type: f.Type, Priority: f.Priority, Tokens: f.Tokens, Verdict: verdict(f.Tokens),
			Claimed: it.piece == "",
		}
		if b.Total > 0 {
			e.Share = float64(int64(1000*float64(f.Tokens)/float64(b.Total)+0.5)) / 10
		}
		if e.Double = seen[it.key]; e.Double == "" && len(f.Sections) > 0 {
			e.Double = whole[it.source]
		}
		seen[it.key] = f.Source
		if content, ok := pieces[it.piece]; ok && len(content) > 0 {
			data := float64(dataBytes(f.Source, string(content)))
			if n := int64(data / float64(len(content)) * float64(f.Tokens)); n > InlineAbove {
				e.Data = n
			}
		}
		e.Advice = e.advice()
		out.Items = append(out.Items, e)
	}
	out.drop()
	return out
}

func verdict(tokens int64) Verdict {
	switch {
	case tokens > OptimizeAbove:
		return Optimize
	case tokens > ReviewAbove:
		return Review
	}
	return Keep
}

// advice says what would make an item smaller, "" if nothing need be done.
func (e ExplainedItem) advice() string {
	switch {
	case e.Double != "":
		return "it is in " + e.Double + " already: leave it out, or `bundle dedup`"
	case e.Data > 0 && len(e.Sections) == 0 && isData(e.Source):
		return fmt.Sprintf("data: `orchestrator stage <%s` and name its token, max:xxxxxxxx, in the scope", e.Source)
	case e.Data > 0:
		return "it has data inside: stage that, and name its token, max:xxxxxxxx, in its place"
	case e.Verdict == Optimize && len(e.Sections) == 0:
		return "take sections of it, or name its path and let the agent read what it needs"
	case e.Verdict == Review && len(e.Sections) == 0:
		return "see whether sections of it are enough"
	case e.Verdict != Keep:
		return "see whether fewer sections are enough"
	}
	return ""
}

// drop says what can be left out first: doubles, then what is recommended, the largest first.
func (e *Explained) drop() {
	left := slices.DeleteFunc(slices.Clone(e.Items), func(it ExplainedItem) bool {
		return it.Double == "" && it.Priority != work.Recommended
	})
	slices.SortStableFunc(left, func(a, b ExplainedItem) int {
		if (a.Double != "") != (b.Double != "") {
			if a.Double != "" {
				return -1
			}
			return 1
		}
		return int(b.Tokens - a.Tokens)
	})
	for _, it := range left {
		e.Drop = append(e.Drop, it.Source)
		e.Frees += it.Tokens
	}
}

// isData reports whether a file is data by its name.
func isData(source string) bool {
	return slices.Contains([]string{".json", ".ndjson", ".jsonl", ".csv", ".tsv", ".xml", ".log", ".sql", ".lock", ".svg"}, strings.ToLower(path.Ext(source)))
}

// leastData is the size in bytes from which on a block within a text is looked at.
const leastData = 2 << 10

// dataBytes returns how many bytes of a content are data rather than text to be read.
func dataBytes(source, text string) int {
	if isData(source) || json.Valid([]byte(text)) {
		return len(text)
	}
	sum := 0
	inside, fence, size := false, "", 0
	for line := range strings.Lines(text) {
		bare := strings.Trim(line, " \t\r\n")
		switch {
		case !inside && opens(bare) != "":
			inside, fence, size = dataLanguage(bare), opens(bare), 0
			if !inside { // code: up to its end it is none
				fence = ""
			}
		case inside && closes(bare, fence):
			inside = false
			if size >= leastData {
				sum += size
			}
		case inside:
			size += len(line)
		case len(bare) >= leastData && !strings.Contains(bare, " "):
			sum += len(line)
		}
	}
	return sum
}

// dataLanguage reports whether a fence opens data.
func dataLanguage(bare string) bool {
	word := strings.ToLower(strings.TrimSpace(strings.TrimLeft(bare, "`~")))
	return slices.Contains([]string{"json", "jsonl", "ndjson", "csv", "tsv", "xml", "log", "text", "txt", "console", "output"}, word)
}
