package opencode

// table returns the table under a key, and creates it if it is missing.
func table(in map[string]any, key string) map[string]any {
	t, ok := in[key].(map[string]any)
	if !ok {
		t = map[string]any{}
		in[key] = t
	}
	return t
}
