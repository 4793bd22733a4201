package launch

import (
	"path/filepath"
	"slices"
	"strings"

	"orchestrator/thread"
)

// Env is an environment of KEY=VALUE entries; the last entry of a key counts.
type Env []string

// The name of our program in LaunchSpec.Bin, and of the variable with its absolute path.
const (
	ProgramName = "orchestrator"
	ProgramVar  = "ORCHESTRATOR_BIN"
)

// standardPath is where shells search for programs if PATH is not set.
const standardPath = "/usr/local/bin:/usr/bin:/bin"

// Environment returns the environment in which an agent is started: the thread's environment with the additions of its
// flags, our program first on PATH, and its absolute path in ORCHESTRATOR_BIN for shells that reset PATH.
func Environment(spec thread.LaunchSpec) Env {
	env := Env(spec.Env).Adding(spec.Flags.Env)
	if !filepath.IsAbs(spec.Bin) {
		return env
	}
	env = env.With(ProgramVar, filepath.Join(spec.Bin, ProgramName))
	if strings.ContainsRune(spec.Bin, filepath.ListSeparator) {
		return env // cannot be part of a PATH
	}
	path, ok := env.Lookup("PATH")
	if !ok {
		path = standardPath
	}
	folders := []string{spec.Bin}
	if path != "" {
		isBin := func(folder string) bool { return folder == spec.Bin }
		// An empty entry means the working folder and is kept.
		folders = append(folders, slices.DeleteFunc(strings.Split(path, string(filepath.ListSeparator)), isBin)...)
	}
	return env.With("PATH", strings.Join(folders, string(filepath.ListSeparator)))
}

// Value returns a variable's value, empty if it is not set.
func (e Env) Value(key string) string {
	v, _ := e.Lookup(key)
	return v
}

// Lookup returns a variable's value and whether it is set.
func (e Env) Lookup(key string) (string, bool) {
	for _, kv := range slices.Backward(e) {
		if k, v, ok := strings.Cut(kv, "="); ok && k == key {
			return v, true
		}
	}
	return "", false
}

// Enabled reports whether a variable is set to something other than a negative value.
func (e Env) Enabled(key string) bool {
	switch strings.ToLower(e.Value(key)) {
	case "", "0", "false", "no", "off":
		return false
	default:
		return true
	}
}

// With returns a copy with a variable set.
func (e Env) With(key, value string) Env {
	return append(e.Without(key), key+"="+value)
}

// Default returns a copy with a variable set if it was not set.
func (e Env) Default(key, value string) Env {
	if _, ok := e.Lookup(key); ok {
		return e
	}
	return e.With(key, value)
}

// Without returns a copy without some variables.
func (e Env) Without(keys ...string) Env {
	out := make(Env, 0, len(e)+1)
	for _, kv := range e {
		k, _, _ := strings.Cut(kv, "=")
		if !slices.Contains(keys, k) {
			out = append(out, kv)
		}
	}
	return out
}

// Adding returns a copy with more variables, which take precedence.
func (e Env) Adding(more []string) Env {
	out := slices.Clone(e)
	for _, kv := range more {
		if k, v, ok := strings.Cut(kv, "="); ok {
			out = out.With(k, v)
		}
	}
	return out
}

// Home returns the person's home folder, empty if unknown.
func (e Env) Home() string { return e.Value("HOME") }
