package definition

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Unset says that a variable has no value.
type Unset struct{ Name string }

func (e *Unset) Error() string { return fmt.Sprintf("variable %s is not set", e.Name) }

// NeedsInput says that a person must enter a value first.
type NeedsInput struct{ Name string }

func (e *NeedsInput) Error() string { return fmt.Sprintf("the value of %q must be entered", e.Name) }

// syntax is a way to write variables.
type syntax string

const (
	plain    syntax = ""         // Codex: none
	shell    syntax = "shell"    // Claude Code: ${VAR}, ${VAR:-default}
	gemini   syntax = "gemini"   // $VAR, ${VAR}, ${VAR:-default}; what is not set stays as it is written
	braces   syntax = "braces"   // OpenCode: {env:VAR}, {file:PATH}; what is not set is empty
	prefixed syntax = "prefixed" // VS Code and Cursor: ${env:VAR}, ${workspaceFolder}, ${input:x}
)

// syntax returns that of the agent whose file comes first.
func (d Definition) syntax() syntax {
	if len(d.Sources) == 0 {
		return shell
	}
	switch d.Sources[0].Agent {
	case "codex":
		return plain
	case "gemini":
		return gemini
	case "opencode":
		return braces
	case "cursor", "vscode":
		return prefixed
	}
	return shell
}

// expansion expands texts and keeps the first error.
type expansion struct {
	syntax syntax
	lookup func(name string) (string, bool)
	files  func(path string) ([]byte, error) // reads what {file:…} names
	dir    string                            // of the file with the definition
	err    error
}

// expansion returns what expands the texts of a definition.
func (d Definition) expansion(lookup func(name string) (string, bool)) expansion {
	e := expansion{syntax: d.syntax(), lookup: lookup, files: d.contents.read}
	if len(d.Sources) > 0 {
		e.dir = filepath.Dir(d.Sources[0].File)
	}
	return e
}

func (e *expansion) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

// text expands one text; what says which one it is.
func (e *expansion) text(what, s string) string {
	out, err := e.expand(s)
	if err == nil && strings.ContainsRune(out, 0) {
		err = errors.New("contains a NUL")
	}
	if err != nil {
		e.fail(fmt.Errorf("%s: %w", what, err))
		return ""
	}
	return out
}

func (e *expansion) expand(s string) (string, error) {
	switch e.syntax {
	case shell:
		return replace(s, "${", e.withDefault)
	case braces:
		return e.bracedAll(s)
	case prefixed:
		return replace(s, "${", e.named)
	case gemini:
		return e.loose(s)
	case plain:
	}
	return s, nil
}

// replace replaces what is between begin and a closing brace by what value returns for it; if ok is false it stays as it is. A value
// is not searched again.
func replace(s, begin string, value func(name string) (v string, ok bool, err error)) (string, error) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(s, begin)
		name, after, closed := strings.Cut(rest, "}")
		if !found || !closed {
			out.WriteString(s)
			return out.String(), nil
		}
		out.WriteString(before)
		v, ok, err := value(name)
		switch {
		case err != nil:
			return "", err
		case ok:
			out.WriteString(v)
			s = after
		default:
			out.WriteString(begin)
			s = rest
		}
	}
}

// withDefault knows VAR and VAR:-default.
func (e *expansion) withDefault(text string) (string, bool, error) {
	name, otherwise, has := strings.Cut(text, ":-")
	if !variable(name) {
		return "", false, nil
	}
	v, ok := e.lookup(name)
	if !ok && name == "CLAUDE_PROJECT_DIR" {
		v, ok = e.lookup("workspaceFolder")
	}
	switch {
	case ok: // also if it is empty: so Claude Code does
		return v, true, nil
	case has:
		return otherwise, true, nil
	}
	return "", false, &Unset{Name: name}
}

// bracedAll expands {env:VAR} and {file:PATH}, in which variables may stand. What variables and files contain is not
// expanded again.
func (e *expansion) bracedAll(s string) (string, error) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(s, "{file:")
		text, err := replace(before, "{", e.braced)
		if err != nil {
			return "", err
		}
		out.WriteString(text)
		if !found {
			return out.String(), nil
		}
		path, n, err := e.pathOf(rest)
		if err != nil {
			return "", err
		}
		if n == 0 { // it names none
			out.WriteString("{file:")
			s = rest
			continue
		}
		content, err := e.content(path)
		if err != nil {
			return "", fmt.Errorf("{file:%s}: %w", rest[:n-1], err)
		}
		out.WriteString(content)
		s = rest[n:]
	}
}

// pathOf returns the path that a text begins with, up to its brace, with its variables replaced, and the length of all
// that; 0 if there is none.
func (e *expansion) pathOf(s string) (path string, n int, err error) {
	for at := 0; ; {
		end := strings.IndexByte(s[at:], '}')
		if end < 0 {
			return "", 0, nil
		}
		end += at
		if open := strings.LastIndex(s[:end], "{env:"); open >= at { // this brace is the variable's
			at = end + 1
			continue
		}
		if path, err = replace(s[:end], "{", e.braced); path == "" {
			return "", 0, err
		}
		return path, end + 1, err
	}
}

// content returns the text of a file, without spaces around it, as OpenCode takes it.
func (e *expansion) content(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		home, _ := e.lookup("HOME")
		path = filepath.Join(home, rest)
	} else if !filepath.IsAbs(path) {
		path = filepath.Join(e.dir, path)
	}
	content, err := e.files(path)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(content), "\uFFFD")), nil
}

// braced knows env:VAR.
func (e *expansion) braced(text string) (string, bool, error) {
	kind, name, _ := strings.Cut(text, ":")
	if kind != "env" || !variable(name) {
		return "", false, nil
	}
	v, _ := e.lookup(name)
	return v, true, nil // what is not set is empty
}

// named knows what editors define.
func (e *expansion) named(text string) (string, bool, error) {
	kind, name, has := strings.Cut(text, ":")
	from := func(name string) (string, bool, error) {
		v, ok := e.lookup(name)
		if !ok {
			return "", false, &Unset{Name: name}
		}
		return v, true, nil
	}
	switch {
	case kind == "env" && variable(name):
		return from(name)
	case kind == "input" && name != "":
		v, ok := e.lookup("input:" + name)
		if !ok {
			return "", false, &NeedsInput{Name: name}
		}
		return v, true, nil
	case kind == "command" && has, kind == "config" && has:
		return "", false, fmt.Errorf("${%s:…} has a value in an editor only", kind)
	case has:
		return "", false, nil
	case text == "workspaceFolder":
		return from("workspaceFolder")
	case text == "workspaceFolderBasename":
		v, _, err := from("workspaceFolder")
		return filepath.Base(v), true, err
	case text == "userHome":
		return from("HOME")
	case text == "pathSeparator", text == "/":
		return string(filepath.Separator), true, nil
	}
	return "", false, nil
}

// loose expands $VAR, ${VAR} and ${VAR:-default}. What is not set and has no default stays as it is written.
func (e *expansion) loose(s string) (string, error) {
	var out strings.Builder
	for i := 0; i < len(s); {
		text, n := looseName(s[i:])
		if n == 0 {
			out.WriteByte(s[i])
			i++
			continue
		}
		name, otherwise, has := strings.Cut(text, ":-")
		v, ok := e.lookup(name)
		switch {
		case ok:
		case has:
			v = otherwise
		default:
			v = s[i : i+n]
		}
		out.WriteString(v)
		i += n
	}
	return out.String(), nil
}

// looseName returns what is between the marks of the variable that s begins with, and its length with them.
func looseName(s string) (string, int) {
	if rest, ok := strings.CutPrefix(s, "${"); ok {
		text, _, closed := strings.Cut(rest, "}")
		if name, _, _ := strings.Cut(text, ":-"); closed && variable(name) {
			return text, len("${") + len(text) + len("}")
		}
	}
	if rest, ok := strings.CutPrefix(s, "$"); ok {
		n := 0
		for n < len(rest) && variable(rest[:n+1]) {
			n++
		}
		if n > 0 {
			return rest[:n], n + 1
		}
	}
	return "", 0
}

// variable reports whether a text has the form of a variable's name.
func variable(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}
