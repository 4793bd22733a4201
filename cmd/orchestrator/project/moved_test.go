package project

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// empty makes a repository without a commit.
func (h *person) empty(name string) {
	h.t.Helper()
	h.sh("git init -q -b main " + name)
}

// TestMovedWhateverIsThere moves a project and puts something else where it was: its threads are found from its new
// place, that is said once, and what lies at the old place gets none of them.
func TestMovedWhateverIsThere(t *testing.T) {
	t.Parallel()
	for what, test := range map[string]struct {
		at, script, now string
		other           string // another project, which must not get the threads; "" where there is none
	}{
		"nothing":                 {at: "p", script: "mv p q", now: "q"},
		"a link":                  {at: "p", script: "mv p q; ln -s q p", now: "q"},
		"a link, started by it":   {at: "p", script: "mv p q; ln -s q p", now: "p"},
		"an empty folder":         {at: "p", script: "mv p q; mkdir p", now: "q", other: "p"},
		"a file":                  {at: "p", script: "mv p q; : > p", now: "q"},
		"a pipe":                  {at: "p", script: "mv p q; mkfifo p", now: "q"},
		"a dangling link":         {at: "p", script: "mv p q; ln -s nowhere p", now: "q"},
		"a link to itself":        {at: "p", script: "mv p q; ln -s p p", now: "q"},
		"another repository":      {at: "p", script: "mv p q; git init -q p", now: "q", other: "p"},
		"a copy of it":            {at: "p", script: "mv p q; cp -a q p", now: "q", other: "p"},
		"a bare repository":       {at: "p", script: "mv p q; git init -q --bare p", now: "q", other: "p"},
		"an empty .git":           {at: "p", script: "mv p q; mkdir -p p/.git", now: "q", other: "p"},
		"a .git elsewhere":        {at: "p", script: "mv p q; mkdir p; echo 'gitdir: /nowhere' > p/.git", now: "q", other: "p"},
		"a parent renamed":        {at: "src/p", script: "mv src code", now: "code/p"},
		"a parent linked":         {at: "src/p", script: "mv src code; ln -s code src", now: "code/p"},
		"a parent replaced":       {at: "src/p", script: "mv src code; git init -q src; mkdir src/p", now: "code/p"},
		"a submodule":             {at: "super/sub", script: "mv super s2; mkdir -p super/sub", now: "s2/sub"},
		"a submodule, copied":     {at: "super/sub", script: "mv super s2; cp -a s2 super", now: "s2/sub", other: "super/sub"},
		"another letter case":     {at: "p", script: "mv p P; mkdir p", now: "P", other: "p"},
		"the mark is lost":        {at: "p", script: "mv p q; rm q/.git/" + markName + "; git init -q p", now: "q", other: "p"},
		"the mark of another":     {at: "p", script: "mv p q; echo 00000000000000000000000000000000 > q/.git/" + markName, now: "q"},
		"a git folder elsewhere":  {at: "sep", script: "mv sep q; mkdir sep", now: "q", other: "sep"},
		"a plain folder, linked":  {at: "plain", script: "mv plain q; ln -s q plain", now: "q"},
		"to another disk, linked": {at: "p", script: "cp -a p q; rm -rf p; ln -s q p", now: "q"},
		"moved twice":             {at: "p", script: "mv p o; git init -q p; mv o q; ln -s q o", now: "q", other: "p"},
		"into its own old folder": {at: "p", script: "mv p o; mkdir p; mv o p/q", now: "p/q", other: "p"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			h := newPerson(t)
			switch filepath.Base(test.at) {
			case "sub":
				h.repository("lib")
				h.repository("super")
				h.sh(`git -C super submodule --quiet add "$PWD/lib" sub && git -C super commit -qm sub`)
			case "sep":
				h.sh("git init -q --separate-git-dir=kept sep")
			case "plain":
				h.sh("mkdir plain")
			default:
				h.sh("mkdir -p src")
				h.empty(test.at)
			}
			first := h.claim(test.at)
			if what == "another letter case" && exists(h.path("P")) {
				t.Skip("SKIPPED: the file system ignores the case of letters")
			}
			h.sh(test.script)
			moved := h.claim(test.now)
			root, err := filepath.EvalSymlinks(h.path(test.now))
			if err != nil {
				t.Fatal(err)
			}
			if moved.ID != first.ID || moved.Root != root || !told(moved, "moved from "+first.Root) {
				t.Fatalf("the project is %s at %s, was %s: %q", moved.ID, moved.Root, first.ID, moved.Notices)
			}
			if again := h.claim(test.now); again.ID != first.ID || len(again.Notices) != 0 {
				t.Errorf("again: %s %q", again.ID, again.Notices)
			}
			if test.other == "" {
				return
			}
			if other := h.claim(test.other); other.ID == first.ID {
				t.Errorf("what is at %s has its threads", test.other)
			}
			if again := h.claim(test.now); again.ID != first.ID || len(again.Notices) != 0 {
				t.Errorf("after that: %s %q", again.ID, again.Notices)
			}
		})
	}
}

// TestExchanged gives each of two projects the place of the other: each keeps its threads, whichever is started first.
func TestExchanged(t *testing.T) {
	t.Parallel()
	for _, order := range [][2]string{{"a", "b"}, {"b", "a"}} {
		for what, make := range map[string]func(h *person){
			"repositories": func(h *person) { h.empty("a"); h.empty("b") },
			"a copy":       func(h *person) { h.empty("a"); h.sh("cp -a a b") },
			"submodules": func(h *person) {
				h.repository("lib")
				h.repository("super")
				h.sh(`git -C super submodule --quiet add "$PWD/lib" a; git -C super submodule --quiet add "$PWD/lib" b
					ln -s super/a a; ln -s super/b b`)
			},
		} {
			t.Run(what+", "+order[0]+" first", func(t *testing.T) {
				t.Parallel()
				h := newPerson(t)
				make(h)
				a, b := h.claim("a"), h.claim("b")
				h.sh(`a=$(readlink -f a) b=$(readlink -f b); mv "$a" x; mv "$b" "$a"; mv x "$b"`)
				for range 2 {
					for _, name := range order {
						want := map[string]string{"a": b.ID, "b": a.ID}[name]
						if what == "submodules" { // their .git files name their places in the superproject
							want = map[string]string{"a": b.ID, "b": a.ID}[name]
						}
						if p := h.claim(name); p.ID != want {
							t.Fatalf("%s has another's threads, or none: %q", name, p.Notices)
						}
					}
				}
			})
		}
	}
}

// TestPlainFolders: a folder without a repository is known by its path. Where another one that we know is there now,
// or it is at another path, nothing is taken in silence.
func TestPlainFolders(t *testing.T) {
	t.Parallel()
	for what, script := range map[string]string{
		"moved":                 "mv a b",
		"an empty folder there": "mv a b; mkdir a",
		"a file there":          "mv a b; : > a",
		"exchanged":             "mv a x; mv c a; mv x c; ln -s c b",
		"a repository there":    "mv a b; git init -q a",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			h := newPerson(t)
			h.sh("mkdir a c")
			a, c := h.claim("a"), h.claim("c")
			if a.here.rootAt.Born == 0 {
				t.Skip("SKIPPED: the file system does not tell when a folder was made")
			}
			h.sh(script)
			p := h.undecided("b", a.Root, filepath.Base(a.StateDir()))
			if what == "exchanged" {
				h.undecided("a", c.Root, filepath.Base(c.StateDir()))
			}
			if what == "a repository there" {
				if p := h.find("a"); p.ID == a.ID || !told(p, "adopt "+filepath.Base(a.StateDir())) {
					t.Errorf("a repository where a plain folder was: %+v", p)
				}
			}
			if err := p.Adopt(""); err != nil {
				t.Fatal(err)
			}
			if p := h.claim("b"); p.ID != a.ID || len(p.Notices) != 0 {
				t.Errorf("adopted: %+v", p)
			}
		})
	}
}

// TestBindMount: a second way to the same folder is the same project.
func TestBindMount(t *testing.T) {
	asRoot(t)
	t.Parallel()
	for _, plain := range []bool{false, true} {
		h := newPerson(t)
		h.sh("mkdir p q")
		if !plain {
			h.empty("p")
		}
		if err := syscall.Mount(h.path("p"), h.path("q"), "", syscall.MS_BIND, ""); err != nil {
			t.Skipf("SKIPPED: mounting is not allowed: %v", err)
		}
		t.Cleanup(func() { _ = syscall.Unmount(h.path("q"), syscall.MNT_DETACH) })
		first := h.claim("p")
		for range 2 {
			if p := h.claim("q"); p.ID != first.ID || p.Root != first.Root || len(p.Notices) != 0 {
				t.Errorf("plain %v: by the mount: %+v", plain, p)
			}
			if p := h.claim("p"); p.ID != first.ID || len(p.Notices) != 0 {
				t.Errorf("plain %v: %+v", plain, p)
			}
		}
	}
}

// TestBackupElsewhere: what carries the id of a project from which it differs, while something else is at that one's
// place, may be the project put back from a backup: the person is asked.
func TestBackupElsewhere(t *testing.T) {
	t.Parallel()
	for what, script := range map[string]string{
		"nothing":            "cp -a p q; rm -rf p",
		"another repository": "cp -a p q; rm -rf p; git init -q p",
		"an empty folder":    "cp -a p q; rm -rf p; mkdir p",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			h := newPerson(t)
			h.empty("p")
			first := h.claim("p")
			h.sh(script)
			p := h.undecided("q", strings.TrimPrefix(first.Root, h.base), filepath.Base(first.StateDir()))
			if err := p.Adopt(""); err != nil {
				t.Fatal(err)
			}
			if p := h.claim("q"); p.ID != first.ID || len(p.Notices) != 0 {
				t.Errorf("adopted: %+v", p)
			}
		})
	}
	h := newPerson(t)
	h.empty("p")
	first := h.claim("p")
	h.sh("mv p o; cp -a o p; cp -a o q") // put back, and a copy beside it
	if p := h.claim("q"); p.ID == first.ID || !told(p, "copy of "+h.path("p")) {
		t.Errorf("a copy of what was put back: %+v", p)
	}
}
