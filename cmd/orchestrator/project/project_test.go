package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// person is somebody's machine for one test.
type person struct {
	t      *testing.T
	base   string
	places Places
}

func newPerson(t *testing.T) *person {
	t.Helper()
	base, err := os.MkdirTemp("", "p") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	if base, err = filepath.EvalSymlinks(base); err != nil {
		t.Fatal(err)
	}
	h := &person{t: t, base: base, places: Places{
		Home: filepath.Join(base, "home"), State: filepath.Join(base, "home", "state"), Runtime: filepath.Join(base, "run"),
	}}
	for _, dir := range []string{h.places.Home, h.places.Runtime} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func (h *person) path(name string) string { return filepath.Join(h.base, name) }

// sh runs commands in the person's folder.
func (h *person) sh(script string) {
	h.t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = h.base
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + h.places.Home, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Tess", "GIT_AUTHOR_EMAIL=tess@example.com",
		"GIT_COMMITTER_NAME=Tess", "GIT_COMMITTER_EMAIL=tess@example.com",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=protocol.file.allow", "GIT_CONFIG_VALUE_0=always",
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		h.t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// repository makes a repository with one commit.
func (h *person) repository(name string) {
	h.t.Helper()
	h.sh(fmt.Sprintf("git init -q -b main %[1]s && echo hello > %[1]s/a.txt && "+
		"git -C %[1]s add . && git -C %[1]s commit -qm begin", name))
}

func (h *person) find(name string) Project {
	h.t.Helper()
	p, err := Find(h.t.Context(), h.path(name), h.places)
	if err != nil {
		h.t.Fatal(err)
	}
	return p
}

// claim finds a project and makes its state.
func (h *person) claim(name string) Project {
	h.t.Helper()
	p := h.find(name)
	if err := p.Claim(); err != nil {
		h.t.Fatalf("%s: %v", name, err)
	}
	if info, err := os.Lstat(p.StateDir()); err != nil || info.Mode().Perm() != 0o700 {
		h.t.Fatalf("%s: the state folder %s is %v %v", name, p.StateDir(), info, err)
	}
	return p
}

// told reports whether a notice holds all words.
func told(p Project, words ...string) bool {
	for _, n := range p.Notices {
		all := true
		for _, w := range words {
			all = all && strings.Contains(n, w)
		}
		if all {
			return true
		}
	}
	return false
}

// undecided expects that the person is asked, with words in what is said.
func (h *person) undecided(name string, words ...string) Project {
	h.t.Helper()
	p := h.find(name)
	if p.ID != "" || p.Socket != "" {
		h.t.Errorf("%s: there is a state though it is not clear which: %s", name, p.StateDir())
	}
	err := p.Claim()
	if !errors.Is(err, ErrUndecided) {
		h.t.Fatalf("%s: %v", name, err)
	}
	for _, w := range append(words, "orchestrator adopt") {
		if !strings.Contains(err.Error(), w) {
			h.t.Errorf("%q does not say %q", err, w)
		}
	}
	return p
}

func TestFoundAgain(t *testing.T) {
	t.Parallel()
	h := newPerson(t)
	h.repository("p")
	h.sh("mkdir -p p/deep/down plain && git -C p worktree add -q ../tree")
	if p := h.find("p"); p.ID != "" || p.Socket != "" || p.StateDir() != "" {
		t.Errorf("looking made a state: %+v", p)
	}
	if _, err := os.Lstat(h.places.State); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("looking wrote: %v", err)
	}
	first := h.claim("p")
	if !first.Repository || len(first.Notices) != 0 || !strings.HasPrefix(filepath.Base(first.StateDir()), "p-") ||
		filepath.Dir(first.Socket) != h.path("run/orchestrator") {
		t.Errorf("got %+v", first)
	}
	for _, name := range []string{"p", "p/deep/down", "tree"} { // a worktree is its main one's project
		if p := h.find(name); p.ID != first.ID || p.Root != h.path("p") || len(p.Notices) != 0 || p.found.write {
			t.Errorf("%s: got %+v", name, p)
		}
	}
	plain := h.claim("plain")
	if again := h.claim("plain"); plain.ID == first.ID || again.ID != plain.ID || plain.Repository {
		t.Errorf("a folder without git: %+v, then %+v", plain, again)
	}
	h.sh("git init -q plain")
	if p := h.claim("plain"); p.ID != plain.ID || !p.Repository {
		t.Errorf("after git init: %+v", p)
	}
	h.sh("mv plain elsewhere") // now it is known by its git directory
	if p := h.claim("elsewhere"); p.ID != plain.ID {
		t.Errorf("after git init and a move: %+v", p)
	}
}

func TestMovedAndCopied(t *testing.T) {
	t.Parallel()
	h := newPerson(t)
	h.repository("p")
	first := h.claim("p")
	h.sh("cp -a p copy")
	twin := h.claim("copy")
	if twin.ID == first.ID || !told(twin, "copy of "+h.path("p")) {
		t.Errorf("the copy: %+v", twin)
	}
	if p := h.claim("p"); p.ID != first.ID || len(p.Notices) != 0 {
		t.Errorf("the original after a copy: %+v", p)
	}
	if p := h.claim("copy"); p.ID != twin.ID || len(p.Notices) != 0 {
		t.Errorf("the copy again: %+v", p)
	}
	h.sh("mv p q")
	if p := h.find("q"); p.ID != first.ID || p.Root != h.path("q") || p.Socket != first.Socket {
		t.Errorf("looking at what was moved: %+v", p)
	}
	moved := h.claim("q")
	if moved.ID != first.ID || !told(moved, "moved from "+h.path("p")) ||
		len(moved.Was) != 1 || moved.Was[0] != h.path("p") {
		t.Errorf("moved: %+v", moved)
	}
	if p := h.claim("q"); len(p.Notices) != 0 || p.ID != first.ID {
		t.Errorf("moved and told twice: %+v", p)
	}
	h.repository("p") // another one where it was
	if p := h.claim("p"); p.ID == first.ID || len(p.Notices) != 0 {
		t.Errorf("another repository where one was: %+v", p)
	}
}

// TestGoneIsNoProof: what carries a known id while its place is gone may be the project on another disk, or a copy
// of one whose disk is not mounted.
func TestGoneIsNoProof(t *testing.T) {
	t.Parallel()
	for how, settle := range map[string]func(*Project) error{
		"adopt": func(p *Project) error { return p.Adopt("") },
		"new":   func(p *Project) error { return p.Begin() },
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			h := newPerson(t)
			h.repository("p")
			first := h.claim("p")
			h.sh("cp -a p q && mv p away")
			p := h.undecided("q", h.path("p"), "not mounted", filepath.Base(first.StateDir()))
			if err := settle(&p); err != nil {
				t.Fatal(err)
			}
			again := h.claim("q")
			if again.ID != p.ID || (p.ID == first.ID) != (how == "adopt") {
				t.Errorf("first %s, %s, again %s", first.ID, p.ID, again.ID)
			}
			h.sh("mv away p") // the disk is there again
			back := h.claim("p")
			if (back.ID == first.ID) != (how == "new") {
				t.Errorf("what was away is %s, first %s", back.ID, first.ID)
			}
			if p := h.claim("q"); p.ID != again.ID {
				t.Errorf("q is %s, was %s", p.ID, again.ID)
			}
		})
	}
}

func TestRepositoryThatIsGone(t *testing.T) {
	t.Parallel()
	h := newPerson(t)
	h.repository("p")
	first := h.claim("p")
	h.sh("mv p/.git kept")
	p := h.undecided("p", "not mounted")
	h.sh("mv kept p/.git")
	if p := h.claim("p"); p.ID != first.ID {
		t.Errorf("when it is back: %+v", p)
	}
	h.sh("mv p/.git kept")
	if err := p.Adopt(""); err != nil {
		t.Fatal(err)
	}
	if p := h.claim("p"); p.ID != first.ID || p.Repository {
		t.Errorf("adopted without git: %+v", p)
	}
	h.sh("cp -a kept p/.git") // from a backup
	if p := h.claim("p"); p.ID != first.ID {
		t.Errorf("restored: %+v", p)
	}
	h.sh("rm -rf p/.git && git init -q p") // another repository in the same folder
	if p := h.claim("p"); p.ID == first.ID || !told(p, "another repository", "adopt "+filepath.Base(first.StateDir())) {
		t.Errorf("another repository: %+v", p)
	}
	p = h.find("p")
	if err := p.Adopt(filepath.Base(first.StateDir())); err != nil {
		t.Fatal(err)
	}
	if p := h.claim("p"); p.ID != first.ID || len(p.Notices) != 0 {
		t.Errorf("adopted by name: %+v", p)
	}
}

// TestOddMarks plants what is no id of ours where it lies. Nothing that is not a regular file of this user is
// replaced, nothing is followed, and the project keeps its state.
func TestOddMarks(t *testing.T) {
	t.Parallel()
	for what, test := range map[string]struct {
		plant    string
		replaced bool
	}{
		"empty":          {"rm -f $F; : > $F", true},
		"junk":           {"rm -f $F; echo '../../etc/passwd' > $F", true},
		"upper case":     {"rm -f $F; echo ABCDEF0123456789ABCDEF0123456789 > $F", true},
		"1 GB":           {"rm -f $F; truncate -s 1G $F", true},
		"gone":           {"rm -f $F", true},
		"a link":         {"rm -f $F; echo precious > victim; ln -s ../../victim $F", false},
		"a link to null": {"rm -f $F; ln -s /dev/zero $F", false},
		"a pipe":         {"rm -f $F; mkfifo $F", false},
		"a folder":       {"rm -f $F; mkdir $F", false},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			h := newPerson(t)
			h.repository("p")
			h.repository("fresh")
			first := h.claim("p")
			for _, name := range []string{"p", "fresh"} {
				file := h.path(name + "/.git/" + markName)
				h.sh("F=" + file + "; " + test.plant)
				before, _ := os.Lstat(file)
				p := h.claim(name)
				if name == "p" && p.ID != first.ID {
					t.Errorf("the state was lost: %+v", p)
				}
				if what != "gone" && !told(p, markName) {
					t.Errorf("%s: nothing was said: %v", name, p.Notices)
				}
				if content, err := readIf(test.replaced, file); test.replaced && (err != nil || string(content) != p.ID+"\n") {
					t.Errorf("%s: the id is %.40q %v", name, content, err)
				}
				if after, err := os.Lstat(file); !test.replaced && (err != nil || !os.SameFile(before, after)) {
					t.Errorf("%s: what was planted was replaced: %v", name, err)
				}
				if again := h.claim(name); again.ID != p.ID {
					t.Errorf("%s: found again as %s, was %s", name, again.ID, p.ID)
				}
			}
			if b, err := os.ReadFile(h.path("victim")); err == nil && string(b) != "precious\n" {
				t.Errorf("the victim is %q", b)
			}
		})
	}
}

// readIf reads a file of which it is known that reading ends.
func readIf(ends bool, file string) ([]byte, error) {
	if !ends {
		return nil, nil
	}
	return os.ReadFile(file)
}
