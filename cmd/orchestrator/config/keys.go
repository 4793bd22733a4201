package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"orchestrator/ui/intent"
)

// setKeys takes over a table of keys, such as fork = "f ctrl+f". It finds unknown actions and keys with two meanings.
func setKeys(c *Config, v any, at func(path ...string) string) error {
	fields, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: \"keys\" must be a table of actions and their keys", at("keys"))
	}
	own := map[string][]string{}
	var errs []error
	for _, action := range slices.Sorted(maps.Keys(fields)) {
		keys, ok := fields[action].(string)
		if !ok {
			errs = append(errs, fmt.Errorf("%s: %q is %v, but must be keys in quotes, such as \"f\" or \"ctrl+f F\"",
				at("keys", action), "keys."+action, fields[action]))
			continue
		}
		own[action] = strings.Fields(keys)
	}
	for _, w := range intent.Check(own) {
		// Report a clash where the person set a key: defaults have no line to correct.
		i := slices.IndexFunc(w.Actions, func(a intent.Action) bool { _, set := own[string(a)]; return set })
		errs = append(errs, fmt.Errorf("%s: %w", at("keys", string(w.Actions[max(i, 0)])), w))
	}
	maps.Copy(c.Keys, own)
	return errors.Join(errs...)
}
