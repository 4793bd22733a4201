package manifest

import (
	"context"
	"encoding/json"
	"fmt"
)

const (
	maxPages = 1000
	// maxListed and maxListBytes are how much of a list is read at all.
	maxListed    = 200_000
	maxListBytes = 64 << 20
)

// Caller sends a request to a server.
type Caller func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)

// List reads a list to its end: the entries under key of the results of method. A list that does not end is cut, and
// the problem says so.
func List(ctx context.Context, call Caller, method, key string) (entries []json.RawMessage, problem string, err error) {
	seen := make(map[string]bool)
	params := json.RawMessage("{}")
	size := 0
	for range maxPages {
		result, err := call(ctx, method, params)
		if err != nil {
			return nil, "", fmt.Errorf("list: %w", err)
		}
		var page map[string]json.RawMessage
		if err := json.Unmarshal(result, &page); err != nil {
			return nil, "", fmt.Errorf("result of %s: %w", method, err)
		}
		var here []json.RawMessage
		if raw, ok := page[key]; ok {
			if err := json.Unmarshal(raw, &here); err != nil {
				return nil, "", fmt.Errorf("%s in the result of %s: %w", key, method, err)
			}
		}
		for _, e := range here {
			size += len(e)
		}
		entries = append(entries, here...)
		if len(entries) > maxListed || size > maxListBytes {
			return entries, fmt.Sprintf("%s was cut after %d entries", method, len(entries)), nil
		}
		var cursor string
		if raw, ok := page["nextCursor"]; ok && json.Unmarshal(raw, &cursor) != nil {
			return entries, fmt.Sprintf("%s was cut: its cursor is not a string", method), nil
		}
		if cursor == "" {
			return entries, "", nil
		}
		if seen[cursor] {
			return entries, fmt.Sprintf("%s was cut: its pages repeat", method), nil
		}
		seen[cursor] = true
		if params, err = json.Marshal(map[string]string{"cursor": cursor}); err != nil {
			return nil, "", fmt.Errorf("list: %w", err)
		}
	}
	return entries, fmt.Sprintf("%s was cut after %d pages", method, maxPages), nil
}
