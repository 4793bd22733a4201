package definition_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"orchestrator/mcpctl/definition"
)

func TestExpandSyntax(t *testing.T) {
	env := lookup(map[string]string{"A": "one", "EMPTY": "", "HOME": "/h", "workspaceFolder": "/p/q", "input:key": "typed",
		"CYCLE": "${CYCLE}", "BACK": "${FORTH}", "FORTH": "${BACK}", "P": "%A% $A {env:A} ${env:A} ${A}"})
	for _, c := range []struct{ agent, in, want, fails string }{
		{"claude", "x${A}y${A}", "xoney" + "one", ""},
		{"claude", "${NO:-d e}", "d e", ""}, {"claude", "${EMPTY:-d}", "", ""}, {"claude", "${NO:-b:-c}", "b:-c", ""}, {"claude", "${NO:-${A}/x}", "${A/x}", ""}, {"claude", "${EMPTY}", "", ""},
		{"claude", "${NO:-}", "", ""}, {"claude", "${NO}", "", "NO is not set"}, {"claude", "$A %A% {env:A}", "$A %A% {env:A}", ""},
		{"claude", "${", "${", ""}, {"claude", "${A", "${A", ""}, {"claude", "${}", "${}", ""}, {"claude", "${1}", "${1}", ""},
		{"claude", "${x y} ${A}", "${x y} one", ""}, {"claude", "${CLAUDE_PROJECT_DIR}/s", "/p/q/s", ""},
		{"claude", "${CYCLE}", "${CYCLE}", ""}, {"claude", "${BACK}", "${FORTH}", ""},
		{"claude", "${P}", "%A% $A {env:A} ${env:A} ${A}", ""},
		{"orchestrator", "${A}", "one", ""},
		{"codex", "${A} $A", "${A} $A", ""},
		{"gemini", "$A-${A}-%A%", "one-one-%A%", ""}, {"gemini", "[$NO${NO}%NO%]", "[$NO${NO}%NO%]", ""}, {"gemini", "${EMPTY:-d}$EMPTY", "", ""}, {"gemini", "100%", "100%", ""},
		{"gemini", "50% of 10%", "50% of 10%", ""}, {"gemini", "$ $1 ${", "$ $1 ${", ""}, {"gemini", "${NO:-d}", "d", ""},
		{"gemini", "$CYCLE ${P}", "${CYCLE} %A% $A {env:A} ${env:A} ${A}", ""},
		{"opencode", "{env:A}{", "one{", ""}, {"opencode", "[{env:NO}]", "[]", ""}, {"opencode", "{x} ${A}", "{x} ${A}", ""},
		{"opencode", `{"a":{"b":"{env:A}"}}`, `{"a":{"b":"one"}}`, ""},
		{"opencode", "{file:/nowhere/x}", "", "{file:/nowhere/x}: there is no such file"}, {"opencode", "{file:/dev/zero}", "", "{file:/dev/zero}"},
		{"opencode", "{file:} {file:x", "{file:} {file:x", ""}, {"opencode", "{ file:x}", "{ file:x}", ""}, {"claude", "{file:/etc/passwd}", "{file:/etc/passwd}", ""},
		{"vscode", "${env:A} ${workspaceFolder} ${workspaceFolderBasename} ${userHome}${/}x", "one /p/q q /h/x", ""},
		{"vscode", "${env:NO}", "", "NO is not set"}, {"vscode", "${A}", "${A}", ""}, {"cursor", "${env:A}", "one", ""},
		{"vscode", "${input:key}", "typed", ""}, {"vscode", "${input:other}", "", `"other" must be entered`},
		{"vscode", "${command:x}", "", "in an editor only"}, {"vscode", "${env:CYCLE}", "${CYCLE}", ""},
	} {
		d := definition.Definition{ID: "s", Transport: definition.Stdio, Command: "c", Args: []string{c.in},
			Sources: []definition.Source{{Agent: c.agent}}}
		got, err := d.Expand(env)
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) || !strings.Contains(err.Error(), "argument 1") {
				t.Errorf("%s %q: %v, want an error with %q", c.agent, c.in, err, c.fails)
			}
			continue
		}
		if err != nil || got.Args[0] != c.want {
			t.Errorf("%s %q: %q, %v; want %q", c.agent, c.in, got.Args, err, c.want)
		}
	}
}

func TestExpandErrors(t *testing.T) {
	none := lookup(nil)
	var unset *definition.Unset
	_, err := definition.Definition{Transport: definition.HTTP, Headers: map[string]string{"X": "${TOKEN}"}}.Expand(none)
	if !errors.As(err, &unset) || unset.Name != "TOKEN" {
		t.Errorf("got %v", err)
	}
	if _, err = (definition.Definition{Transport: definition.Stdio, Command: "c", Dir: "a/b"}).Expand(none); err == nil {
		t.Error("a folder that depends on where we are")
	}
	_, err = definition.Definition{Transport: definition.HTTP, BearerVar: "TOKEN"}.Expand(none)
	if !errors.As(err, &unset) || unset.Name != "TOKEN" {
		t.Errorf("bearer: %v", err)
	}
	var needs *definition.NeedsInput
	_, err = definition.Definition{Transport: definition.Stdio, Env: map[string]string{"K": "${input:key}"},
		Sources: []definition.Source{{Agent: "vscode"}}}.Expand(none)
	if !errors.As(err, &needs) || needs.Name != "key" {
		t.Errorf("input: %v", err)
	}
}

// TestP5NoSecretInErrors: an error of an expansion names variables and never values.
func TestP5NoSecretInErrors(t *testing.T) {
	env := lookup(map[string]string{"NUL": "CANARY\x00", "NL": "CANARY\r\nX-Evil: 1"})
	for name, d := range map[string]definition.Definition{
		"NUL in an argument": {Transport: definition.Stdio, Command: "c", Args: []string{"${NUL}"}},
		"NUL in a variable":  {Transport: definition.Stdio, Command: "c", EnvVars: []string{"NUL"}},
		"header":             {Transport: definition.HTTP, Headers: map[string]string{"X": "${NL}"}},
		"header variable":    {Transport: definition.HTTP, HeaderVars: map[string]string{"X": "NL"}},
		"bearer":             {Transport: definition.HTTP, BearerVar: "NL"},
		"unset":              {Transport: definition.HTTP, URL: "http://CANARY/${NO}"},
		"name":               {Transport: definition.Stdio, Command: "c", Env: map[string]string{"A=B": "CANARY"}},
		"env file":           {Transport: definition.Stdio, Command: "c", EnvFile: "${NUL}"},
	} {
		got, err := d.Expand(env)
		if err == nil || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(got, definition.Launch{}) {
			t.Errorf("%s: a launch comes with the error: %+v", name, got)
		}
	}
}

func TestExpandLaunch(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/.env", "# comment\nexport F=file # note\nQ=\"a # b\"\nS='$A'\nA=lost\n=x\nodd\nE=\n", 0o600)
	env := lookup(map[string]string{"A": "one", "PASS": "on", "T": "tok", "D": dir})
	got, err := definition.Definition{Transport: definition.Stdio, Command: "${D}/c", Args: []string{"-x", "${A}"}, Dir: "${D}",
		Env: map[string]string{"A": "${A}"}, EnvVars: []string{"PASS", "NOT_SET"}, EnvFile: "${D}/.env"}.Expand(env)
	want := definition.Launch{Transport: definition.Stdio, Command: dir + "/c", Args: []string{"-x", "one"}, Dir: dir,
		Env: []string{"A=one", "E=", "F=file", "PASS=on", "Q=a # b", "S=$A"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	got, err = definition.Definition{Transport: definition.HTTP, URL: "http://${A}", BearerVar: "T", Helper: "h ${A}",
		Headers: map[string]string{"X": "${A}"}, HeaderVars: map[string]string{"Y": "T", "Z": "NOT_SET"}}.Expand(env)
	want = definition.Launch{Transport: definition.HTTP, URL: "http://one", Helper: "h one",
		Headers: map[string]string{"X": "one", "Y": "tok", "Authorization": "Bearer tok"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	write(t, dir+"/.env", strings.Repeat("#", 2<<20), 0o600)
	_, err = definition.Definition{Transport: definition.Stdio, EnvFile: dir + "/.env"}.Expand(env)
	if err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("an environment file of 2 MiB: %v", err)
	}
	if _, err := (definition.Definition{Transport: definition.Stdio, EnvFile: "/dev/zero"}).Expand(env); err == nil {
		t.Error("a device is read")
	}
}

func FuzzExpand(f *testing.F) {
	for _, s := range []string{"${A:-b}", "$A%B%", "{env:A}", "${input:x}", "${", "%", "{file:"} {
		f.Add(s)
	}
	agents := []string{"claude", "codex", "gemini", "opencode", "vscode"}
	f.Fuzz(func(t *testing.T, s string) {
		calls := 0
		for _, agent := range agents {
			d := definition.Definition{Transport: definition.Stdio, Command: s, Sources: []definition.Source{{Agent: agent}}}
			got, err := d.Expand(func(string) (string, bool) { calls++; return s, true })
			if err == nil && len(got.Command) > (len(s)+1)*(len(s)+1) {
				t.Errorf("%s: %d bytes became %d", agent, len(s), len(got.Command))
			}
			d.Shown(definition.FileHasher{})
		}
		if calls > 6*(len(s)+1) {
			t.Errorf("%d look-ups for %q", calls, s)
		}
	})
}

func TestDiff(t *testing.T) {
	got := definition.Diff([]string{"transport: stdio", "command: npx a", "x"}, []string{"transport: stdio", "command: npx b", "x"})
	if want := []string{" transport: stdio", "-command: npx a", "+command: npx b", " x"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := definition.Diff([]string{"a"}, []string{"a"}); len(got) != 1 || !strings.Contains(got[0], "not shown") {
		t.Errorf("nothing visible: %q", got)
	}
	if got := definition.Diff(nil, []string{"--- a", "@@ b"}); !slices.Contains(got, "+--- a") || !slices.Contains(got, "+@@ b") {
		t.Errorf("lines like those of a diff: %q", got)
	}
}
