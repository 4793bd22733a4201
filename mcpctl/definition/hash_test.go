package definition_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"orchestrator/mcpctl/definition"
)

func write(t *testing.T, file, content string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

func hashOf(t *testing.T, d definition.Definition, files definition.FileHasher) string {
	t.Helper()
	h, err := d.Hash(files)
	if err != nil {
		t.Fatal(err)
	}
	if len(h) != 64 {
		t.Fatalf("hash %q", h)
	}
	return h
}

func lookup(set map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := set[name]
		return v, ok
	}
}

// server is a definition with everything set.
func server(root string) definition.Definition {
	return definition.Definition{
		ID: "s", Name: "s", Transport: definition.Stdio, Command: "node",
		Sources: []definition.Source{{File: root + "/.mcp.json", Agent: "claude", Scope: definition.Project}},
		Args:    []string{"./server.js", "--config=conf/a.json"}, Env: map[string]string{"A": "1", "B": "${B:-x}"},
		EnvVars: []string{"C", "D"}, EnvFile: filepath.Join(root, ".env"), Dir: root,
		Headers: map[string]string{"X-A": "1"}, HeaderVars: map[string]string{"X-B": "B"}, BearerVar: "T", URL: "https://a.example",
		Helper: "./helper.sh", OAuth: definition.OAuth{ClientID: "c", CallbackPort: 1, Scopes: []string{"a", "b"}, MetadataURL: "m"},
	}
}

func fill(t *testing.T, root string) {
	t.Helper()
	write(t, root+"/server.js", "serve()", 0o600)
	write(t, root+"/conf/a.json", "{}", 0o600)
	write(t, root+"/helper.sh", "echo {}", 0o700)
	write(t, root+"/.env", "K=v\n", 0o600)
	write(t, root+"/same.env", "K=v\n", 0o600)
	write(t, root+"/other.js", "other()", 0o600)
}

// TestP1HashAsksAgain: whatever decides what is started changes the hash.
func TestP1HashAsksAgain(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, root string, d *definition.Definition){
		"transport":       func(_ *testing.T, _ string, d *definition.Definition) { d.Transport = definition.SSE },
		"command":         func(_ *testing.T, _ string, d *definition.Definition) { d.Command = "nodejs" },
		"an argument":     func(_ *testing.T, _ string, d *definition.Definition) { d.Args[1] = "--config=conf/b.json" },
		"more arguments":  func(_ *testing.T, _ string, d *definition.Definition) { d.Args = append(d.Args, "") },
		"joined":          func(_ *testing.T, _ string, d *definition.Definition) { d.Args = []string{strings.Join(d.Args, " ")} },
		"a value":         func(_ *testing.T, _ string, d *definition.Definition) { d.Env["A"] = "2" },
		"a name":          func(_ *testing.T, _ string, d *definition.Definition) { delete(d.Env, "A"); d.Env["AA"] = "1" },
		"a default":       func(_ *testing.T, _ string, d *definition.Definition) { d.Env["B"] = "${B:-y}" },
		"passed on":       func(_ *testing.T, _ string, d *definition.Definition) { d.EnvVars = append(d.EnvVars, "SECRET") },
		"env file's path": func(_ *testing.T, root string, d *definition.Definition) { d.EnvFile = root + "/same.env" },
		"env file": func(t *testing.T, root string, _ *definition.Definition) {
			write(t, root+"/.env", "K=w\n", 0o600)
		},
		"no env file":    func(_ *testing.T, root string, _ *definition.Definition) { os.Remove(root + "/.env") },
		"folder":         func(_ *testing.T, root string, d *definition.Definition) { d.Dir = root + "/conf" },
		"URL":            func(_ *testing.T, _ string, d *definition.Definition) { d.URL += "/x" },
		"header":         func(_ *testing.T, _ string, d *definition.Definition) { d.Headers["X-A"] = "2" },
		"header's name":  func(_ *testing.T, _ string, d *definition.Definition) { d.Headers["X-C"] = "" },
		"header's value": func(_ *testing.T, _ string, d *definition.Definition) { d.HeaderVars["X-B"] = "SECRET" },
		"bearer":         func(_ *testing.T, _ string, d *definition.Definition) { d.BearerVar = "SECRET" },
		"helper":         func(_ *testing.T, _ string, d *definition.Definition) { d.Helper += " x" },
		"OAuth client":   func(_ *testing.T, _ string, d *definition.Definition) { d.OAuth.ClientID = "d" },
		"OAuth metadata": func(_ *testing.T, _ string, d *definition.Definition) { d.OAuth.MetadataURL = "n" },
		"OAuth scopes":   func(_ *testing.T, _ string, d *definition.Definition) { d.OAuth.Scopes = []string{"a"} },
		"OAuth port":     func(_ *testing.T, _ string, d *definition.Definition) { d.OAuth.CallbackPort = 2 },
		"syntax":         func(_ *testing.T, _ string, d *definition.Definition) { d.Sources[0].Agent = "gemini" },
		"a byte of the script": func(t *testing.T, root string, _ *definition.Definition) {
			write(t, root+"/server.js", "serve[)", 0o600)
		},
		"a file in a flag": func(t *testing.T, root string, _ *definition.Definition) {
			write(t, root+"/conf/a.json", "[]", 0o600)
		},
		"the helper's content": func(t *testing.T, root string, _ *definition.Definition) {
			write(t, root+"/helper.sh", "echo []", 0o700)
		},
		"no script": func(_ *testing.T, root string, _ *definition.Definition) { os.Remove(root + "/server.js") },
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			fill(t, root)
			files := definition.FileHasher{Roots: []string{root}}
			d := server(root)
			before := hashOf(t, d, files)
			if again := hashOf(t, server(root), files); again != before {
				t.Fatal("the hash of the same differs")
			}
			change(t, root, &d)
			if hashOf(t, d, files) == before {
				t.Error("it is not asked again")
			}
		})
	}
}

// TestP1HashIgnores: what changes nothing of what is started is not asked again.
func TestP1HashIgnores(t *testing.T) {
	root := t.TempDir()
	fill(t, root)
	files := definition.FileHasher{Roots: []string{root}}
	before := hashOf(t, server(root), files)
	d := server(root)
	d.ID, d.Name, d.Enabled, d.Patterns, d.Warnings = "t", "t", true, []string{"x"}, []string{"y"}
	d.Options = definition.Options{StageChars: 1}
	d.Sources[0].File, d.Sources[0].Line, d.Sources[0].Agent = "/elsewhere", 7, "orchestrator" // of the same syntax
	d.EnvVars = []string{"D", "C"}
	write(t, root+"/other.js", "changed()", 0o600)
	if hashOf(t, d, files) != before {
		t.Error("it is asked again though the same is started")
	}
}

// TestP1HashOfAWorktree is equal with equal files, also for absolute paths of the main worktree.
func TestP1HashOfAWorktree(t *testing.T) {
	main, tree := t.TempDir(), t.TempDir()
	fill(t, main)
	fill(t, tree)
	files := definition.FileHasher{Roots: []string{tree, main}}
	before := hashOf(t, server(main), definition.FileHasher{Roots: []string{main}})
	if hashOf(t, server(tree), files) != before {
		t.Error("a worktree with the same files is asked again")
	}
	write(t, tree+"/server.js", "evil()", 0o600)
	if hashOf(t, server(tree), files) == before {
		t.Error("a worktree with another script is not asked")
	}
	d := server(tree)
	d.Args = []string{main + "/server.js"}
	before = hashOf(t, d, files)
	write(t, main+"/server.js", "evil()", 0o600)
	if hashOf(t, d, files) == before {
		t.Error("a script of the main worktree changes without a question")
	}
}

// TestP1HashFindsFiles: a file of the project counts in whatever way the command line names it.
func TestP1HashFindsFiles(t *testing.T) {
	for name, of := range map[string]func(root string, d *definition.Definition){
		"absolute":      func(root string, d *definition.Definition) { d.Args = []string{root + "/x.sh"} },
		"command":       func(_ string, d *definition.Definition) { d.Command = "./x.sh" },
		"full command":  func(root string, d *definition.Definition) { d.Command = root + "/x.sh" },
		"in a shell":    func(_ string, d *definition.Definition) { d.Args = []string{"-c", "true && exec ./x.sh; exit"} },
		"flag":          func(_ string, d *definition.Definition) { d.Args = []string{"--require=./x.sh"} },
		"list":          func(_ string, d *definition.Definition) { d.Args = []string{"a:x.sh,b"} },
		"file URL":      func(root string, d *definition.Definition) { d.Args = []string{"file://" + root + "/x.sh"} },
		"home":          func(_ string, d *definition.Definition) { d.Args = []string{"~/x.sh"} },
		"variable":      func(_ string, d *definition.Definition) { d.Args = []string{"${workspaceFolder}/x.sh"} },
		"default":       func(_ string, d *definition.Definition) { d.Args = []string{"${NOT_SET:-./x.sh}"} },
		"from a folder": func(root string, d *definition.Definition) { d.Dir, d.Args = root+"/sub", []string{"../x.sh"} },
		"link":          func(_ string, d *definition.Definition) { d.Args = []string{"./link.sh"} },
		"link outside":  func(root string, d *definition.Definition) { d.Args = []string{root + "-out/link.sh"} },
		"on PATH": func(root string, d *definition.Definition) {
			d.Command, d.Env = "tool", map[string]string{"PATH": root + "/one"}
		},
		"on PATH by a variable": func(_ string, d *definition.Definition) {
			d.Command, d.Env = "tool", map[string]string{"PATH": "${workspaceFolder}/one"}
		},
		"on our PATH": func(_ string, d *definition.Definition) { d.Command = "theirs" },
		"here on PATH": func(_ string, d *definition.Definition) {
			d.Command, d.Env = "tool", map[string]string{"PATH": "/bin:one"}
		},
		"helper":         func(_ string, d *definition.Definition) { d.Helper = "sh x.sh" },
		"bare helper":    func(_ string, d *definition.Definition) { d.Helper = "theirs -v" },
		"npx":            func(_ string, d *definition.Definition) { d.Command, d.Args = "npx", []string{"-y", "tool@latest"} },
		"no extension":   func(_ string, d *definition.Definition) { d.Command, d.Args = "node", []string{"./lib/main"} },
		"index":          func(_ string, d *definition.Definition) { d.Command, d.Args = "node", []string{"lib"} },
		"module":         func(_ string, d *definition.Definition) { d.Command, d.Args = "python3", []string{"-m", "mod"} },
		"dotted module":  func(_ string, d *definition.Definition) { d.Command, d.Args = "python3", []string{"-m", "mod.sub"} },
		"in a shell too": func(_ string, d *definition.Definition) { d.Args = []string{"-c", "cd . && /usr/bin/node lib/main"} },
		"package": func(root string, d *definition.Definition) {
			d.Command, d.Args, d.Dir = "npx", []string{"@a/b@1.0"}, root+"/sub"
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := filepath.Join(t.TempDir(), "p")
			write(t, root+"/x.sh", "one", 0o700)
			for _, installed := range []string{"/node_modules/.bin/tool", "/node_modules/@a/b/package.json", "/one/tool", "/two/theirs",
				"/lib/main.js", "/lib/index.js", "/mod/__main__.py", "/mod/sub.py"} {
				write(t, root+filepath.Dir(installed)+"/y", "", 0o600)
				if err := os.Symlink(root+"/x.sh", root+installed); err != nil {
					t.Fatal(err)
				}
			}
			write(t, root+"/sub/y", "", 0o600)
			write(t, root+"-out/y", "", 0o600)
			for _, link := range []string{root + "/link.sh", root + "-out/link.sh"} {
				if err := os.Symlink(root+"/x.sh", link); err != nil {
					t.Fatal(err)
				}
			}
			files := definition.FileHasher{Roots: []string{root}, Lookup: lookup(map[string]string{
				"HOME": root, "workspaceFolder": root, "PATH": "/nowhere:" + root + "/two"})}
			d := definition.Definition{ID: "s", Transport: definition.Stdio, Command: "sh"}
			of(root, &d)
			before := hashOf(t, d, files)
			write(t, root+"/x.sh", "two", 0o700)
			if hashOf(t, d, files) == before {
				t.Error("another content is not asked for")
			}
			if shown := strings.Join(d.Shown(files), "\n"); !strings.Contains(shown, "file of the project: ") {
				t.Errorf("the file is not shown:\n%s", shown)
			}
		})
	}
}

// TestHashOutside: files outside of the project, folders and pipes are not read.
func TestHashOutside(t *testing.T) {
	root, out := t.TempDir(), t.TempDir()
	write(t, out+"/x", "one", 0o700)
	if err := syscall.Mkfifo(root+"/pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	files := definition.FileHasher{Roots: []string{root}, Lookup: lookup(map[string]string{"PATH": out})}
	d := definition.Definition{Transport: definition.Stdio, Command: "x", Args: []string{out + "/x", "pipe", ".", "a\x00b"}}
	before := hashOf(t, d, files)
	write(t, out+"/x", "two", 0o700)
	if hashOf(t, d, files) != before {
		t.Error("a file outside of the project counts")
	}
	if shown := d.Shown(files); !slices.ContainsFunc(shown, func(s string) bool { return strings.Contains(s, "names a folder") }) {
		t.Errorf("the folder is not pointed out: %q", shown)
	}
	if err := os.Symlink(out+"/x", root+"/link"); err != nil {
		t.Fatal(err)
	}
	d.Args = []string{"./link"}
	before = hashOf(t, d, files)
	write(t, out+"/x", "three", 0o700)
	if hashOf(t, d, files) == before {
		t.Error("a link of the project leads to something else without a question")
	}
	a := hashOf(t, definition.Definition{Args: []string{"ab", "c"}}, files)
	if hashOf(t, definition.Definition{Args: []string{"a", "bc"}}, files) == a {
		t.Error("arguments with other bounds have the same hash")
	}
	big, err := os.Create(root + "/big")
	if err != nil {
		t.Fatal(err)
	}
	defer big.Close()
	if err := big.Truncate(600 << 20); err != nil {
		t.Fatal(err)
	}
	d.Args = []string{"big"}
	if _, err := d.Hash(files); err == nil || !strings.Contains(err.Error(), "cannot be copied") {
		t.Errorf("600 MB are read for a hash: %v", err)
	}
	d.Args = []string{strings.Repeat("a ", 1_100)}
	if _, err := d.Hash(files); err == nil {
		t.Error("a command line of 1,100 words is accepted")
	}
	d.Command, d.Args = "node", []string{strings.Repeat("a ", 250)}
	if _, err := d.Hash(files); err == nil {
		t.Error("a command line of 250 words for Node.js is accepted")
	}
	if _, err := (definition.Definition{EnvFile: "/dev/zero"}).Hash(files); err == nil {
		t.Error("a device is read as an environment file")
	}
}

func TestMissing(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/tool", "", 0o700)
	write(t, dir+"/data", "", 0o600)
	env := []string{"PATH=/nowhere", "PATH=/also:" + dir}
	for command, missing := range map[string]bool{
		"tool": false, "data": true, "other": true, dir + "/tool": false, dir + "/data": true, dir: true, "./tool": false,
		"${NOT_SET}": false, "${NOT_SET:-other}": true,
	} {
		d := definition.Definition{Transport: definition.Stdio, Command: command}
		if got := definition.Missing(d, env); (got != "") != missing {
			t.Errorf("%s: %q, want missing %v", command, got, missing)
		}
	}
	if got := definition.Missing(definition.Definition{Transport: definition.HTTP, URL: "http://a"}, env); got != "" {
		t.Errorf("remote: %q", got)
	}
}

func TestBaseEnv(t *testing.T) {
	got := definition.BaseEnv([]string{"HOME=/h", "PATH=/b", "LC_ALL=C", "XDG_CONFIG_HOME=/c", "ANTHROPIC_API_KEY=CANARY",
		"GITHUB_TOKEN=CANARY", "ORCHESTRATOR_TOKEN=CANARY", "XDG_TOKEN=CANARY", "HOMEKEY=CANARY", "LD_PRELOAD=CANARY",
		"ANTHROPIC_BASE_URL=CANARY", "DBUS_SESSION_BUS_ADDRESS=CANARY", "TZ=UTC", "odd",
		"HTTPS_PROXY=p", "no_proxy=n", "NODE_EXTRA_CA_CERTS=c", "npm_config_registry=r", "NPM_CONFIG__AUTH=CANARY", "NPM_TOKEN=CANARY"})
	want := []string{"HOME=/h", "PATH=/b", "LC_ALL=C", "XDG_CONFIG_HOME=/c", "TZ=UTC", "HTTPS_PROXY=p", "no_proxy=n",
		"NODE_EXTRA_CA_CERTS=c", "npm_config_registry=r"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
