package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"orchestrator/contextmgr/policy"
)

// maskRules reads the table of rules for masking, by tool. at returns where a key of a tool is set.
func maskRules(value any, at func(tool, key string) string) ([]policy.Rule, error) {
	if value == nil {
		return nil, nil
	}
	all, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: \"masking_tools\" must be a table, such as [masking_tools.\"mcp__docs__*\"] with keep = true", at("", ""))
	}
	var rules []policy.Rule
	var errs []error
	for _, tool := range slices.Sorted(maps.Keys(all)) {
		rule, key, err := maskRule(tool, all[tool])
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: masking_tools.%q: %w", at(tool, key), tool, err))
			continue
		}
		rules = append(rules, rule)
	}
	return rules, errors.Join(errs...)
}

// maskRule reads a rule. An error is about a key, or about the whole rule.
func maskRule(tool string, value any) (rule policy.Rule, key string, err error) {
	rule.Tool = tool
	fields, ok := value.(map[string]any)
	switch {
	case !ok:
		return rule, "", errors.New("must be a table, such as { keep = true }")
	case !rule.Valid():
		return rule, "", errors.New("is not a name of a tool, with * for any text")
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		v := fields[key]
		n, number := v.(int64)
		number = number && n >= 0 && n <= mostRule
		switch key {
		case "keep":
			if rule.Keep, ok = v.(bool); !ok {
				return rule, key, fmt.Errorf("%q is %v, but must be true or false", key, v)
			}
		case "min_tokens":
			if rule.MinTokens = n; !number {
				return rule, key, fmt.Errorf("%q is %v, but must be a whole number, 0 to %d", key, v, mostRule)
			}
		case "keep_last":
			if rule.KeepLast = int(n); !number {
				return rule, key, fmt.Errorf("%q is %v, but must be a whole number, 0 to %d", key, v, mostRule)
			}
		default:
			return rule, key, fmt.Errorf("unknown key %q; known keys: keep, keep_last, min_tokens", key)
		}
	}
	if rule == (policy.Rule{Tool: tool}) {
		return rule, "", errors.New("keeps nothing: set keep = true, keep_last or min_tokens")
	}
	return rule, "", nil
}

// mostRule is the largest number in a rule.
const mostRule = 1_000_000_000

// lineOfRule finds the line that sets a key of a tool's rule, or that begins the rule or the table of all.
func lineOfRule(content []byte, tool, key string) int {
	table, begins, last, whole := "", 0, 0, 0
	for i, line := range strings.Split(string(content), "\n") {
		line = strings.TrimSpace(line)
		name, _, sets := strings.Cut(line, "=")
		name = strings.TrimSpace(name)
		switch header := strings.HasPrefix(line, "["); {
		case header:
			table = strings.TrimSpace(strings.Trim(strings.SplitN(line, "#", 2)[0], "[] \t"))
			name = table
		case !sets:
			continue
		case table != "":
			name = table + "." + name
		}
		parts := strings.SplitN(name, ".", 2)
		if strings.Trim(parts[0], `"' `) != "masking_tools" {
			continue
		}
		if whole == 0 {
			whole = i + 1
		}
		rest, ok := strings.CutPrefix(unquoted(strings.Join(parts[1:], "")), tool)
		switch {
		case !ok || tool == "":
		case rest == "" && begins == 0:
			begins = i + 1
		case key != "" && strings.Trim(rest, `."' `) == key:
			last = i + 1
		}
	}
	for _, n := range []int{last, begins, whole} {
		if n > 0 {
			return n
		}
	}
	return 1
}

// unquoted returns a dotted key without the quotes around its first name.
func unquoted(name string) string {
	name = strings.TrimSpace(name)
	for _, quote := range []string{`"`, "'"} {
		if inner, ok := strings.CutPrefix(name, quote); ok {
			first, rest, _ := strings.Cut(inner, quote)
			return first + rest
		}
	}
	return name
}
