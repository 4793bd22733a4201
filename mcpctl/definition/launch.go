package definition

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Launch is what is started or connected to: a definition whose variables have their values. It holds secrets: it is
// neither stored nor shown.
type Launch struct {
	Transport Transport

	Command string
	Args    []string
	Env     []string // KEY=VALUE, sorted: what is declared, without BaseEnv
	Dir     string

	URL     string
	Headers map[string]string
	Helper  string
	OAuth   OAuth
}

// Expand replaces the variables of a definition by their values, in the syntax of the agent whose file it is from. This
// is the only place where that is done.
//
// lookup knows the person's environment, "workspaceFolder" for the folder of the project, and "input:x" for what a
// person has entered. A value is not expanded again, whatever it contains. A variable that is not set is an error that
// names it, unless its agent defines it as empty; an input that is not known is a NeedsInput. No error contains a value.
func (d Definition) Expand(lookup func(name string) (string, bool)) (Launch, error) {
	e := d.expansion(lookup)
	out := Launch{Transport: d.Transport, OAuth: d.OAuth}
	out.OAuth.ClientID = e.text("the client ID", d.OAuth.ClientID)
	if d.Transport == Stdio {
		out.Command = e.text("the command", d.Command)
		for i, arg := range d.Args {
			out.Args = append(out.Args, e.text(fmt.Sprintf("argument %d", i+1), arg))
		}
		out.Dir = e.text("the folder", d.Dir)
		if out.Dir != "" && !filepath.IsAbs(out.Dir) {
			e.fail(errors.New("the folder: not an absolute path"))
		}
		out.Env = d.environment(&e)
	} else {
		out.URL = e.text("the URL", d.URL)
		out.Headers = d.headers(&e)
		out.Helper = e.text("the headers helper", d.Helper)
	}
	if e.err != nil {
		return Launch{}, fmt.Errorf("expand the configuration of %s: %w", d.ID, e.err)
	}
	return out, nil
}

// environment returns the declared variables of a process.
func (d Definition) environment(e *expansion) []string {
	set := make(map[string]string)
	if d.EnvFile != "" {
		path := e.text("the path of the environment file", d.EnvFile)
		if e.err != nil {
			return nil
		}
		read := d.environ
		if read == nil {
			read = readVariables(path)
		}
		if read.err != nil {
			e.fail(fmt.Errorf("environment file: %w", read.err))
			return nil
		}
		maps.Copy(set, read.set)
	}
	for _, name := range d.EnvVars {
		if value, ok := e.lookup(name); ok {
			set[name] = value
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Env)) {
		set[name] = e.text("variable "+name, d.Env[name])
	}
	var env []string
	for name, value := range set {
		if !validName(name) || strings.ContainsRune(value, 0) {
			e.fail(fmt.Errorf("%q cannot be an environment variable", name))
			continue
		}
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

// headers returns the headers of a remote server.
func (d Definition) headers(e *expansion) map[string]string {
	set := make(map[string]string)
	for name, variable := range d.HeaderVars {
		if value, ok := e.lookup(variable); ok {
			set[name] = value
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Headers)) {
		set[name] = e.text("header "+name, d.Headers[name])
	}
	if d.BearerVar != "" {
		token, ok := e.lookup(d.BearerVar)
		if !ok {
			e.fail(fmt.Errorf("bearer token: %w", &Unset{Name: d.BearerVar}))
		}
		set["Authorization"] = "Bearer " + token
	}
	for name, value := range set {
		if name == "" || strings.ContainsAny(name, "\r\n\x00: ") || strings.ContainsAny(value, "\r\n\x00") {
			e.fail(fmt.Errorf("header %q contains a character that headers cannot have", name))
		}
	}
	return set
}
