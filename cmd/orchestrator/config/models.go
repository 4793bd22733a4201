package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"orchestrator/contextmgr/models"
)

// setModels takes over the table of the person's own windows and prices. By model, or by a pattern such as "qwen3*", it
// has the window in tokens and the prices in USD per million tokens.
func setModels(c *Config, v any, at func(path ...string) string) error {
	all, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: %q must be a table, such as [models.\"qwen3*\"] with window = 131072", at("models"), "models")
	}
	var rows []models.Row
	// The longest patterns first: they are the most specific.
	names := slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b))
	})
	for _, name := range names {
		row, err := modelRow(name, all[name])
		if err == nil {
			_, err = (models.Table{}).With([]models.Row{row})
		}
		if err != nil {
			return fmt.Errorf("%s: %w", at("models", name), err)
		}
		rows = append(rows, row)
	}
	c.Models = append(rows, c.Models...)
	return nil
}

func modelRow(name string, value any) (models.Row, error) {
	fields, ok := value.(map[string]any)
	if !ok {
		return models.Row{}, fmt.Errorf("models.%q must be a table, such as { window = 131072 }", name)
	}
	row := models.Row{Match: strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])}
	prices := map[string]*float64{"input": &row.Input, "output": &row.Output}
	for _, p := range []struct {
		key   string
		field **float64
	}{{"cache_read", &row.CacheRead}, {"cache_write", &row.CacheWrite}} {
		if _, set := fields[p.key]; set {
			*p.field = new(float64)
			prices[p.key] = *p.field
		}
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		n, ok := number64(fields[key])
		if !ok || n < 0 {
			return models.Row{}, fmt.Errorf("models.%q: %q is %v, but must be a number, 0 or more", name, key, fields[key])
		}
		switch price := prices[key]; {
		case key == "window":
			row.Window = int64(n)
		case price != nil:
			*price = n
		default:
			return models.Row{}, fmt.Errorf(
				"models.%q: unknown key %q; known keys: cache_read, cache_write, input, output, window", name, key)
		}
	}
	_, in := fields["input"]
	_, out := fields["output"]
	row.Free = in && out && row.Input == 0 && row.Output == 0
	return row, nil
}

func number64(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, n == n
	default:
		return 0, false
	}
}
