package definition_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/mcpctl/definition"
)

// TestContents takes the files that OpenCode's configuration names as OpenCode 1.18 does: from the folder of the
// configuration, from the home, trimmed; what variables and files contain is not expanded. Their contents belong to what
// is accepted, are read once, and are shown nowhere.
func TestContents(t *testing.T) {
	const canary = "sk-canary-0123456789"
	dir, home, link := t.TempDir(), t.TempDir(), ""
	put := func(path, text string) {
		t.Helper()
		write(t, path, text, 0o600)
	}
	put(filepath.Join(dir, "tok.txt"), "  "+canary+"\n{env:A} {file:tok.txt}\n\n")
	put(filepath.Join(home, "h.txt"), "homey\n")
	put(filepath.Join(dir, "empty"), "")
	put(filepath.Join(dir, "large"), strings.Repeat("x", 1<<20))
	if link = filepath.Join(dir, "link"); os.Symlink("tok.txt", link) != nil {
		t.Fatal("no link")
	}
	key := canary + "\n{env:A} {file:tok.txt}"
	env := lookup(map[string]string{"HOME": home, "A": "tok", "F": "{file:tok.txt}"})
	from := []definition.Source{{Agent: "opencode", File: filepath.Join(dir, "opencode.json"), Scope: definition.Project}}
	for in, want := range map[string]string{
		"{file:tok.txt}": key, "Bearer {file:./tok.txt}!": "Bearer " + key + "!", "{file:~/h.txt}": "homey", "{file:{env:A}.txt}": key,
		"{file:" + home + "/h.txt}-{env:A}-{file:~/h.txt}": "homey-tok-homey", "{env:F}": "{file:tok.txt}", "{file:empty}|": "|", "{file:link}": key,
		"{file:large}": "error", "{file:nope.txt}": "error", "{file:.}": "error", "{file:{env:NO}nope}": "error",
	} {
		d := definition.Definition{ID: "s", Transport: definition.Stdio, Command: "c", Args: []string{in}, Sources: from}
		got, err := d.Expand(env)
		switch {
		case want == "error":
			if err == nil || strings.Contains(err.Error(), canary) {
				t.Errorf("%s: %v", in, err)
			}
		case err != nil || got.Args[0] != want:
			t.Errorf("%s: %q, %v; want %q", in, got.Args, err, want)
		}
	}

	for name, d := range map[string]definition.Definition{
		"argument": {Transport: definition.Stdio, Command: "c", Args: []string{"--key={file:tok.txt}"}},
		"variable": {Transport: definition.Stdio, Command: "c", Env: map[string]string{"KEY": "{file:~/h.txt}{file:tok.txt}"}},
		"header":   {Transport: definition.HTTP, URL: "https://x.example", Headers: map[string]string{"Authorization": "Bearer {file:tok.txt}"}},
		"missing":  {Transport: definition.HTTP, URL: "https://x.example", Headers: map[string]string{"X": "{file:later}"}},
	} {
		d.ID, d.Sources = "s", from
		files := definition.FileHasher{Dir: dir, Roots: []string{dir}, Lookup: env, Key: []byte("k")}
		file := filepath.Join(dir, "tok.txt")
		if name == "missing" {
			file = filepath.Join(dir, "later")
		} else {
			put(file, canary)
		}
		was, plan, err := d.Planned(files)
		if err != nil {
			t.Fatal(err)
		}
		if again := hashOf(t, d, files); again != was {
			t.Errorf("%s: two hashes of the same", name)
		}
		shown := strings.Join(d.Shown(files), "\n")
		if strings.Contains(shown, canary) || !strings.Contains(shown, "content of a file: project:"+filepath.Base(file)) {
			t.Errorf("%s: shown is\n%s", name, shown)
		}
		put(file, canary+"-other")
		if hashOf(t, d, files) == was {
			t.Errorf("%s: another content has the same hash", name)
		}
		if diff := strings.Join(definition.Diff(strings.Split(shown, "\n"), d.Shown(files)), "\n"); !strings.Contains(diff, filepath.Base(file)) || strings.Contains(diff, canary) {
			t.Errorf("%s: the difference is\n%s", name, diff)
		}
		other := files
		if other.Key = []byte("another"); hashOf(t, d, files) == hashOf(t, d, other) {
			t.Errorf("%s: whoever knows no key can try contents", name)
		}
		// What was read for the decision is what is started.
		l, err := plan.Definition(d).Expand(env)
		if name == "missing" {
			if err == nil {
				t.Error("what was missing when it was looked at is read later")
			}
			continue
		}
		all := strings.Join(append(append([]string{l.Headers["Authorization"]}, l.Args...), l.Env...), " ")
		if err != nil || strings.Contains(all, "-other") || !strings.Contains(all, canary) {
			t.Errorf("%s: started is %q (%v)", name, all, err)
		}
	}
}
