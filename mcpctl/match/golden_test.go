package match

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// golden is the table of tasks that programmers may type, and the servers that they may have configured.
type golden struct {
	servers  []Server
	patterns map[string]Patterns
	tasks    []goldenTask
}

type goldenTask struct{ server, text string } // server is empty if none is needed

func readGolden(t testing.TB) golden {
	t.Helper()
	var listed []struct {
		ID, Name, Description string
		Tags, Patterns        []string
		Tools                 []Tool
	}
	b, err := os.ReadFile("testdata/servers.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &listed); err != nil {
		t.Fatal(err)
	}
	g := golden{patterns: map[string]Patterns{}}
	for _, s := range listed {
		g.servers = append(g.servers, Server{ID: s.ID, Name: s.Name, Description: s.Description, Tags: s.Tags, Tools: s.Tools})
		p, errs := Compile(s.Patterns)
		if errs != nil {
			t.Error(errs)
		}
		g.patterns[s.ID] = p
	}
	b, err = os.ReadFile("testdata/prompts.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		server, text, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if ok && !strings.HasPrefix(line, "#") {
			g.tasks = append(g.tasks, goldenTask{server: strings.Trim(server, "-"), text: text})
		}
	}
	if len(g.tasks) != 150 || len(g.servers) != 12 {
		t.Fatalf("%d tasks, %d servers", len(g.tasks), len(g.servers))
	}
	return g
}

// recall is on what share of tasks the right server is among the first one and the first three.
type recall struct{ one, three, of float64 }

func (r *recall) add(x *Index, task goldenTask) {
	r.of++
	for i, s := range x.Rank(task.text, 3) {
		if s.Server == task.server {
			r.three++
			if i == 0 {
				r.one++
			}
		}
	}
}

func (r recall) String() string {
	return fmt.Sprintf("R@1 %.3f, R@3 %.3f of %.0f", r.one/r.of, r.three/r.of, r.of)
}

// remembering calls do with a memory of n tasks of each server, and of as many that need none, and the tasks that are
// not in it; every task is among these several times.
func remembering(g golden, n int, do func(m *Memory, others []goldenTask)) {
	by := map[string][]goldenTask{}
	for _, task := range g.tasks {
		by[task.server] = append(by[task.server], task)
	}
	for from := range 9 {
		m := &Memory{}
		m.bound()
		var others []goldenTask
		for _, server := range append(ids(g), "") {
			for i := range by[server] {
				task := by[server][(i+from)%len(by[server])]
				switch {
				case i >= n:
					others = append(others, task)
				case server == "":
					m.put(task.text, task.text, nil)
				default:
					m.put(task.text, task.text, []string{server})
				}
			}
		}
		do(m, others)
	}
}

func ids(g golden) []string {
	var list []string
	for _, s := range g.servers {
		list = append(list, s.ID)
	}
	return list
}

func TestGoldenRank(t *testing.T) {
	g := readGolden(t)
	var without recall
	x := NewIndex(g.servers, nil)
	for _, task := range g.tasks {
		if task.server != "" {
			without.add(x, task)
		}
	}
	t.Logf("without a memory: %v", without)
	if without.three < 0.9*without.of || without.one < 0.78*without.of {
		t.Errorf("without a memory: %v", without)
	}
	for _, n := range []int{1, 3, 5} {
		var with, base recall
		remembering(g, n, func(m *Memory, others []goldenTask) {
			y := NewIndex(g.servers, m)
			for _, task := range others {
				if task.server != "" {
					with.add(y, task)
					base.add(x, task)
				}
			}
		})
		t.Logf("with %d remembered tasks: %v; the same tasks without: %v", n, with, base)
		if with.three < base.three || with.one < base.one || with.three < 0.9*with.of {
			t.Errorf("with %d remembered tasks: %v; without: %v", n, with, base)
		}
	}
}

func TestGoldenPatterns(t *testing.T) {
	g := readGolden(t)
	on, wanted := 0, 0
	var wrong []string
	for _, task := range g.tasks {
		if task.server != "" {
			wanted++
		}
		for _, id := range ids(g) {
			why, ok := g.patterns[id].Match(task.text)
			if ok && id == task.server {
				on++
			} else if ok {
				wrong = append(wrong, fmt.Sprintf("%s: %s: %s", task.text, id, why))
			}
		}
	}
	t.Logf("%d of %d switched on, %d wrongly: %s", on, wanted, len(wrong), strings.Join(wrong, "\n"))
	if len(wrong) > len(g.tasks)*2/100 || on < wanted/2 {
		t.Errorf("%d of %d switched on, wrongly: %s", on, wanted, strings.Join(wrong, "\n"))
	}
}

// offers counts suggestions.
type offers struct{ needed, right, others, negatives, false float64 }

func (o *offers) add(x *Index, task goldenTask) {
	list := x.Suggest(task.text)
	if task.server == "" {
		o.negatives++
		o.false += float64(min(1, len(list)))
		return
	}
	o.needed++
	for _, s := range list {
		if s.Server == task.server {
			o.right++
		} else {
			o.others++
		}
	}
}

func (o offers) String() string {
	return fmt.Sprintf("recall %.3f, precision %.3f, false on %.1f %% of tasks that need none",
		o.right/o.needed, o.right/(o.right+o.others), 100*o.false/o.negatives)
}

func TestGoldenSuggest(t *testing.T) {
	g := readGolden(t)
	for _, n := range []int{0, 5, 8} {
		var o offers
		remembering(g, n, func(m *Memory, others []goldenTask) {
			x := NewIndex(g.servers, m)
			for _, task := range others {
				o.add(x, task)
			}
		})
		t.Logf("with %d remembered tasks: %v", n, o)
		if o.false > 0.02*o.negatives || o.right < 0.25*o.needed || o.right < 0.85*(o.right+o.others) {
			t.Errorf("with %d remembered tasks: %v", n, o)
		}
	}
}
