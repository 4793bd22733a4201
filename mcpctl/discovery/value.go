package discovery

import (
	"strconv"
	"time"

	"orchestrator/mcpctl/jsonc"
)

// The functions below take a value into a field; they return what it must be if it is something else.

func text(to *string, v jsonc.Value) string {
	if v.Kind != jsonc.String {
		return "a text"
	}
	*to, _ = v.Text()
	return ""
}

func boolean(to **bool, v jsonc.Value) string {
	if v.Kind != jsonc.Bool {
		return "true or false"
	}
	s, _ := v.Text()
	b := s == "true"
	*to = &b
	return ""
}

func list(to *[]string, v jsonc.Value) string {
	all, ok := texts(v)
	if !ok {
		return "a list of texts"
	}
	*to = all
	return ""
}

func texts(v jsonc.Value) ([]string, bool) {
	if v.Kind != jsonc.Array {
		return nil, false
	}
	var out []string
	for _, item := range v.Items() {
		s, ok := item.Text()
		if !ok {
			return nil, false
		}
		out = append(out, s)
	}
	return out, true
}

// pairs takes an object of texts; numbers and booleans are taken as they are written.
func pairs(to *map[string]string, v jsonc.Value) string {
	if v.Kind != jsonc.Object {
		return "an object of texts"
	}
	out := make(map[string]string)
	for _, m := range v.Members() {
		s, ok := m.Value.Text()
		if _, twice := out[m.Key]; !ok || twice {
			return "an object of texts with different names"
		}
		out[m.Key] = s
	}
	*to = out
	return ""
}

// number takes a number of a unit of time.
func number(to *time.Duration, unit time.Duration, v jsonc.Value) string {
	const must = "a number that is not negative"
	s, _ := v.Text()
	n, err := strconv.ParseFloat(s, 64)
	if v.Kind != jsonc.Number || err != nil || !(n >= 0 && n <= 1e9) {
		return must
	}
	*to = time.Duration(n * float64(unit))
	return ""
}

func duration(to *time.Duration, v jsonc.Value) string {
	s, _ := v.Text()
	found, err := time.ParseDuration(s)
	if v.Kind != jsonc.String || err != nil || found < 0 {
		return `a time such as "30s" or "10m"`
	}
	*to = found
	return ""
}
