package match

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestRank(t *testing.T) {
	servers := []Server{
		{ID: "gh", Name: "GitHub", Description: "Pull requests and issues.", Tools: []Tool{{Name: "create_pull_request"}}},
		{ID: "hub", Name: "docker-hub", Description: "Container images."},
		{ID: "pg", Name: "postgres", Tags: []string{"database"}, Tools: []Tool{{Name: "runQuery", Description: "Run a query."}}},
		{ID: "图", Name: "图表", Description: "生成图表"},
		{ID: "fs", Name: "files", Description: "Read and write files."},
		{ID: "xl", Name: "excel", Description: "Read and write spreadsheets."},
		{ID: "web", Name: "fetch", Description: "Fetch a web page."},
	}
	x := NewIndex(servers, nil)
	for _, c := range []struct{ task, want, terms string }{
		{"open a pull request", "gh", "request pull"},
		{"do it on GitHub", "gh", "github"},
		{"queries of the db", "pg", ""},          // inflected, and a word for much the same
		{"画一个图表", "图", "图表"},                     // pairs of runes
		{"sum up /data/sales/q3.xlsx", "xl", ""}, // by the kind of the file
		{"look into /var/log/app", "fs", ""},     // by a path
		{"what says https://example.org/", "web", ""},
		{"why", "", ""},
		{"", "", ""},
		{"to be or not to be", "", ""},
	} {
		got := x.Rank(c.task, 1)
		if c.want == "" {
			if len(got) != 0 {
				t.Errorf("%q: %+v", c.task, got)
			}
			continue
		}
		if len(got) != 1 || got[0].Server != c.want {
			t.Errorf("%q: %+v, want %s", c.task, got, c.want)
			continue
		}
		for w := range strings.FieldsSeq(c.terms) {
			if !slices.Contains(got[0].Terms, w) {
				t.Errorf("%q: the terms are %q", c.task, got[0].Terms)
			}
		}
	}
	if got := x.Rank("do it on GitHub", 1)[0].Terms; len(got) != 1 {
		t.Errorf("the same word is named twice: %q", got)
	}
	if got := x.Rank("github postgres excel fetch", 99); len(got) < 4 || len(got) > len(servers) {
		t.Errorf("%+v", got)
	}
	if got := NewIndex(nil, nil).Rank("github", 3); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// Names in paths are chosen freely: they say less than the words of the task.
func TestRankPaths(t *testing.T) {
	x := NewIndex([]Server{{ID: "a", Name: "music"}, {ID: "b", Name: "weather"}, {ID: "c", Name: "water"}}, nil)
	if got := x.Rank("the weather of today into /home/ann/music/notes.txt", 2); len(got) != 2 || got[0].Server != "b" || got[1].Score > got[0].Score/2 {
		t.Errorf("%+v", got)
	}
}

// What one server covers counts less for the next: two browsers do not push out the database.
func TestRankCovers(t *testing.T) {
	servers := []Server{
		{ID: "a", Name: "alpha", Description: "Pages, links, windows, clicks."},
		{ID: "b", Name: "beta", Description: "Pages, links, windows, clicks."},
		{ID: "c", Name: "gamma", Description: "Orders of the warehouse."},
	}
	for i := range 9 {
		servers = append(servers, Server{ID: fmt.Sprint(i), Name: fmt.Sprint("other", i), Description: "Water."})
	}
	x := NewIndex(servers, nil)
	got := x.Rank("links, windows, pages, warehouse orders", 2)
	if len(got) != 2 || got[0].Server != "a" || got[1].Server != "c" {
		t.Errorf("%+v", got)
	}
}

func TestRankIsDeterministic(t *testing.T) {
	g := readGolden(t)
	one, other := NewIndex(g.servers, nil), NewIndex(g.servers, nil)
	for _, task := range g.tasks {
		if a, b := one.Rank(task.text, 12), other.Rank(task.text, 12); !reflect.DeepEqual(a, b) {
			t.Errorf("%q: %+v, then %+v", task.text, a, b)
		}
	}
}

// crowd are the golden servers, several times with other names.
func crowd(t testing.TB, n int) []Server {
	g := readGolden(t)
	var list []Server
	for i := range n {
		s := g.servers[i%len(g.servers)]
		s.ID = fmt.Sprint(s.ID, i)
		list = append(list, s)
	}
	return list
}

// A task costs what its words and the servers are, not what the descriptions are.
func TestRankWork(t *testing.T) {
	x := NewIndex(crowd(t, 50), nil)
	most := 0
	for _, task := range readGolden(t).tasks {
		weights, _ := query(task.text)
		work := 0
		for stem := range weights {
			work += len(x.terms[stem])
			for _, other := range vocabulary().related[stem] {
				work += len(x.terms[other])
			}
		}
		most = max(most, work)
	}
	if most == 0 || most > 10_000 {
		t.Errorf("%d postings are read for a task", most)
	}
	long := strings.Repeat("a1b2 words of every kind, https://example.org/x /a/b/c.txt ", 100_000)
	if got := x.Rank(long, 3); len(got) > 3 {
		t.Errorf("%+v", got)
	}
	weights, _ := query(clip(long))
	if len(weights) > 100 {
		t.Errorf("%d terms", len(weights))
	}
}

func BenchmarkRank(b *testing.B) {
	g := readGolden(b)
	m := &Memory{}
	for i := range maxTasks {
		m.tasks = append(m.tasks, remembered{ID: fmt.Sprint(i), Stems: stemsOf(g.tasks[i%150].text), Servers: []string{g.tasks[i%150].server}})
	}
	m.bound()
	for name, x := range map[string]*Index{"alone": NewIndex(crowd(b, 50), nil), "remembering": NewIndex(crowd(b, 50), m)} {
		b.Run(name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				x.Suggest(g.tasks[i%len(g.tasks)].text)
			}
		})
	}
}

func FuzzRank(f *testing.F) {
	f.Add("GitHub", "open a pull request at https://x/ and /a/b.md")
	f.Add("\xff数", "数据 \u0301 ~//")
	f.Fuzz(func(t *testing.T, name, task string) {
		x := NewIndex([]Server{{ID: "a", Name: name}, {ID: "b", Description: name}}, nil)
		for _, s := range x.Rank(task, 5) {
			if !(s.Score > 0) || s.Server == "" {
				t.Errorf("%+v", s)
			}
		}
		x.Suggest(task)
	})
}
