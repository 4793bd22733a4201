package repositories

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"orchestrator/checkpoint/sqlite"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/ground/sample"
)

// trap is a repository that means harm: what it plants, and where it would be seen to have worked.
type trap struct {
	*e2e.Rig
	outside string // folder of the person, beside the project
	witness string // folder in which every program of the trap leaves a file
	evil    string // such a program
}

func newTrap(t *testing.T) *trap {
	t.Helper()
	r := e2e.NewRig(t)
	base := filepath.Dir(r.Home)
	h := &trap{Rig: r, outside: filepath.Join(base, "outside"), witness: filepath.Join(base, "witness"), evil: filepath.Join(base, "evil")}
	if err := os.Mkdir(h.witness, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		filepath.Join(h.outside, "authorized_keys"): "ssh-ed25519 AAAA person\n", filepath.Join(h.outside, "Doc2", "thesis.txt"): "years of work\n",
		filepath.Join(r.Home, ".bashrc"): "# mine\n", filepath.Join(r.Home, ".gitconfig"): "[user]\n\tname = Tess\n\temail = tess@example.com\n",
	} {
		e2e.Put(t, name, content)
	}
	e2e.Put(t, h.evil, "#!/bin/sh\necho \"$0 $*\" >>"+filepath.Join(h.witness, "ran")+"\ncat\n")
	if err := os.Chmod(h.evil, 0o755); err != nil {
		t.Fatal(err)
	}
	return h
}

// link plants a symbolic link below the project.
func (h *trap) link(name, to string) {
	h.T.Helper()
	file := filepath.Join(h.Project, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.RemoveAll(file), os.Symlink(to, file)); err != nil {
		h.T.Fatal(err)
	}
}

// program plants a program that tells when it runs.
func (h *trap) program(name string) {
	h.T.Helper()
	h.Write(name, "#!/bin/sh\nexec "+h.evil+" "+name+" \"$@\"\n")
	if err := os.Chmod(filepath.Join(h.Project, name), 0o755); err != nil {
		h.T.Fatal(err)
	}
}

// database makes a database as ours is, with a thread whose resume would run a program.
func (h *trap) database(file string) {
	h.T.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		h.T.Fatal(err)
	}
	s, err := sqlite.Open(h.T.Context(), file, sqlite.Options{})
	if err != nil {
		h.T.Fatal(err)
	}
	id := thread.ID("00000000000000aa")
	err = s.CreateThread(h.T.Context(), thread.Thread{
		ID: id, Name: "trap-00aa", Label: "trap", Agent: "command", Dir: h.Project, Interrupted: true, Created: time.Now(),
		Launch: thread.Flags{Program: []string{h.evil}, Env: []string{"PATH=" + h.Project}},
	})
	if err == nil {
		err = s.BeginExecution(h.T.Context(), thread.Execution{ID: "00000000000000bb", Thread: id, Agent: "command", Started: time.Now()})
	}
	if err = errors.Join(err, s.Close()); err != nil {
		h.T.Fatal(err)
	}
}

const stateDirName = ".orchestrator" // where a repository may believe that our state lies

// plants are the traps, each on its own.
func plants() map[string]func(h *trap) {
	state := func(name string) string { return filepath.Join(stateDirName, name) }
	all := map[string]func(h *trap){
		"lock is a link":              func(h *trap) { h.link(state("server.lock"), filepath.Join(h.outside, "authorized_keys")) },
		"log is a link":               func(h *trap) { h.link(state("log/server.log"), filepath.Join(h.Home, ".bashrc")) },
		"log folder is a link":        func(h *trap) { h.link(state("log"), h.outside) },
		"state is a link":             func(h *trap) { h.link(stateDirName, h.outside) },
		"state is a file":             func(h *trap) { h.Write(stateDirName, "not a folder") },
		"the database is a link":      func(h *trap) { h.link(state("state.db"), filepath.Join(h.outside, "authorized_keys")) },
		"the database runs a program": func(h *trap) { h.database(filepath.Join(h.Project, state("state.db"))) },
		"a journal that deletes": func(h *trap) {
			sum := sha256.Sum256([]byte(filepath.Join(h.Project, ".git")))
			h.Write(state("snapshots/"+hex.EncodeToString(sum[:])[:16]+"/journal/aaaa.json"), fmt.Sprintf(
				`{"kind":"remove","root":"/nonexistent","gitDir":"/nonexistent/worktrees/x","trash":%q,"whole":true}`, filepath.Join(h.outside, "Doc2")))
		},
		"a root that is no path": func(h *trap) { h.Write(state("snapshots/x/root"), "b$(touch "+h.witness+"/ran)") },
		"a root of another repository": func(h *trap) {
			gitIn(h.Rig, h.outside, "init", "-q")
			h.Write(state("snapshots/x/root"), h.outside)
		},
		"an ignore file that shows":  func(h *trap) { h.Write(state(".gitignore"), "!*\n") },
		"a project's name":           func(h *trap) { h.Write(state("project"), "somebody-else\n") },
		"configuration is /dev/zero": func(h *trap) { h.link(".orchestrator.toml", "/dev/zero") },
		"configuration is a pipe": func(h *trap) {
			if err := syscall.Mkfifo(filepath.Join(h.Project, ".orchestrator.toml"), 0o600); err != nil {
				h.T.Fatal(err)
			}
		},
		"configuration is a folder": func(h *trap) { h.Write(".orchestrator.toml/x", "") },
		"configuration is huge":     func(h *trap) { h.Write(".orchestrator.toml", strings.Repeat("# x\n", 1<<19)) },
		"configuration is a link":   func(h *trap) { h.link(".orchestrator.toml", filepath.Join(h.outside, "authorized_keys")) },
		"configuration runs": func(h *trap) {
			h.Write(".orchestrator.toml", fmt.Sprintf("setup = %q\nteardown = %q\nstore = \"postgres://x@127.0.0.1:1/x\"\n", h.evil, h.evil))
		},
		"configuration names a store": func(h *trap) {
			h.Write(".orchestrator.toml", "project = \"theirs\"\nstore = \"postgres://x@127.0.0.1:1/x\"\nworktrees = \"/tmp\"\n")
		},
		"an id of another project": func(h *trap) { h.Write(".git/orchestrator-id", strings.Repeat("ab", 16)+"\n") },
		"an id of no byte":         func(h *trap) { h.Write(".git/orchestrator-id", "") },
		"an id that is a link":     func(h *trap) { h.link(".git/orchestrator-id", filepath.Join(h.outside, "authorized_keys")) },
		"an id that climbs":        func(h *trap) { h.Write(".git/orchestrator-id", "../../../outside/Doc2\n") },
		"an id of a gigabyte": func(h *trap) {
			h.Write(".git/orchestrator-id", "")
			if err := os.Truncate(filepath.Join(h.Project, ".git/orchestrator-id"), 1<<30); err != nil {
				h.T.Fatal(err)
			}
		},
		"an id that is a folder": func(h *trap) { h.Write(".git/orchestrator-id/x", "") },
		"hooks": func(h *trap) {
			for _, name := range []string{
				"pre-commit", "commit-msg", "prepare-commit-msg", "post-commit", "post-checkout", "pre-merge-commit", "post-merge",
				"pre-push", "reference-transaction", "post-index-change", "fsmonitor-watchman", "post-rewrite", "pre-auto-gc",
			} {
				h.program(".git/hooks/" + name)
			}
		},
		"filters of the repository": func(h *trap) {
			h.Write(".gitattributes", "* filter=evil diff=evil merge=evil\n")
			for _, key := range []string{"filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.textconv", "diff.evil.command", "merge.evil.driver"} {
				h.Git("config", key, h.evil)
			}
		},
		"a configuration that includes": func(h *trap) {
			e2e.Put(h.T, filepath.Join(h.Project, "included"), "[core]\n\tfsmonitor = "+h.evil+"\n\tsshCommand = "+h.evil+"\n")
			h.Git("config", "include.path", "../included")
		},
		"worktree configuration": func(h *trap) {
			h.Git("config", "extensions.worktreeConfig", "true")
			e2e.Put(h.T, filepath.Join(h.Project, ".git", "config.worktree"), "[core]\n\tfsmonitor = "+h.evil+"\n\thooksPath = .\n")
		},
		"a core.worktree elsewhere": func(h *trap) { h.Git("config", "core.worktree", h.outside) },
		"refs of ours": func(h *trap) {
			head := strings.TrimSpace(h.Git("rev-parse", "HEAD"))
			for _, ref := range []string{"00000000000000aa/1", "0000/../../x", "x"} {
				file := filepath.Join(h.Project, ".git", "refs", "orchestrator", filepath.Base(ref))
				e2e.Put(h.T, file, head+"\n")
			}
		},
		"a worktree that is elsewhere": func(h *trap) {
			admin := ".git/worktrees/x"
			h.Write(admin+"/gitdir", filepath.Join(h.outside, "Doc2", ".git")+"\n")
			h.Write(admin+"/commondir", "../..\n")
			h.Write(admin+"/HEAD", "ref: refs/heads/main\n")
		},
		"submodules": func(h *trap) {
			h.Write(".gitmodules", "[submodule \"x\"]\n\tpath = x\n\turl = ext::"+h.evil+"\n\tupdate = !"+h.evil+"\n")
			h.Git("config", "submodule.x.url", "ext::"+h.evil)
			h.Git("config", "protocol.ext.allow", "always")
		},
		"alternates elsewhere": func(h *trap) { e2e.Put(h.T, filepath.Join(h.Project, ".git/objects/info/alternates"), h.outside+"\n") },
		"what worktrees include": func(h *trap) {
			h.Write(".worktreeinclude", "../outside/*\n/etc/passwd\nlink\n")
			h.link("link", filepath.Join(h.outside, "authorized_keys"))
			h.Write(".gitignore", "link\n")
		},
		"servers and hooks of agents": func(h *trap) {
			h.Write(".mcp.json", fmt.Sprintf(`{"mcpServers":{"x":{"command":%q}}}`, h.evil))
			h.Write(".claude/settings.json", fmt.Sprintf(`{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":%q}]}]}}`, h.evil))
			h.Write(".envrc", h.evil+"\n")
		},
		"programs with our names": func(h *trap) {
			for _, name := range []string{"git", "orchestrator", "max", "gh", "sh"} {
				h.program(name)
			}
			h.Env = append(h.Env, "PATH=:"+os.Getenv("PATH"))
		},
		"links in its tree": func(h *trap) {
			h.link("a.txt", filepath.Join(h.outside, "authorized_keys"))
			h.link("docs", h.outside)
		},
		"names that write": func(h *trap) { h.Write("\x1b]0;x\x07--upload-pack=x.txt", "x") },
	}
	for _, key := range []string{
		"core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "core.askPass", "core.gitProxy", "credential.helper", "gpg.program",
		"diff.external", "remote.origin.receivepack", "remote.origin.uploadpack", "sequence.editor", "core.alternateRefsCommand",
	} {
		all["configuration "+key] = func(h *trap) { h.Git("config", key, h.evil) }
	}
	all["configuration core.hooksPath"] = func(h *trap) {
		for _, name := range []string{"pre-commit", "post-checkout", "reference-transaction", "pre-push", "post-index-change"} {
			h.program("tools/" + name)
		}
		h.Git("config", "core.hooksPath", "tools")
	}
	all["an address of another kind"] = func(h *trap) { h.Git("config", "remote.origin.url", "ext::"+h.evil) }
	all["an address that is rewritten"] = func(h *trap) { h.Git("config", "url.ext::"+h.evil+".insteadOf", h.outside) }
	return all
}

// seen is what lies in the places that no verb may change, by path: kind, mode and content.
func (h *trap) seen() map[string]string {
	h.T.Helper()
	found := map[string]string{}
	for _, top := range []string{
		h.outside, h.Home, filepath.Join(h.Project, stateDirName), filepath.Join(h.Project, ".git", "hooks"),
		filepath.Join(h.Project, ".git", "config"), filepath.Join(h.Project, ".git", "info"),
	} {
		err := filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			if rel, _ := filepath.Rel(h.Home, path); rel == ".local" {
				return h.onlyState(path)
			}
			found[path], err = describe(path, e)
			return err
		})
		if err != nil {
			h.T.Fatal(err)
		}
	}
	return found
}

// onlyState looks that our state is all that lies below ~/.local.
func (h *trap) onlyState(local string) error {
	for dir, want := range map[string]string{local: "state", filepath.Join(local, "state"): "orchestrator"} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		if len(entries) != 1 || entries[0].Name() != want {
			h.T.Errorf("%s holds %v", dir, entries)
		}
	}
	return fs.SkipDir
}

func describe(path string, e fs.DirEntry) (string, error) {
	switch {
	case e.Type()&fs.ModeSymlink != 0:
		to, err := os.Readlink(path)
		return "link to " + to, err
	case e.Type().IsRegular():
		b, err := os.ReadFile(path)
		return fmt.Sprintf("%x", sha256.Sum256(b)), err
	default:
		return e.Type().String(), nil
	}
}

// verbs calls every verb, as a person would who trusts nothing.
func (h *trap) verbs() {
	h.T.Helper()
	name := ""
	try := func(args ...string) string {
		h.T.Helper()
		var out bytes.Buffer
		cmd := h.Command(args...)
		cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &out, time.Second
		begin := time.Now()
		timer := time.AfterFunc(e2e.Patience, func() { cmd.Process.Kill() })
		err := cmd.Run()
		timer.Stop()
		if time.Since(begin) >= e2e.Patience {
			h.T.Errorf("orchestrator %v hangs (%v):\n%s", args, err, out.String())
		}
		if strings.Contains(out.String(), "panic:") || strings.ContainsRune(out.String(), 0x1b) {
			h.T.Errorf("orchestrator %v printed %q", args, out.String())
		}
		return out.String()
	}
	for _, v := range []string{"threads", "doctor", "resume", "gc", "find words", "restart"} {
		try(strings.Fields(v)...)
	}
	try("new", "-a", "demo", "-p", "write notes.txt: one", "person")
	for line := range strings.Lines(try("threads")) {
		if i := strings.Index(line, "person-"); i >= 0 {
			name = strings.Fields(line[i:])[0]
		}
	}
	if name == "" {
		h.T.Log("no thread could be made")
		name = "person"
	}
	try("send", "--timeout", "20s", name, "write more.txt: two")
	try("fork", "fork", "-t", name, "-p", "write fork.txt: three")
	fork := "fork"
	for line := range strings.Lines(try("threads")) {
		if i := strings.Index(line, "fork-"); i >= 0 {
			fork = strings.Fields(line[i:])[0]
		}
	}
	for _, args := range [][]string{
		{"send", "--timeout", "20s", fork, "list files"}, {"why", name}, {"checkpoint", "list", name}, {"checkpoint", "show", name}, {"checkpoint", "diff", name},
		{"merge", "--dry-run", fork}, {"push", fork}, {"pr", fork}, {"merge", "--no-tell", fork}, {"finish", fork}, {"abandon", fork, "no"},
		{"checkpoint", "restore", name, "1"}, {"export", name, "-o", filepath.Join(filepath.Dir(h.Home), "out.archive")}, {"import", filepath.Join(filepath.Dir(h.Home), "out.archive")},
		{"grants", name}, {"pin", name}, {"switch", name}, {"find", "write"}, {"archive", name}, {"restore", name}, {"delete", name}, {"undelete", name},
		{"run", "-a", "demo", "--timeout", "20s", "list files"}, {"trap-00aa"}, {"resume", "trap-00aa"}, {"gc"}, {"stop"}, {"threads"}, {"stop"},
	} {
		try(args...)
	}
}

// sprung reports whether a program of the trap runs for a person who works with git as usual.
func (h *trap) sprung() bool {
	for _, args := range [][]string{{"add", "-A"}, {"commit", "-q", "--allow-empty", "-m", "x"}, {"diff"}, {"push", "-q", "origin", "HEAD"}} {
		ctx, cancel := context.WithTimeout(h.T.Context(), 5*time.Second) // a filter may wait for ever
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir, cmd.Env, cmd.WaitDelay = h.Project, h.Env, time.Second
		_ = cmd.Run()
		cancel()
	}
	_, err := os.Stat(filepath.Join(h.witness, "ran"))
	return err == nil
}

// TestHostileRepositories has every verb work in repositories that mean harm: nothing of theirs runs, and nothing is
// written but our state, our worktrees, and the repository's own objects and refs. By default several traps lie in
// one repository; HOSTILE=each gives each of them one.
func TestHostileRepositories(t *testing.T) {
	e2e.ManyStarts(t)
	all := plants()
	names := slices.Sorted(maps.Keys(all))
	groups := map[string][]string{}
	alike := map[string]int{} // traps at the same place begin with the same words
	for _, name := range names {
		group := name
		if place := strings.Join(append(strings.Fields(name), "")[:2], " "); os.Getenv("HOSTILE") != "each" && place != "state is" {
			group = fmt.Sprint("group ", alike[place])
			alike[place]++
		}
		groups[group] = append(groups[group], name)
	}
	var sprung atomic.Int64
	t.Cleanup(func() {
		if sprung.Load() == 0 {
			t.Error("no trap runs anything even for a person's own git: this test finds nothing")
		}
	})
	some := sample.In(t, 4, groups)
	for group, members := range groups {
		if slices.Contains(members, "hooks") { // which surely spring
			some[group] = members
		}
	}
	for group, members := range some {
		t.Run(group, func(t *testing.T) {
			if os.Getenv("HOSTILE") == "" {
				t.Parallel()
			}
			h := newTrap(t)
			remote := filepath.Join(h.outside, "remote.git")
			h.Git("init", "-q", "--bare", remote)
			h.Git("remote", "add", "origin", remote)
			for _, m := range members {
				all[m](h)
			}
			// Tracked where git takes it, by the attacker's own means.
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			tracking := exec.CommandContext(ctx, "git", "-c", "core.hooksPath=/dev/null", "add", "-f", "-A")
			tracking.Dir, tracking.Env, tracking.WaitDelay = h.Project, h.Env, time.Second
			_ = tracking.Run()
			if err := os.RemoveAll(h.witness); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(h.witness, 0o700); err != nil {
				t.Fatal(err)
			}
			before := h.seen()
			h.verbs()
			if ran, err := os.ReadFile(filepath.Join(h.witness, "ran")); err == nil {
				t.Errorf("a program of the repository ran: %s", ran)
			}
			after := h.seen()
			for path, was := range before {
				if after[path] != was && !strings.HasPrefix(path, remote) {
					t.Errorf("%s was %s and is %s", path, was, after[path])
				}
			}
			for path := range after {
				if _, ok := before[path]; !ok && !strings.HasPrefix(path, remote) {
					t.Errorf("%s was made", path)
				}
			}
			if h.sprung() {
				sprung.Add(1)
			}
		})
	}
	t.Logf("%d traps in %d repositories, of which %d were tried", len(names), len(groups), len(some))
}
