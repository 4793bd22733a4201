package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"orchestrator/ui/intent"
)

// checkKeys validates a table of keys: it finds unknown actions and keys with two meanings. at returns where an action
// is set.
func checkKeys(table any, at func(action string) string) error {
	if table == nil {
		return nil
	}
	fields, ok := table.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: \"keys\" must be a table of actions and their keys", at("keys"))
	}
	own := map[string]string{}
	var errs []error
	for _, action := range slices.Sorted(maps.Keys(fields)) {
		keys, ok := fields[action].(string)
		if !ok {
			errs = append(errs, fmt.Errorf("%s: %q is %v, but must be keys in quotes, such as \"f\" or \"ctrl+f F\"",
				at(action), "keys."+action, fields[action]))
			continue
		}
		own[action] = keys
	}
	for _, w := range intent.Check(keysOf(own)) {
		// Report a clash where the user set a key: defaults have no line to correct.
		i := slices.IndexFunc(w.Actions, func(a intent.Action) bool { _, set := own[string(a)]; return set })
		errs = append(errs, fmt.Errorf("%s: %w", at(string(w.Actions[max(i, 0)])), w))
	}
	return errors.Join(errs...)
}

// keysOf splits the configured keys: "fork" = "f ctrl+f".
func keysOf(configured map[string]string) map[string][]string {
	keys := map[string][]string{}
	for action, list := range configured {
		keys[action] = strings.Fields(list)
	}
	return keys
}
