package launch_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"orchestrator/agent/launch"
	"orchestrator/thread"
)

func TestEnv(t *testing.T) {
	e := launch.Env{"A=1", "B=x=y", "A=2", "odd"}
	if e.Value("A") != "2" || e.Value("B") != "x=y" || e.Value("C") != "" {
		t.Errorf("values %q %q %q", e.Value("A"), e.Value("B"), e.Value("C"))
	}
	f := e.With("A", "3").Default("A", "4").Default("C", "5").Adding([]string{"B=z", "bad"})
	if f.Value("A") != "3" || f.Value("C") != "5" || f.Value("B") != "z" || e.Value("A") != "2" {
		t.Errorf("%q from %q", f, e)
	}
	for v, want := range map[string]bool{"": false, "0": false, "False": false, "1": true, "yes": true} {
		if (launch.Env{"X=" + v}).Enabled("X") != want {
			t.Errorf("On of %q is %v", v, !want)
		}
	}
}

func TestEnvironment(t *testing.T) {
	const bin = "/state/bin"
	for _, tt := range []struct {
		name, bin, path, want string
		env, flags            []string
	}{
		{name: "no folder", path: "/usr/bin", env: []string{"PATH=/usr/bin"}},
		{name: "first", bin: bin, want: bin + "/orchestrator", path: bin + ":/usr/bin:/bin",
			env: []string{"PATH=/usr/bin:/bin"}},
		{name: "once", bin: bin, want: bin + "/orchestrator", path: bin + ":/usr/bin", env: []string{"PATH=/usr/bin:" + bin}},
		{name: "before the thread's own", bin: bin, want: bin + "/orchestrator", path: bin + ":/their",
			env: []string{"PATH=/usr/bin"}, flags: []string{"PATH=/their"}},
		{name: "none set", bin: bin, want: bin + "/orchestrator", path: bin + ":/usr/local/bin:/usr/bin:/bin"},
		{name: "empty", bin: bin, want: bin + "/orchestrator", path: bin, env: []string{"PATH="}},
		{name: "working folder kept", bin: bin, want: bin + "/orchestrator", path: bin + "::/usr/bin",
			env: []string{"PATH=:/usr/bin"}},
		{name: "not absolute", bin: "bin", path: "/usr/bin", env: []string{"PATH=/usr/bin"}},
		{name: "colon", bin: "/a:b", want: "/a:b/orchestrator", path: "/usr/bin", env: []string{"PATH=/usr/bin"}},
	} {
		e := launch.Environment(thread.LaunchSpec{Env: tt.env, Flags: thread.Flags{Env: tt.flags}, Bin: tt.bin})
		if e.Value("PATH") != tt.path || e.Value(launch.ProgramVar) != tt.want {
			t.Errorf("%s: PATH %q, program %q", tt.name, e.Value("PATH"), e.Value(launch.ProgramVar))
		}
	}
}

func TestOlder(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"1.0.0", "1.0.0", false}, {"1.0", "1.0.1", true}, {"1.10.0", "1.9.9", false},
		{"2.1.330", "2.1.0", false}, {"0.99.0-rc1", "1.0.0", true}, {"1.2.3-beta.1", "1.2.3", false},
	} {
		if got := launch.Older(tt.a, tt.b); got != tt.want {
			t.Errorf("Older(%q, %q) = %v", tt.a, tt.b, got)
		}
	}
}

func TestWriteFile(t *testing.T) {
	dir, victim := t.TempDir(), filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, filepath.Join(dir, "x.json")); err != nil {
		t.Fatal(err)
	}
	path, err := launch.WriteFile(dir, "x.json", map[string]int{"a": 1})
	if err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(victim); err != nil || string(raw) != "mine" {
		t.Errorf("wrote through a symbolic link: %q, %v", raw, err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	for _, bad := range []string{"../x", "/x", ""} {
		if _, err := launch.WriteFile(dir, bad, 1); err == nil {
			t.Errorf("wrote %q", bad)
		}
	}
}

func TestInModules(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	put := func(path string) string {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	wrapper := put("lib/node_modules/@x/y/bin/y.js")
	want := put("lib/node_modules/@x/y/node_modules/@x/y-native/y")
	if err := os.Symlink(wrapper, filepath.Join(root, "y")); err != nil {
		t.Fatal(err)
	}
	if got := launch.InModules(filepath.Join(root, "y"), "@x/y-native/y"); got != want {
		t.Errorf("nested: %q, want %q", got, want)
	}
	os.Remove(want)
	want = put("lib/node_modules/@x/y-native/y")
	if got := launch.InModules(filepath.Join(root, "y"), "@x/y-native/y"); got != want {
		t.Errorf("hoisted: %q, want %q", got, want)
	}
	if got := launch.InModules(filepath.Join(root, "y"), "@x/z"); got != "" {
		t.Errorf("found %q", got)
	}
}

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":1}`:                             `{"a":1}`,
		"{// c\n\"a\": \"//x\\\"\", /* , */}": "{\n\"a\": \"//x\\\"\"}",
		`[1,2, ]`:                             `[1,2]`,
		`{"a":"unclosed`:                      `{"a":"unclosed`,
		`{"a":1 /* open`:                      `{"a":1 `,
		`"\`:                                  `"\`,
	} {
		if got := string(launch.StripComments([]byte(in))); got != want {
			t.Errorf("Plain(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzPlain(f *testing.F) {
	for _, s := range []string{`{"a":[1,],}`, `"\`, `/*`, `//`, `"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if got := launch.StripComments(raw); len(got) > len(raw) {
			t.Errorf("grew from %d to %d bytes", len(raw), len(got))
		}
	})
}

func TestDropOptions(t *testing.T) {
	args := []string{"--auto", "--agent", "build", "--agent=x", "--title", "a b", "-c", "--yolo=true", "--agents", "y"}
	if got := launch.DropOptions(args, "--auto", "--agent", "-c", "--yolo"); !slices.Equal(got, []string{"--title", "a b", "--agents", "y"}) {
		t.Errorf("%q", got)
	}
	if got := launch.DropOptions(nil, "--auto"); got != nil {
		t.Errorf("%q of nothing", got)
	}
}
