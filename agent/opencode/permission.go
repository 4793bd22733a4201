package opencode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// permissionVar contains rules that take precedence over those of all configuration files.
const permissionVar = "OPENCODE_PERMISSION"

// allowReading returns the environment that lets ReadDirs be read without asking but not edited. The last rule that
// matches counts, so the order of the person's rules is kept.
func allowReading(env launch.Env, spec thread.LaunchSpec) (launch.Env, error) {
	if len(spec.ReadDirs) == 0 {
		return env, nil
	}
	var permission object
	if own := env.Value(permissionVar); own != "" {
		if err := json.Unmarshal(launch.StripComments([]byte(own)), &permission); err != nil {
			return nil, fmt.Errorf("read %s: %w", permissionVar, err)
		}
	}
	words := globalWords(env, spec)
	for _, key := range []string{"external_directory", "edit"} {
		rules, err := permission.rules(key, words[key])
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", permissionVar, err)
		}
		for _, dir := range spec.ReadDirs {
			if key == "edit" {
				rules.set(relative(dir), "deny")
			} else {
				rules.set(filepath.Clean(dir)+"/*", "allow")
			}
		}
		permission.set(key, rules)
	}
	raw, err := json.Marshal(permission)
	if err != nil {
		return nil, err
	}
	return env.With(permissionVar, string(raw)), nil
}

// rules returns the table of rules under a key. A single word applies to everything: it becomes the first rule, because
// a table of ours would replace it when merged. word is used if there is no such key.
func (o object) rules(key, word string) (object, error) {
	i := slices.IndexFunc(o, func(f field) bool { return f.key == key })
	if i < 0 {
		if word == "" {
			return nil, nil
		}
		var rules object
		rules.set("*", word)
		return rules, nil
	}
	if json.Unmarshal(o[i].value, &word) == nil {
		var rules object
		rules.set("*", word)
		return rules, nil
	}
	var rules object
	err := json.Unmarshal(o[i].value, &rules)
	return rules, err
}

// relative returns the pattern for a folder's files in rules for editing: opencode matches it against the path relative
// to the worktree, including "../", so only the end of that path is certain.
func relative(dir string) string {
	const enough = 3
	parts := strings.Split(strings.Trim(filepath.ToSlash(filepath.Clean(dir)), "/"), "/")
	return "*" + strings.Join(parts[max(0, len(parts)-enough):], "/") + "/*"
}

// globalWords returns the permissions that are a single word in the configuration that opencode merges first: the
// person's own files, the project's, and the configuration in the environment. Later ones take precedence.
func globalWords(env launch.Env, spec thread.LaunchSpec) map[string]string {
	paths := userFiles(env)
	if !env.Enabled("OPENCODE_DISABLE_PROJECT_CONFIG") {
		for _, folder := range ancestors(spec.Dir) {
			for _, name := range []string{
				"opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc",
			} {
				paths = append(paths, filepath.Join(folder, name))
			}
		}
	}
	var raws [][]byte
	for _, path := range paths {
		if raw, err := os.ReadFile(path); err == nil {
			raws = append(raws, raw)
		}
	}
	found := map[string]string{}
	for _, raw := range append(raws, []byte(env.Value("OPENCODE_CONFIG_CONTENT"))) {
		var c struct {
			Permission json.RawMessage `json:"permission"`
		}
		var rules map[string]json.RawMessage
		if json.Unmarshal(launch.StripComments(raw), &c) != nil || json.Unmarshal(c.Permission, &rules) != nil {
			continue
		}
		for key, rule := range rules {
			var word string
			if json.Unmarshal(rule, &word) == nil {
				found[key] = word
			} else {
				delete(found, key) // a table, which is merged with ours
			}
		}
	}
	return found
}

// ancestors returns the folders from the root of the repository, or of the file system, down to dir.
func ancestors(dir string) []string {
	var all []string
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		all = append(all, at)
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil || at == filepath.Dir(at) {
			slices.Reverse(all)
			return all
		}
	}
}

// object is a JSON object that keeps the order of its fields.
type object []field

type field struct {
	key   string
	value json.RawMessage
}

// set appends a field, and removes an earlier one with the same key.
func (o *object) set(key string, value any) {
	raw, err := json.Marshal(value)
	if err != nil {
		panic("opencode: " + err.Error()) // only strings and objects are passed
	}
	*o = append(slices.DeleteFunc(*o, func(f field) bool { return f.key == key }), field{key, raw})
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *object) UnmarshalJSON(raw []byte) error {
	in := json.NewDecoder(bytes.NewReader(raw))
	if t, err := in.Token(); err != nil || t != json.Delim('{') {
		return errors.Join(errors.New("not a JSON object"), err)
	}
	*o = nil
	for in.More() {
		t, err := in.Token()
		if err != nil {
			return err
		}
		key, _ := t.(string)
		var value json.RawMessage
		if err := in.Decode(&value); err != nil {
			return err
		}
		*o = append(*o, field{key, value})
	}
	return nil
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, f := range o {
		if i > 0 {
			out.WriteByte(',')
		}
		key, err := json.Marshal(f.key)
		if err != nil {
			return nil, err
		}
		out.Write(key)
		out.WriteByte(':')
		out.Write(f.value)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}
