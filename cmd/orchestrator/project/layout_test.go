package project

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
	"orchestrator/thread/private"
)

// TestLayouts: a submodule is a project of its own, as is each worktree of a bare repository; a bare repository's own
// folder and a second folder with the same git directory are known by their paths.
func TestLayouts(t *testing.T) {
	t.Parallel()
	h := newPerson(t)
	h.repository("lib")
	h.repository("super")
	h.sh(`git -C super submodule --quiet add "$PWD/lib" sub && git -C super commit -qm sub
		git clone -q --bare lib bare.git
		git -C bare.git worktree add -q ../one main && git -C bare.git worktree add -q -b two ../two
		git init -q --separate-git-dir=kept separate
		mkdir second && cp separate/.git second/.git
		git -C super worktree add -q -b side ../side`)
	seen := map[string]string{}
	var ids []string
	for _, name := range []string{"super", "super/sub", "bare.git", "one", "two", "separate", "second"} {
		p := h.claim(name)
		if p.Root != h.path(name) || len(p.Notices) != 0 {
			t.Errorf("%s: %+v", name, p)
		}
		if other, ok := seen[p.ID]; ok {
			t.Errorf("%s has the state of %s", name, other)
		}
		seen[p.ID], ids = name, append(ids, p.ID)
	}
	for i, name := range []string{"super", "super/sub", "bare.git", "one", "two", "separate", "second"} {
		if p := h.claim(name); p.ID != ids[i] || len(p.Notices) != 0 {
			t.Errorf("%s again: %s, was %s: %v", name, p.ID, ids[i], p.Notices)
		}
	}
	if p := h.claim("side"); p.ID != ids[0] || p.Root != h.path("super") {
		t.Errorf("a worktree of super: %+v", p)
	}
	if p := h.find("bare.git"); p.Repository || !errors.Is(p.Refused, git.ErrBare) {
		t.Errorf("a bare repository: %+v", p)
	}
	for _, file := range []string{"bare.git/" + markName, "super/sub/" + markName, "second/" + markName} {
		if exists(h.path(file)) {
			t.Errorf("written: %s", file)
		}
	}
	for _, dir := range []string{"super/.git/modules/sub/", "bare.git/worktrees/one/", "kept/"} {
		if file := dir + markName; !exists(h.path(file)) {
			t.Errorf("not written: %s", file)
		}
	}
	h.sh("mv one three && git -C bare.git worktree repair ../three >/dev/null 2>&1")
	if p := h.claim("three"); p.ID != ids[3] {
		t.Errorf("a moved worktree of a bare repository: %+v", p)
	}
}

// TestMarkOfAnotherHome: two users, or a container and its host, that see one repository have a state each, and leave
// each other's mark alone.
func TestMarkOfAnotherHome(t *testing.T) {
	t.Parallel()
	h := newPerson(t)
	h.repository("p")
	first := h.claim("p")
	other := *h
	other.places.State = h.path("state2")
	second := other.claim("p")
	if second.ID == first.ID {
		t.Error("two homes share a state's id, and with it a socket")
	}
	for range 2 {
		if p := h.claim("p"); p.ID != first.ID || len(p.Notices) != 0 {
			t.Errorf("the first home: %+v", p)
		}
		if p := other.claim("p"); p.ID != second.ID || len(p.Notices) != 0 {
			t.Errorf("the second home: %+v", p)
		}
		if h.base == filepath.Dir(h.path("p")) {
			h.sh("mv p q && mv q p")
		}
	}
	h.sh("mv p q")
	if p := other.claim("q"); p.ID != second.ID {
		t.Errorf("moved, from the second home: %+v", p)
	}
	if p := h.claim("q"); p.ID != first.ID {
		t.Errorf("moved, from the first home: %+v", p)
	}
}

// asRoot skips where what a test needs takes root.
func asRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: it gives files to another user, or mounts, which takes root")
	}
}

// TestForeignRepository: nothing is written into somebody else's git directory, and what lies there names no state.
func TestForeignRepository(t *testing.T) {
	asRoot(t)
	t.Parallel()
	h := newPerson(t)
	h.repository("p")
	h.repository("ours")
	ours := h.claim("ours")
	h.sh("cp ours/.git/" + markName + " p/.git/ && chown -R 12345:12345 p")
	p := h.claim("p")
	if p.ID == ours.ID || !errors.Is(p.Refused, git.ErrOwner) ||
		!strings.Contains(p.Refused.Error(), "safe.directory "+h.path("p")) {
		t.Errorf("got %+v", p)
	}
	b, err := os.ReadFile(h.path("p/.git/" + markName))
	if err != nil || string(b) != ours.ID+"\n" || len(p.Notices) != 0 {
		t.Errorf("somebody else's git directory was used: %q %v %v", b, err, p.Notices)
	}
	if again := h.claim("p"); again.ID != p.ID {
		t.Errorf("found again as %s, was %s", again.ID, p.ID)
	}
	h.sh("chown -R 0:0 p && rm p/.git/" + markName)
	if again := h.claim("p"); again.ID != p.ID || !again.Repository {
		t.Errorf("when it is ours: %+v, was %s", again, p.ID)
	}
}

func TestReadOnlyGitDirectory(t *testing.T) {
	asRoot(t)
	t.Parallel()
	h := newPerson(t)
	h.repository("p")
	dir := h.path("p/.git")
	if err := syscall.Mount(dir, dir, "", syscall.MS_BIND, ""); err != nil {
		t.Skipf("SKIPPED: mounting is not allowed: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	if err := syscall.Mount("", dir, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	p := h.claim("p")
	if !told(p, "known by its path", "read-only") {
		t.Errorf("nothing was said: %v", p.Notices)
	}
	if again := h.claim("p"); again.ID != p.ID || len(again.Notices) != 0 {
		t.Errorf("found again as %+v, was %s", again, p.ID)
	}
}

// TestDamagedRecord: a state whose record cannot be read is not forgotten in silence.
func TestDamagedRecord(t *testing.T) {
	t.Parallel()
	for what, damage := range map[string]func(file string) error{
		"empty":      func(f string) error { return os.Truncate(f, 0) },
		"junk":       func(f string) error { return os.WriteFile(f, []byte("{"), 0o600) },
		"gone":       os.Remove,
		"another's":  func(f string) error { return os.WriteFile(f, []byte(`{"id":"`+newMark()+`","root":"/etc"}`), 0o600) },
		"a bad id":   func(f string) error { return os.WriteFile(f, []byte(`{"id":"../../x","root":"/etc"}`), 0o600) },
		"a bad root": func(f string) error { return os.WriteFile(f, []byte(`{"root":"../../x"}`), 0o600) },
		"a link": func(f string) error {
			return errors.Join(os.Rename(f, f+".away"), os.Symlink(f+".away", f))
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			h := newPerson(t)
			h.repository("p")
			first := h.claim("p")
			if err := damage(filepath.Join(first.StateDir(), recordName)); err != nil {
				t.Fatal(err)
			}
			p := h.undecided("p", filepath.Base(first.StateDir()), "cannot be read")
			err := p.Adopt("")
			if what == "a link" {
				if !errors.Is(err, private.ErrNotOurs) {
					t.Errorf("adopted through a link: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if again := h.claim("p"); again.StateDir() != first.StateDir() {
				t.Errorf("adopted as %s, was %s", again.StateDir(), first.StateDir())
			}
		})
	}
}

// TestNewerRecord is left as it is.
func TestNewerRecord(t *testing.T) {
	t.Parallel()
	h := newPerson(t)
	h.repository("p")
	first := h.claim("p")
	file := filepath.Join(first.StateDir(), recordName)
	newer := `{"version":2,"id":"` + first.ID + `","root":7}`
	if err := os.WriteFile(file, []byte(newer), 0o600); err != nil {
		t.Fatal(err)
	}
	p := h.undecided("p", "newer orchestrator")
	if err := p.Adopt(""); err == nil {
		t.Error("a newer state was adopted")
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != newer {
		t.Errorf("the record is %s %v", b, err)
	}
}

func TestPathsOfAnyBytes(t *testing.T) {
	t.Parallel()
	h := newPerson(t)
	name := "odd \xff\n\x1b[31m name"
	if err := os.Mkdir(h.path(name), 0o700); err != nil {
		t.Skipf("SKIPPED: the file system refuses the name: %v", err)
	}
	first := h.claim(name)
	if again := h.claim(name); again.ID != first.ID || again.Root != h.path(name) {
		t.Errorf("found again as %+v", again)
	}
}

func TestWhereStateMayLie(t *testing.T) {
	t.Parallel()
	h := newPerson(t)
	h.repository("p")
	h.repository("home/work")
	outside := h.path("outside")
	accept := func(string) bool { return true }
	for name, test := range map[string]struct {
		dir    string
		places Places
		want   error
		words  string
	}{
		"as it is":                {dir: "p"},
		"below a temporary one":   {"p", Places{Temp: []string{h.base}}, ErrExposed, "XDG_STATE_HOME"},
		"reached through a link":  {"p", Places{State: h.path("link"), Temp: []string{h.path("temp")}}, ErrExposed, ""},
		"in the project":          {"p", Places{State: h.path("p/.state")}, ErrExposed, "XDG_STATE_HOME"},
		"home, not accepted":      {dir: "home", places: Places{State: outside}, want: ErrWide, words: "trust --folder"},
		"home that holds it":      {dir: "home", want: ErrWide, words: "could write"},
		"home, accepted":          {dir: "home", places: Places{Accepted: accept}},
		"below home":              {dir: "home/work"},
		"above home":              {".", Places{Accepted: accept}, ErrExposed, "holds orchestrator's own state"},
		"no home at all":          {dir: "p", places: Places{State: "relative"}, words: "Set HOME"},
		"temporary, a mere start": {dir: "p", places: Places{Temp: []string{h.base + "/hom", "", "relative"}}},
	} {
		t.Run(name, func(t *testing.T) {
			places := test.places
			places.Home, places.Runtime = h.places.Home, h.places.Runtime
			if places.State == "" {
				places.State = h.places.State
			}
			h.sh("mkdir -p temp && ln -sfn temp link")
			p, err := Find(t.Context(), filepath.Join(h.base, test.dir), places)
			if err != nil {
				t.Fatal(err)
			}
			err = p.Claim()
			if test.want == nil && test.words == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if test.want != nil && !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.words) {
				t.Errorf("got %v, want %v with %q", err, test.want, test.words)
			}
			if !errors.As(err, new(*thread.HintError)) {
				t.Errorf("%v says no way out", err)
			}
		})
	}
	root, err := Find(t.Context(), "/", h.places)
	if err != nil || !errors.Is(root.Claim(), ErrWide) {
		t.Errorf("the whole file system: %v %v", err, root.Problem)
	}
}

func TestWhereTheSocketIs(t *testing.T) {
	t.Parallel()
	h := newPerson(t)
	h.repository("p")
	long := h.path("run/" + strings.Repeat("long", 25))
	h.sh("mkdir -p '" + long + "'")
	below := filepath.Join(h.places.State, homeName, runName)
	ours := filepath.Join(h.places.Runtime, homeName)
	for name, test := range map[string]struct {
		places Places
		want   string
	}{
		"in the runtime folder":      {Places{Runtime: h.places.Runtime}, ours},
		"without one":                {Places{}, below},
		"one that is not there":      {Places{Runtime: h.path("none")}, below},
		"a relative one":             {Places{Runtime: "run"}, below},
		"below a temporary folder":   {Places{Runtime: h.places.Runtime, Temp: []string{h.places.Runtime}}, below},
		"in the project":             {Places{Runtime: h.path("p")}, below},
		"too long":                   {Places{Runtime: long}, below},
		"a link to a temporary one":  {Places{Runtime: h.path("to"), Temp: []string{h.path("temp")}}, below},
		"a link to the project's":    {Places{Runtime: h.path("top"), Temp: nil}, below},
		"the project's, through it":  {Places{Runtime: h.path("p/x")}, below},
		"a temporary one of another": {Places{Runtime: h.places.Runtime, Temp: []string{h.path("temp")}}, ours},
	} {
		t.Run(name, func(t *testing.T) {
			h.sh("mkdir -p temp p/x; ln -sfn temp to; ln -sfn p top")
			test.places.Home, test.places.State = h.places.Home, h.places.State
			p, err := Find(t.Context(), h.path("p"), test.places)
			if err == nil {
				err = p.Claim()
			}
			if err == nil {
				err = p.SocketProblem()
			}
			if err != nil {
				t.Fatal(err)
			}
			l, err := p.Listen()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = l.Close() }()
			if err := p.CheckSocket(); err != nil {
				t.Fatal(err)
			}
			if got := filepath.Dir(p.Socket); got != test.want {
				t.Errorf("the socket lies in %s, want %s", got, test.want)
			}
			if info, err := os.Lstat(test.want); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("its folder is %v %v", info, err)
			}
		})
	}
}

// TestSamePlace: a number that was given again is another folder, and a device may be numbered again.
func TestSamePlace(t *testing.T) {
	at := place{Device: 1, Inode: 2, Born: 3}
	for name, test := range map[string]struct {
		other          place
		same, samePath bool
	}{
		"itself":                        {at, true, true},
		"another inode":                 {place{Device: 1, Inode: 9, Born: 3}, false, false},
		"the inode given again":         {place{Device: 1, Inode: 2, Born: 4}, false, false},
		"a birth time that is not told": {place{Device: 1, Inode: 2}, true, true},
		"another device":                {place{Device: 7, Inode: 2, Born: 3}, false, true},
		"nothing":                       {place{}, false, false},
	} {
		if at.same(test.other, false) != test.same || at.same(test.other, true) != test.samePath {
			t.Errorf("%s: %v, with the same path %v", name, at.same(test.other, false), at.same(test.other, true))
		}
	}
	if (place{}).same(place{}, true) {
		t.Error("what does not exist is the same as itself")
	}
}
