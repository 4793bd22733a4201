package habit

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"

	"orchestrator/thread"
)

func TestHabits(t *testing.T) {
	state, conf := t.TempDir(), t.TempDir()
	at := func(root string) *Habits { return Open(state, conf, root, nil) }
	h := at("/a")
	if got := h.Recent(); len(got) != 0 {
		t.Errorf("at first %+v", got)
	}
	chose := func(h *Habits, p thread.Profile) {
		t.Helper()
		if err := h.Chose(p); err != nil {
			t.Fatal(err)
		}
	}
	claude := thread.Profile{Agent: "claude", Model: "opus", PermissionMode: "plan", Apart: thread.ApartYes, MCP: []string{"github"}}
	chose(h, thread.Profile{Agent: "claude", Model: "haiku"})
	chose(h, thread.Profile{Agent: "demo", Args: []string{"--token", "x"}})
	chose(h, claude)
	want := []thread.Profile{claude, {Agent: "demo"}}
	if got := h.Recent(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if got := at("/a").Recent(); !reflect.DeepEqual(got, want) {
		t.Errorf("again %+v", got)
	}
	other := claude
	other.MCP, other.PermissionMode = nil, "" // servers and permissions are those of a project
	if got := at("/b").Recent(); !reflect.DeepEqual(got, []thread.Profile{other, {Agent: "demo"}}) {
		t.Errorf("elsewhere %+v", got)
	}
	b := at("/b")
	chose(b, thread.Profile{Agent: "codex"})
	chose(h, thread.Profile{Agent: "demo"}) // of a screen that was open before
	if got := at("/b").Recent(); got[0].Agent != "codex" || len(got) != 3 {
		t.Errorf("%+v", got)
	}
	info, err := os.Stat(filepath.Join(state, folderName, fileName))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestTwoScreens: what another screen writes while one waits for it is kept, and so is what many write at once.
func TestTwoScreens(t *testing.T) {
	state := t.TempDir()
	if err := Open(state, "", "/first", nil).Chose(thread.Profile{Agent: "demo"}); err != nil {
		t.Fatal(err)
	}
	other, lock, err := Open(state, "", "/other", nil).lock()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	var screens sync.WaitGroup
	for i := range 8 {
		screens.Go(func() {
			if err := Open(state, "", fmt.Sprint("/p", i), nil).Chose(thread.Profile{Agent: "demo"}); err != nil {
				t.Error(err)
			}
		})
	}
	time.Sleep(50 * time.Millisecond)
	if err := other.Write(fileName, []byte(`{"projects": [{"root": "/other", "recent": [{"agent": "codex"}]}]}`)); err != nil {
		t.Fatal(err)
	}
	lock.Close()
	screens.Wait()
	all := read(state)
	if n := len(all.Projects); n != 9 || all.Projects[8].Root != "/other" {
		t.Errorf("%d projects: %+v", n, all.Projects)
	}
}

func TestHoldsNoCredentials(t *testing.T) {
	state := t.TempDir()
	const token = "sk-ant-api03-Jq8vT2mWx5Lr9KdZpYbH4nGc7sFa1EuQo3XiR6VtMw0BhNyPjDzCkUeSlAgIfOx"
	if err := Open(state, "", "/a", nil).Chose(thread.Profile{Agent: "claude", Model: token, Args: []string{token}}); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(state, folderName, fileName))
	if err != nil || bytes.Contains(raw, []byte(token)) {
		t.Errorf("%s, %v", raw, err)
	}
}

func TestBoundsAndDamage(t *testing.T) {
	state := t.TempDir()
	for i := range maxProjects + 5 {
		if err := Open(state, "", fmt.Sprintf("/p%d", i), nil).Chose(thread.Profile{Agent: "demo"}); err != nil {
			t.Fatal(err)
		}
	}
	h := Open(state, "", "/x", nil)
	if n := len(h.all.Projects); n != maxProjects || h.all.Projects[0].Root != fmt.Sprintf("/p%d", maxProjects+4) {
		t.Errorf("%d projects", n)
	}
	file := filepath.Join(state, folderName, fileName)
	if err := os.WriteFile(file, []byte(`{"projects": [{`), 0o600); err != nil {
		t.Fatal(err)
	}
	h = Open(state, "", "/x", nil)
	if len(h.Recent()) != 0 || h.Chose(thread.Profile{Agent: "demo"}) != nil || len(Open(state, "", "/x", nil).Recent()) != 1 {
		t.Errorf("after damage %+v", h.Recent())
	}
}

func TestKeep(t *testing.T) {
	conf := t.TempDir()
	h := Open(t.TempDir(), conf, "/a", []thread.Profile{{Name: "one", Agent: "demo"}})
	if err := h.Keep(thread.Profile{Name: "two", Agent: "claude"}); err != nil {
		t.Fatal(err)
	}
	if got := h.Named(); len(got) != 2 || got[1].Name != "two" {
		t.Errorf("%+v", got)
	}
	if h.Keep(thread.Profile{Name: "two", Agent: "claude"}) == nil || len(h.Named()) != 2 {
		t.Error("the same name twice")
	}
}
