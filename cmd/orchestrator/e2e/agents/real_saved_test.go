package agents

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"slices"
	"testing"

	"orchestrator/agent/agenttest/model"
	"orchestrator/contextmgr/models"
)

// savedAs recomputes from the bodies that a provider got what masking has saved, in US dollars: each request is priced
// as it was and with what is masked put back, and what it has in common with the one before is read from the cache, in
// the order in which providers cache: tools and the system prompt, then one item after the other. A token is as many
// bytes as the product takes it for in the mean. A model without a price saves nothing that is known.
func savedAs(t *testing.T, name string, bodies []model.Request, bytesPerToken float64) (saved float64, priced bool) {
	t.Helper()
	table, err := models.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := table.Cost(name, models.Tokens{Input: 1000}); !ok {
		return 0, false
	}
	usd := func(tokens models.Tokens) float64 {
		v, _ := table.Cost(name, tokens)
		return v / 1000
	}
	read, write := usd(models.Tokens{CacheRead: 1000}), usd(models.Tokens{CacheWrite: 1000})
	cost := func(change func([]byte) []byte) (total float64) {
		var before []string
		for _, q := range bodies {
			pieces := cachedInOrder(t, change(q.Body))
			same := true
			for i, p := range pieces {
				same = same && i < len(before) && before[i] == p
				price := write
				if same {
					price = read
				}
				total += price * float64(len(p)) / bytesPerToken
			}
			before = pieces
		}
		return total
	}
	full := func(body []byte) []byte {
		return masked.ReplaceAllFunc(body, func(stub []byte) []byte {
			content, err := os.ReadFile(string(masked.FindSubmatch(stub)[1]))
			if err != nil {
				t.Fatal(err)
			}
			quoted, err := json.Marshal(string(content))
			if err != nil {
				t.Fatal(err)
			}
			return quoted[1 : len(quoted)-1]
		})
	}
	return cost(full) - cost(func(b []byte) []byte { return b }), true
}

// cachedInOrder cuts a request into what providers cache, in their order: everything but the items, then each item.
// Where an agent wants the cache to be written is no part of it.
func cachedInOrder(t *testing.T, body []byte) []string {
	t.Helper()
	var members map[string]any
	if err := json.Unmarshal(body, &members); err != nil {
		t.Fatal(err)
	}
	var pieces []string
	var items []any
	for _, name := range slices.Sorted(maps.Keys(members)) {
		list, ok := members[name].([]any)
		switch {
		case ok && slices.Contains([]string{"messages", "input", "contents"}, name):
			items = list
		case slices.Contains([]string{"tools", "system", "instructions", "systemInstruction"}, name):
			pieces = append(pieces, plainJSON(t, members[name]))
		}
	}
	for _, item := range items {
		pieces = append(pieces, plainJSON(t, item))
	}
	return pieces
}

func plainJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(withoutMarks(v))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func withoutMarks(v any) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "cache_control")
		for k, in := range v {
			v[k] = withoutMarks(in)
		}
	case []any:
		for i, in := range v {
			v[i] = withoutMarks(in)
		}
	}
	return v
}

// nearly reports whether two sums of dollars are the same but for what estimates may differ.
func nearly(a, b float64) bool { return math.Abs(a-b) <= 0.02+0.3*max(math.Abs(a), math.Abs(b)) }
