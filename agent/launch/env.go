package launch

import (
	"path/filepath"
	"slices"
	"strings"

	"orchestrator/thread"
)

// Env is an environment, KEY=VALUE; of a key that stands twice the last one counts.
type Env []string

// The names of our program in LaunchSpec.Bin and of the variable that holds its absolute path.
const (
	ProgramName = "orchestrator"
	ProgramVar  = "ORCHESTRATOR_BIN"
)

// standardPath is where shells look for programs when PATH is not set.
const standardPath = "/usr/local/bin:/usr/bin:/bin"

// Environment is what an agent starts from: the thread's environment with what its flags add, our
// program first on PATH, and its absolute path in ORCHESTRATOR_BIN for shells that reset PATH.
func Environment(spec thread.LaunchSpec) Env {
	env := Env(spec.Env).Adding(spec.Flags.Env)
	if !filepath.IsAbs(spec.Bin) {
		return env
	}
	env = env.With(ProgramVar, filepath.Join(spec.Bin, ProgramName))
	if strings.ContainsRune(spec.Bin, filepath.ListSeparator) {
		return env // cannot stand in a PATH
	}
	path, ok := env.Lookup("PATH")
	if !ok {
		path = standardPath
	}
	folders := []string{spec.Bin}
	if path != "" {
		isBin := func(folder string) bool { return folder == spec.Bin }
		// An empty entry means the working folder and is kept as it is.
		folders = append(folders, slices.DeleteFunc(strings.Split(path, string(filepath.ListSeparator)), isBin)...)
	}
	return env.With("PATH", strings.Join(folders, string(filepath.ListSeparator)))
}

// Value returns a variable's value, empty when it is not set.
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

// On reports whether a variable is set to something that is not a way to say no.
func (e Env) On(key string) bool {
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

// Default returns a copy with a variable set where it is not set yet.
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

// Adding returns a copy with more variables, which win over those before.
func (e Env) Adding(more []string) Env {
	out := slices.Clone(e)
	for _, kv := range more {
		if k, v, ok := strings.Cut(kv, "="); ok {
			out = out.With(k, v)
		}
	}
	return out
}

// Home returns the person's home folder, empty when it is not known.
func (e Env) Home() string { return e.Value("HOME") }
