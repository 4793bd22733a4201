package trust_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"orchestrator/mcpctl/definition"
	"orchestrator/mcpctl/trust"
	"orchestrator/thread"
	"orchestrator/thread/private"
)

func of(scope definition.Scope, name string) definition.Definition {
	return definition.Definition{ID: name, Name: name, Sources: []definition.Source{{File: "/f", Scope: scope}}}
}

// hash is a launch hash for a text.
func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func verdict(t *testing.T, s *trust.Store, project string, d definition.Definition, hash string) trust.Verdict {
	t.Helper()
	v, err := s.Verdict(project, d, hash)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestP1HashIsAccepted: exactly what the person has accepted is, in the project in which they did.
func TestP1HashIsAccepted(t *testing.T) {
	home := t.TempDir()
	s, d := trust.Open(home), of(definition.Project, "a")
	if v := verdict(t, s, "/p", d, hash("1")); v.State != trust.New {
		t.Errorf("before: %+v", v)
	}
	if entries, err := os.ReadDir(home); err != nil || len(entries) != 0 {
		t.Errorf("a verdict writes: %v, %v", entries, err)
	}
	if err := s.Accept("/p", d, hash("1"), []string{"command: one"}); err != nil {
		t.Fatal(err)
	}
	s = trust.Open(home)
	for name, c := range map[string]struct {
		project string
		d       definition.Definition
		hash    string
		want    trust.State
	}{
		"the same":          {"/p", d, hash("1"), trust.Accepted},
		"another project":   {"/q", d, hash("1"), trust.New},
		"changed":           {"/p", d, hash("2"), trust.Changed},
		"another name":      {"/p", of(definition.Project, "b"), hash("2"), trust.New},
		"the person's":      {"/p", of(definition.User, "a"), hash("1"), trust.New},
		"no hash":           {"/p", d, "", trust.Changed},
		"a prefix of it":    {"/p", d, hash("1")[:32], trust.Changed},
		"without a source":  {"/p", definition.Definition{Name: "a"}, hash("2"), trust.Changed},
		"renamed, the same": {"/p", of(definition.Project, "b"), hash("1"), trust.Accepted},
	} {
		v := verdict(t, s, c.project, c.d, c.hash)
		if v.State != c.want || (c.want == trust.Changed) != slices.Equal(v.Was, []string{"command: one"}) {
			t.Errorf("%s: %+v, want %s", name, v, c.want)
		}
	}
	info, err := os.Stat(filepath.Join(home, "orchestrator", "mcp-trust.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the record: %v, %v", info, err)
	}
	for _, bad := range []string{"", "abc", strings.Repeat("z", 64)} {
		if err := s.Accept("/p", d, bad, nil); err == nil {
			t.Errorf("%q is accepted as a hash", bad)
		}
	}
}

func TestRejectAndRevoke(t *testing.T) {
	s, d := trust.Open(t.TempDir()), of(definition.Project, "a")
	steps := []struct {
		do   func() error
		want trust.State
	}{
		{func() error { return s.Reject("/p", d, hash("1"), nil) }, trust.Rejected},
		{func() error { return s.Accept("/p", d, hash("1"), nil) }, trust.Accepted},
		{func() error { return s.Revoke("/p", d, hash("1")) }, trust.New},
		{func() error { return s.Revoke("/p", d, hash("1")) }, trust.New},
		{func() error { return s.Reject("/p", d, hash("2"), nil) }, trust.New}, // of another hash
		{func() error { return s.Accept("/p", d, hash("3"), []string{"three"}) }, trust.Changed},
		{func() error { return s.Accept("/p", d, hash("4"), []string{"four"}) }, trust.Changed},
	}
	var last trust.Verdict
	for i, step := range steps {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		if last = verdict(t, s, "/p", d, hash("1")); last.State != step.want {
			t.Errorf("step %d: %+v, want %s", i, last, step.want)
		}
	}
	if !slices.Equal(last.Was, []string{"four"}) {
		t.Errorf("it differs from %q, not from the last one", last.Was)
	}
}

// TestFirstSight: what the person had configured before is accepted once; what is added or changed later is not.
func TestFirstSight(t *testing.T) {
	s := trust.Open(t.TempDir())
	server := func(name, content string) trust.Server {
		return trust.Server{Definition: of(definition.User, name), Hash: hash(content), Shown: []string{content}}
	}
	first, err := s.FirstSight("/f", []trust.Server{server("a", "1"), server("b", "2")})
	if err != nil || !first {
		t.Fatalf("%v, %v", first, err)
	}
	first, err = s.FirstSight("/f", []trust.Server{server("a", "changed"), server("c", "3")})
	if err != nil || first {
		t.Errorf("the second time: %v, %v", first, err)
	}
	for content, want := range map[string]trust.State{"1": trust.Accepted, "2": trust.Accepted, "changed": trust.Changed} {
		if v := verdict(t, s, "/p", of(definition.User, "a"), hash(content)); v.State != want {
			t.Errorf("%s: %+v, want %s", content, v, want)
		}
	}
	if v := verdict(t, s, "/p", of(definition.User, "c"), hash("3")); v.State != trust.New {
		t.Errorf("added: %+v", v)
	}
	if v := verdict(t, s, "/p", of(definition.Project, "a"), hash("1")); v.State != trust.New {
		t.Errorf("the same of a repository: %+v", v)
	}
	if first, err := s.FirstSight("/missing", nil); err != nil || !first {
		t.Errorf("a file that is not there: %v, %v", first, err)
	}
	if first, err := s.FirstSight("/missing", []trust.Server{server("d", "4")}); err != nil || first {
		t.Errorf("it is there now: %v, %v", first, err)
	}
	if v := verdict(t, s, "", of(definition.User, "d"), hash("4")); v.State != trust.New {
		t.Errorf("a file that came later: %+v", v)
	}
	if err := s.Reject("", of(definition.User, "e"), hash("5"), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.FirstSight("/g", []trust.Server{server("e", "5")}); err != nil {
		t.Fatal(err)
	}
	if v := verdict(t, s, "", of(definition.User, "e"), hash("5")); v.State != trust.Rejected {
		t.Errorf("first sight overrules a no: %+v", v)
	}
	_, err = s.FirstSight("/repository", []trust.Server{{Definition: of(definition.Project, "x"), Hash: hash("x")}})
	if err == nil {
		t.Error("servers of a repository are accepted at first sight")
	}
	if _, err := s.FirstSight("/h", []trust.Server{{Definition: of(definition.User, "x")}}); err == nil {
		t.Error("a server without a hash is accepted")
	}
}

// TestDamagedRecord accepts nothing, says what to do, and is never replaced.
func TestDamagedRecord(t *testing.T) {
	for name, content := range map[string]string{
		"empty": "", "cut off": `{"version": 1, "servers": {`, "another version": `{"version": 2, "servers": {}, "files": {}}`,
		"null": "null", "no servers": `{"version": 1, "servers": null, "files": {}}`,
		"a state": `{"version": 1, "servers": {"project:/p": {"` + hash("1") + `": {"state": "yes"}}}, "files": {}}`,
		"a hash":  `{"version": 1, "servers": {"project:/p": {"x": {"state": "accepted"}}}, "files": {}}`,
		"large":   strings.Repeat(" ", 17<<20),
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			file := filepath.Join(home, "orchestrator", "mcp-trust.json")
			s, d := trust.Open(home), of(definition.Project, "a")
			if err := s.Accept("/p", d, hash("1"), nil); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			v, err := s.Verdict("/p", d, hash("1"))
			if v.State == trust.Accepted || err == nil || !strings.Contains(err.Error(), file) {
				t.Errorf("verdict %+v, %v", v, err)
			}
			var hinted *thread.HintError
			if name != "large" && (!errors.As(err, &hinted) || hinted.Hint == "") {
				t.Errorf("no hint: %v", err)
			}
			for what, do := range map[string]func() error{
				"accept": func() error { return s.Accept("/p", d, hash("2"), nil) },
				"reject": func() error { return s.Reject("/p", d, hash("2"), nil) },
				"revoke": func() error { return s.Revoke("/p", d, hash("2")) },
				"first sight": func() error {
					_, err := s.FirstSight("/f", nil)
					return err
				},
			} {
				if do() == nil {
					t.Errorf("%s works", what)
				}
			}
			if now, err := os.ReadFile(file); err != nil || string(now) != content {
				t.Errorf("it was replaced: %v", err)
			}
		})
	}
}

func TestRecordOfOthers(t *testing.T) {
	home := t.TempDir()
	s, d := trust.Open(home), of(definition.Project, "a")
	if err := s.Accept("/p", d, hash("1"), nil); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(home, "orchestrator", "mcp-trust.json")
	if err := os.Chmod(file, 0o666); err != nil {
		t.Fatal(err)
	}
	if v, err := s.Verdict("/p", d, hash("1")); v.State == trust.Accepted || !errors.Is(err, private.ErrNotOurs) {
		t.Errorf("writable by others: %+v, %v", v, err)
	}
	if err := os.Rename(file, file+".moved"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file+".moved", file); err != nil {
		t.Fatal(err)
	}
	if v, err := s.Verdict("/p", d, hash("1")); v.State == trust.Accepted || err == nil {
		t.Errorf("a link: %+v, %v", v, err)
	}
}

// TestShownIsBounded: a long command does not fill the record.
func TestShownIsBounded(t *testing.T) {
	s, d := trust.Open(t.TempDir()), of(definition.Project, "a")
	for i := range 20 {
		shown := []string{"first", strings.Repeat("x", 1<<20)}
		if err := s.Accept("/p", d, hash(fmt.Sprint(i)), shown); err != nil {
			t.Fatal(err)
		}
		if shown[0] != "first" || len(shown[1]) != 1<<20 {
			t.Fatal("the caller's lines are changed")
		}
	}
	v := verdict(t, s, "/p", d, hash("other"))
	if len(v.Was) != 2 || v.Was[0] != "first" || !strings.Contains(v.Was[1], "not kept") {
		t.Errorf("was %.100q", v.Was)
	}
}

const helperHome = "TRUST_TEST_HOME"

// TestTwoProcesses: processes that accept at once lose nothing.
func TestTwoProcesses(t *testing.T) {
	const each, processes = 25, 4
	accept := func(home, who string) error {
		for i := range each {
			name := fmt.Sprint(who, i)
			if err := trust.Open(home).Accept("/p", of(definition.Project, name), hash(name), nil); err != nil {
				return err
			}
		}
		return nil
	}
	if home := os.Getenv(helperHome); home != "" {
		if err := accept(home, os.Getenv("TRUST_TEST_NAME")); err != nil {
			t.Fatal(err)
		}
		return
	}
	home := t.TempDir()
	var wait sync.WaitGroup
	for i := range processes {
		wait.Go(func() {
			run := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTwoProcesses$")
			run.Env = append(os.Environ(), helperHome+"="+home, fmt.Sprintf("TRUST_TEST_NAME=p%d-", i))
			if out, err := run.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wait.Wait()
	for p := range processes {
		for i := range each {
			name := fmt.Sprintf("p%d-%d", p, i)
			if v := verdict(t, trust.Open(home), "/p", of(definition.Project, name), hash(name)); v.State != trust.Accepted {
				t.Fatalf("%s is lost: %+v", name, v)
			}
		}
	}
}
