package match

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"orchestrator/thread/private"
	"orchestrator/thread/secret/secrettest"
)

func openFolder(t *testing.T) *private.Folder {
	t.Helper()
	f, err := private.Make(t.TempDir(), "state")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func openMemory(t *testing.T, f *private.Folder) *Memory {
	t.Helper()
	m, err := OpenMemory(f, "tasks")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMemoryLasts(t *testing.T) {
	f := openFolder(t)
	m := openMemory(t, f)
	for _, err := range []error{
		m.Remember("1", "Refund the customers of the webshop", []string{"stripe", "pg", "stripe"}),
		m.Remember("2", "rename a variable", nil),
		m.Remember("1", "Refund the customers of the webshop, please", []string{"stripe"}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	again := openMemory(t, f)
	if !reflect.DeepEqual(again.tasks, m.tasks) || again.Len() != 2 {
		t.Errorf("%+v, want %+v", again.tasks, m.tasks)
	}
	near := again.near("refund a webshop's customer")
	if len(near) != 1 || !slices.Equal(near[0].servers, []string{"stripe"}) {
		t.Errorf("%+v", near)
	}
	info, err := os.Stat(f.Path("tasks"))
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := again.Forget(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(f.Path("tasks")); !os.IsNotExist(err) {
		t.Error(err)
	}
	if again.Len() != 0 || len(again.near("refund customers")) != 0 || openMemory(t, f).Len() != 0 {
		t.Error("it remembers")
	}
	if err := again.Forget(); err != nil {
		t.Error(err)
	}
}

func TestMemoryKeepsNoSecretsAndNoText(t *testing.T) {
	f := openFolder(t)
	m := openMemory(t, f)
	text := "Zebra apple: deploy the monkey with "
	for _, c := range secrettest.All() {
		text += c.Text + "\n"
	}
	if err := m.Remember("1", text, []string{"aws"}); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(f.Path("tasks"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range secrettest.All() {
		if c.In(string(content)) {
			t.Errorf("%s is in %s", c.Secret, content)
		}
	}
	if s := string(content); !strings.Contains(s, "monkey") || strings.Index(s, "appl") > strings.Index(s, "zebra") {
		t.Errorf("the words are not sorted: %s", s)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	m := &Memory{}
	for i := range maxTasks + 10 {
		m.tasks = append(m.tasks, remembered{ID: fmt.Sprint(i), Stems: []string{"x"}})
	}
	var many []string
	for i := range 1000 {
		many = append(many, fmt.Sprintf("word%d", i))
	}
	m.put("new", strings.Join(many, " "), many)
	last := m.tasks[len(m.tasks)-1]
	if len(m.tasks) != maxTasks || len(last.Stems) != maxStems || len(last.Servers) != maxCalled || m.tasks[0].ID != "11" {
		t.Errorf("%d tasks from %s, %d stems, %d servers", len(m.tasks), m.tasks[0].ID, len(last.Stems), len(last.Servers))
	}
	if len(m.near("x")) > neighbours {
		t.Error("too many neighbours")
	}
}

func TestMemoryRefuses(t *testing.T) {
	f := openFolder(t)
	broken := []byte("{\"id\":\"1\"\n")
	if err := f.Write("tasks", broken); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenMemory(f, "tasks"); err == nil || !strings.Contains(err.Error(), f.Path("tasks")) {
		t.Errorf("%v", err)
	}
	if kept, err := os.ReadFile(f.Path("tasks")); err != nil || string(kept) != string(broken) {
		t.Errorf("%q, %v", kept, err)
	}
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, f.Path("linked")); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenMemory(f, "linked"); err == nil {
		t.Error("a link is followed")
	}
}

// What could not be stored is not remembered either.
func TestMemoryWithoutItsFile(t *testing.T) {
	f := openFolder(t)
	m := openMemory(t, f)
	if err := m.Remember("1", "one task", nil); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(f.Path("tasks")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(f.Path("tasks"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := m.Remember("2", "other task", nil); err == nil {
		t.Error("it was stored")
	}
	if m.Len() != 1 || m.tasks[0].ID != "1" {
		t.Errorf("%+v", m.tasks)
	}
}

func TestMemoryTogether(t *testing.T) {
	m := openMemory(t, openFolder(t))
	x := NewIndex([]Server{{ID: "a", Name: "alpha"}}, m)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for j := range 5 {
				if err := m.Remember(fmt.Sprint(i, j), "feed the otters", []string{"a"}); err != nil {
					t.Error(err)
				}
				x.Suggest("feed the otters")
			}
		})
	}
	all.Wait()
	if m.Len() != 20 {
		t.Errorf("%d tasks", m.Len())
	}
}

func TestSuggestFromMemory(t *testing.T) {
	m := &Memory{}
	m.bound()
	x := NewIndex([]Server{{ID: "a", Name: "alpha"}, {ID: "b", Name: "beta"}}, m)
	if got := x.Suggest("feed the otters at noon"); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	m.put("1", "feed the otters at noon", []string{"a"})
	if got := x.Suggest("feed the otters"); len(got) != 0 {
		t.Errorf("one task is enough: %+v", got)
	}
	m.put("2", "feed two otters at dusk", []string{"a", "b"})
	m.put("3", "paint a wall", []string{"b"})
	got := x.Suggest("feed the otters")
	if len(got) != 1 || got[0].Server != "a" || got[0].Why != "2 of 2 similar tasks used it" || got[0].Score < 1 {
		t.Errorf("%+v", got)
	}
	for i := range 3 {
		m.put(fmt.Sprint("none", i), "feed the otters", nil)
	}
	if got := x.Suggest("feed the otters"); len(got) != 0 {
		t.Errorf("most similar tasks did without: %+v", got)
	}
}

// Tasks that did without a server take from what its words say for it, and those that called it add.
func TestMemoryWeighs(t *testing.T) {
	m := &Memory{}
	m.bound()
	x := NewIndex([]Server{{ID: "a", Name: "alpha", Description: "Otters and walls."}, {ID: "b", Name: "beta"}}, m)
	score := func(task string) float64 {
		list := x.Rank(task, 1)
		if len(list) == 0 || list[0].Server != "a" {
			t.Fatalf("%q: %+v", task, list)
		}
		return list[0].Score
	}
	otters, walls := score("otters"), score("walls")
	for i := range 5 {
		m.put(fmt.Sprint("with", i), "otters dance", []string{"a"})
		m.put(fmt.Sprint("without", i), "walls", nil)
	}
	if now := score("otters"); now <= otters {
		t.Errorf("otters: %f, then %f", otters, now)
	}
	if now := score("walls"); now >= walls {
		t.Errorf("walls: %f, then %f", walls, now)
	}
	if score("dance") <= 0 {
		t.Error("a word is not learnt")
	}
	if near := m.near("walls of a dance hall in the harbour with a choir, a band and a bar"); len(near) != 0 {
		t.Errorf("similar: %+v", near)
	}
}
