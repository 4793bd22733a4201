package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"orchestrator/contextmgr/policy"
)

// setMaskingTools takes over the table of rules for masking, by tool.
func setMaskingTools(c *Config, v any, at func(path ...string) string) error {
	const table = "masking_tools"
	all, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: %q must be a table, such as [masking_tools.\"mcp__docs__*\"] with keep = true", at(table), table)
	}
	var errs []error
	for _, tool := range slices.Sorted(maps.Keys(all)) {
		rule, key, err := maskRule(tool, all[tool])
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: masking_tools.%q: %w", at(table, tool, key), tool, err))
			continue
		}
		c.MaskingTools = append(c.MaskingTools, rule)
	}
	return errors.Join(errs...)
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

// Mode returns the settings of a mode of masking as configured.
func (c Config) Mode(mode policy.Mode) policy.Settings {
	s := policy.Defaults(mode)
	if c.MaskingTokens > 0 {
		s.TriggerTokens = int64(c.MaskingTokens)
	}
	s.Rules = c.MaskingTools
	return s
}

// Rules returns the rules by tool, those of the setting masking_keep first.
func (c Config) Rules() []policy.Rule {
	var all []policy.Rule
	for _, tool := range c.MaskingKeep {
		all = append(all, policy.Rule{Tool: tool, Keep: true})
	}
	return append(all, c.MaskingTools...)
}
