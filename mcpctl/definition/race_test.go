package definition_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/mcpctl/definition"
)

// TestMissingIsNotAccepted: what was accepted while something that it names was missing is not what starts when that
// appears, and neither is one of which the same files are started in another way.
func TestMissingIsNotAccepted(t *testing.T) {
	put := func(t *testing.T, dir, name, content string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		d       definition.Definition
		before  map[string]string
		appears string
	}{
		"script":               {d: definition.Definition{Command: "python3", Args: []string{"srv.py"}}, appears: "srv.py"},
		"program":              {d: definition.Definition{Command: "./srv"}, appears: "srv"},
		"on PATH":              {d: definition.Definition{Command: "srv", Env: map[string]string{"PATH": "./bin"}}, appears: "bin/srv"},
		"module":               {d: definition.Definition{Command: "python3", Args: []string{"-m", "srv"}}, appears: "srv/__main__.py"},
		"variable":             {d: definition.Definition{Command: "node", Args: []string{"a.js"}, Env: map[string]string{"NODE_OPTIONS": "-r ./b"}}, appears: "b.js", before: map[string]string{"a.js": ""}},
		"variable of a file":   {d: definition.Definition{Command: "node", Args: []string{"a.js"}, EnvFile: "DIR/env"}, appears: "b.js", before: map[string]string{"a.js": "", "env": "NODE_OPTIONS=-r ./b"}},
		"passed on":            {d: definition.Definition{Command: "node", Args: []string{"a.js"}, EnvVars: []string{"NODE_OPTIONS"}}, appears: "b.js", before: map[string]string{"a.js": ""}},
		"file of variables":    {d: definition.Definition{Command: "/bin/cat", EnvFile: "DIR/env"}, appears: "env"},
		"loaded by the script": {d: definition.Definition{Command: "python3", Args: []string{"a.py"}}, appears: "b.py", before: map[string]string{"a.py": "import b\n"}},
		"package":              {d: definition.Definition{Command: "npx", Args: []string{"srv"}}, appears: "node_modules/.bin/srv"},
		"Makefile":             {d: definition.Definition{Command: "make"}, appears: "GNUmakefile", before: map[string]string{"Makefile": "all:\n"}},
		"settings":             {d: definition.Definition{Command: "npm", Args: []string{"run", "x"}}, appears: ".npmrc", before: map[string]string{"package.json": "{}"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for name, content := range c.before {
				put(t, dir, name, content)
			}
			d := c.d
			d.ID, d.Transport = "x", definition.Stdio
			d.Sources = []definition.Source{{File: filepath.Join(dir, ".mcp.json"), Scope: definition.Project}}
			d.EnvFile = strings.Replace(d.EnvFile, "DIR", dir, 1)
			files := definition.FileHasher{Roots: []string{dir}, Lookup: func(name string) (string, bool) {
				return map[string]string{"PATH": "/usr/bin:/bin", "NODE_OPTIONS": "-r ./b"}[name], true
			}}
			was, _, err := d.Planned(files)
			if err != nil {
				t.Fatal(err)
			}
			put(t, dir, c.appears, "#!/bin/sh\n")
			now, plan, err := d.Planned(files)
			if err != nil {
				t.Fatal(err)
			}
			if now == was {
				t.Error("it has the same hash as before")
			}
			if !plan.Copied() && d.EnvFile == "" {
				t.Error("it is not copied")
			}
		})
	}
	t.Run("another way", func(t *testing.T) {
		hashes := map[string]bool{}
		for _, first := range []string{"#!/bin/sh\n", "#!/usr/bin/python3\n", "#!/bin/cat\n"} {
			dir := t.TempDir()
			put(t, dir, "start", first)
			d := definition.Definition{ID: "x", Transport: definition.Stdio, Command: "./start"}
			hash, plan, err := d.Planned(definition.FileHasher{Roots: []string{dir}})
			if err != nil {
				t.Fatal(err)
			}
			plan.Entries[0].Sum = ""
			hashes[hash] = true
			l := plan.In(definition.Launch{Command: "./start"}, "/copy")
			if l.Command != "/copy/start" || (l.Dir == "/copy") != (first != "#!/usr/bin/python3\n") {
				t.Errorf("%q: %+v", first, l)
			}
		}
		if len(hashes) != 3 {
			t.Error("they have the same hash")
		}
	})
}

// TestPlanLooksOnce: what is exchanged after the plan was made changes nothing of it.
func TestPlanLooksOnce(t *testing.T) {
	for name, c := range map[string]definition.Definition{
		"script":  {Command: "python3", Args: []string{"srv.py", "--data=lib/x", "lib"}},
		"program": {Command: "./srv.py"},
		"shell":   {Command: "sh", Args: []string{"-c", "cd lib && ./x", "ABS/lib"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for i, a := range c.Args {
				c.Args[i] = strings.Replace(a, "ABS", dir, 1)
			}
			fill := func() {
				for name, content := range map[string]string{"srv.py": "#!/usr/bin/python3\n", "lib/x": "x"} {
					if err := os.MkdirAll(filepath.Join(dir, "lib"), 0o700); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o700); err != nil {
						t.Fatal(err)
					}
				}
			}
			fill()
			d := c
			d.ID, d.Transport = "x", definition.Stdio
			_, plan, err := d.Planned(definition.FileHasher{Roots: []string{dir}})
			if err != nil {
				t.Fatal(err)
			}
			in := func() definition.Launch { return plan.In(definition.Launch{Command: d.Command, Args: d.Args}, "/copy") }
			want := in()
			for what, exchange := range map[string]func() error{
				"gone":    func() error { return nil },
				"folders": func() error { return os.MkdirAll(filepath.Join(dir, "srv.py"), 0o700) },
				"links":   func() error { return os.Symlink("/etc", filepath.Join(dir, "lib")) },
			} {
				for _, name := range []string{"srv.py", "lib"} {
					if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
						t.Fatal(err)
					}
				}
				if err := exchange(); err != nil {
					t.Fatal(err)
				}
				got := in()
				if got.Command != want.Command || strings.Join(got.Args, " ") != strings.Join(want.Args, " ") || got.Dir != want.Dir {
					t.Errorf("%s: it starts %+v, want %+v", what, got, want)
				}
			}
			if text := strings.Join(append(want.Args, want.Command, want.Dir), " "); !strings.Contains(text, "/copy") {
				t.Errorf("it starts %+v", want)
			}
		})
	}
}
