package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"orchestrator/ui/intent"
)

// checkKeys says all that is wrong with a table of keys: actions that there are not, and keys with two meanings. at says
// where an action is set.
func checkKeys(table any, at func(action string) string) error {
	if table == nil {
		return nil
	}
	fields, ok := table.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: \"keys\" should be a table of actions and their keys", at("keys"))
	}
	own := map[string]string{}
	var errs []error
	for _, action := range slices.Sorted(maps.Keys(fields)) {
		keys, ok := fields[action].(string)
		if !ok {
			errs = append(errs, fmt.Errorf("%s: %q is %v, and should be keys in quotes such as \"f\" or \"ctrl+f F\"",
				at(action), "keys."+action, fields[action]))
			continue
		}
		own[action] = keys
	}
	for _, w := range intent.Check(keysOf(own)) {
		// A clash is where the person set a key: at a default's neighbour there is no line to correct.
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
