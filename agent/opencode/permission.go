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

// permissionVar holds rules that opencode merges over those of all configuration files.
const permissionVar = "OPENCODE_PERMISSION"

// allowReading returns the environment that has ReadDirs read without a question and not edited. Of rules
// the last one that matches counts, so the order in which the person wrote theirs is kept.
func allowReading(env launch.Env, spec thread.LaunchSpec) (launch.Env, error) {
	if len(spec.ReadDirs) == 0 {
		return env, nil
	}
	var permission object
	if own := env.Value(permissionVar); own != "" {
		if err := json.Unmarshal(launch.Plain([]byte(own)), &permission); err != nil {
			return nil, fmt.Errorf("read %s: %w", permissionVar, err)
		}
	}
	words := words(env, spec)
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

// rules returns the table under a key. One word stands for everything: it becomes the first rule, because
// merged, a table of ours would replace it. The word is that of files where there is none here.
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

// relative is the pattern of a folder's files for rules of editing: opencode matches them against the path
// from the worktree, "../" and all, so only the end of the path is sure to stand in it.
func relative(dir string) string {
	const enough = 3
	parts := strings.Split(strings.Trim(filepath.ToSlash(filepath.Clean(dir)), "/"), "/")
	return "*" + strings.Join(parts[max(0, len(parts)-enough):], "/") + "/*"
}

// words returns the permissions that are one word for everything in what opencode merges before: the
// person's own files, the project's, and the configuration in the environment. What comes later replaces
// what came before.
func words(env launch.Env, spec thread.LaunchSpec) map[string]string {
	paths := personal(env)
	if !env.On("OPENCODE_DISABLE_PROJECT_CONFIG") {
		for _, folder := range upwards(spec.Dir) {
			for _, name := range []string{"opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"} {
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
		if json.Unmarshal(launch.Plain(raw), &c) != nil || json.Unmarshal(c.Permission, &rules) != nil {
			continue
		}
		for key, rule := range rules {
			var word string
			if json.Unmarshal(rule, &word) == nil {
				found[key] = word
			} else {
				delete(found, key) // a table, which merges with ours
			}
		}
	}
	return found
}

// upwards returns the folders from the root of the repository down to dir, or from the root of all.
func upwards(dir string) []string {
	var all []string
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		all = append(all, at)
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil || at == filepath.Dir(at) {
			slices.Reverse(all)
			return all
		}
	}
}

// object is a JSON object in the order in which it was written.
type object []field

type field struct {
	key   string
	value json.RawMessage
}

// set puts a value last, in place of one of that key.
func (o *object) set(key string, value any) {
	raw, err := json.Marshal(value)
	if err != nil {
		panic("opencode: " + err.Error()) // only strings and objects come here
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
