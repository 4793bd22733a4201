package git

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrator/checkpoint/git/gittest"
)

// TestSettingsAreSorted: every setting that a test of the packages around plants is judged as it says there.
func TestSettingsAreSorted(t *testing.T) {
	for _, tc := range []struct {
		keys []string
		use  Use
	}{{gittest.Converts, Converts}, {gittest.Connects, Connects}, {gittest.Ignored, 0}} {
		for _, key := range tc.keys {
			section, sub, name, has := parts(key)
			key = strings.ToLower(section) + "." + strings.ToLower(name)
			if has {
				key = strings.ToLower(section) + "." + sub + "." + strings.ToLower(name)
			}
			if useOf(key) != tc.use || isData(key) {
				t.Errorf("%s: use %d, data %v", key, useOf(key), isData(key))
			}
		}
	}
	for _, key := range []string{
		"core.autocrlf", "user.name", "remote.a.b.url", "branch.x.y.remote", "extensions.objectformat", "extensions.someday",
		"filter.x.required",
		"credential.https://h.username", "http.postbuffer",
	} {
		if !isData(key) || useOf(key) != 0 {
			t.Errorf("%s is not given to git", key)
		}
	}
	if isData("extensions.worktreeconfig") {
		t.Error("a worktree's own configuration would be read again")
	}
}

// TestFreezeKeepsValues: what git reads from a view is what the repository's own configuration says.
func TestFreezeKeepsValues(t *testing.T) {
	g := newGit(t)
	ctx := context.Background()
	dir := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	values := map[string]string{
		"user.name": "A \"B\" \\ C; #\tü", "remote.a.b \"c\" \\d.url": "https://example.org/x y",
		"branch.x.description": "two\nlines",
		"core.autocrlf":        "input", "core.excludesfile": " leading and trailing ",
	}
	run := func(args ...string) {
		t.Helper()
		if _, err := g.Run(ctx, Call{Dir: dir, Args: args}); err != nil {
			t.Fatal(err)
		}
	}
	for key, value := range values {
		run("config", key, value)
	}
	run("config", "--add", "remote.two.url", "1")
	run("config", "--add", "remote.two.url", "2")
	f, err := os.OpenFile(filepath.Join(dir, ".git/config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("[commit]\n\tgpgSign\n[alias]\n\tx = !sh\n"); err != nil {
		t.Fatal(err)
	}
	f.Close()
	w, err := Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	own, err := g.ReadOwn(ctx, w)
	if err != nil {
		t.Fatal(err)
	}
	env, err := own.Freeze(t.TempDir(), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".git/config"), []byte("[user]\n\tname = later\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	get := func(args ...string) string {
		t.Helper()
		out, err := g.Run(ctx, Call{Dir: w.Root, Env: env, Args: append([]string{"config", "-z"}, args...), OK: []int{1}})
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSuffix(string(out), "\x00")
	}
	for key, value := range values {
		if got := get("--get", key); got != value {
			t.Errorf("%s is %q, not %q", key, got, value)
		}
	}
	if got := get("--get-all", "remote.two.url"); got != "1\x002" {
		t.Errorf("two values became %q", got)
	}
	if got := get("--type=bool", "--get", "commit.gpgsign"); got != "true" {
		t.Errorf("a name alone became %q", got)
	}
	if got := get("--get", "alias.x"); got != "" {
		t.Errorf("what is not known is given on: %q", got)
	}
}

func TestReadOwnOfWhatNeverEnds(t *testing.T) {
	g := newGit(t)
	dir := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	fifo := filepath.Join(dir, "fifo")
	if out, err := exec.Command("mkfifo", fifo).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	w, err := Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".git/config"), []byte("[include]\n\tpath = "+fifo+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g.readLimit = 1
	if _, err := g.ReadOwn(context.Background(), w); err == nil || !strings.Contains(err.Error(), "timed out") {
		t.Errorf("err = %v", err)
	}
}

func TestProtocols(t *testing.T) {
	o := Own{allows: []string{"codecommit", "ext", "a:ext", "protocol.allow"}}
	got := strings.Split(o.Protocols(), ":")
	if !slices.Contains(got, "codecommit") || !slices.Contains(got, "ssh") || slices.Contains(got, "ext") {
		t.Errorf("allowed are %q", got)
	}
}

func TestRedact(t *testing.T) {
	for in, want := range map[string]string{
		"fatal: unable to access 'https://user:pa@ss@host/x': no": "fatal: unable to access 'https://***@host/x': no",
		"https://ghp_token@github.com/x.git":                      "https://***@github.com/x.git",
		"ssh://git@host/x":                                        "ssh://git@host/x",
		"ssh://git:pw@host/x and HTTPS://a:b@c":                   "ssh://git:***@host/x and HTTPS://***@c",
		"https://host/a@b git@host:x":                             "https://host/a@b git@host:x",
	} {
		if got := Redact(in); got != want {
			t.Errorf("%q became %q, not %q", in, got, want)
		}
	}
	g := newGit(t)
	_, err := g.Run(context.Background(), Call{Dir: t.TempDir(), Env: []string{"GIT_ALLOW_PROTOCOL=https"},
		Args: []string{"ls-remote", "https://user:secret@127.0.0.1:1/x"}})
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("err = %v", err)
	}
}

func TestIgnored(t *testing.T) {
	g := newGit(t)
	dir := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, text := range map[string]string{
		".gitignore": "*.env\n/build/\n", ".env": "", "sub/x.env": "", "sub/y.env": "", "loose": "", "build/deep/out": "",
		"nested/.git/HEAD": "", "sp ace.env": "",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		patterns, want []string
	}{
		{[]string{"*.env"}, []string{".env", "sp ace.env", "sub/x.env", "sub/y.env"}},
		{[]string{"/*.env"}, []string{".env", "sp ace.env"}},
		{[]string{"*.env", "!y.env"}, []string{".env", "sp ace.env", "sub/x.env"}},
		{[]string{"loose"}, nil}, // it is not ignored: the snapshot has it
		{[]string{"build"}, []string{"build/deep/out"}},
		{[]string{"/etc/passwd", "-x", "../x"}, nil},
		{[]string{"**"}, []string{".env", "build/deep/out", "sp ace.env", "sub/x.env", "sub/y.env"}},
	} {
		got, err := g.Ignored(context.Background(), dir, tc.patterns)
		slices.Sort(got)
		if err != nil || !slices.Equal(got, tc.want) {
			t.Errorf("%q: %q, want %q (%v)", tc.patterns, got, tc.want, err)
		}
	}
}

// TestTextLeavesProgramsOut: git is given a program of the repository's own only where it was accepted, or is the
// person's as well.
func TestTextLeavesProgramsOut(t *testing.T) {
	o := &Own{persons: map[string]bool{"gpg.program\nmine": true}}
	for key, value := range map[string]string{
		"filter.x.clean": "foreign-1", "merge.x.driver": "foreign-2", "core.sshcommand": "foreign-3",
		"remote.origin.receivepack": "foreign-4",
		"url.ext::x.insteadof":      "foreign-5", "core.fsmonitor": "never-1", "core.hookspath": "never-2",
		"alias.status": "never-3",
		"gpg.program":  "mine", "user.name": "data",
	} {
		o.settings = append(o.settings, Setting{Key: key, Value: value, valued: true})
	}
	for accepted, want := range map[bool]map[string]int{
		false: {"foreign": 0, "never": 0, "mine": 1, "data": 1},
		true:  {"foreign": 5, "never": 0, "mine": 1, "data": 1},
	} {
		text := o.text(accepted)
		for word, n := range want {
			if got := strings.Count(text, word); got != n {
				t.Errorf("accepted %v: %d of %s in\n%s", accepted, got, word, text)
			}
		}
	}
}
