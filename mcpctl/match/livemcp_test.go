package match

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// stepTask is a task of LiveMCPBench: for each tool that its annotator used, the servers that have a tool of that name.
type stepTask struct {
	text  string
	steps []map[string]bool
}

// servers are those that have the tool of a step, if it is one.
func (s stepTask) servers() []string {
	set := map[string]bool{}
	for _, step := range s.steps {
		for id := range step {
			if len(step) == 1 {
				set[id] = true
			}
		}
	}
	var list []string
	for id := range set {
		list = append(list, id)
	}
	slices.Sort(list)
	return list
}

var numbered = regexp.MustCompile(`^\s*\d+\.\s*`)

// readLiveMCP reads LiveMCPBench (github.com/icip-cas/LiveMCPBench, Apache-2.0), of which nothing is kept here.
func readLiveMCP(t *testing.T) ([]Server, []stepTask) {
	t.Helper()
	dir := os.Getenv("ORCHESTRATOR_MCP_EVAL")
	if dir == "" {
		t.Skip("NOT MEASURED: set ORCHESTRATOR_MCP_EVAL to the folder with livemcp_tools.json and livemcp_tasks.json")
	}
	read := func(name string, v any) {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, v); err != nil {
			t.Fatal(err)
		}
	}
	var listed []struct {
		Name, Description string
		Tools             map[string]struct{ Tools []Tool }
	}
	read("livemcp_tools.json", &listed)
	var servers []Server
	have := map[string]map[string]bool{}
	for _, l := range listed {
		s := Server{ID: l.Name, Name: l.Name, Description: l.Description}
		for _, part := range l.Tools {
			for _, tool := range part.Tools {
				s.Tools = append(s.Tools, tool)
				if have[tool.Name] == nil {
					have[tool.Name] = map[string]bool{}
				}
				have[tool.Name][s.ID] = true
			}
		}
		servers = append(servers, s)
	}
	var asked []struct {
		Question string
		Metadata struct{ Tools string } `json:"Annotator Metadata"`
	}
	read("livemcp_tasks.json", &asked)
	var tasks []stepTask
	for _, a := range asked {
		task := stepTask{text: a.Question}
		for line := range strings.Lines(a.Metadata.Tools) {
			name := strings.TrimSpace(numbered.ReplaceAllString(line, ""))
			if with := have[name]; with != nil {
				task.steps = append(task.steps, with)
			}
		}
		if len(task.steps) > 0 {
			tasks = append(tasks, task)
		}
	}
	if len(servers) != 70 || len(tasks) < 90 {
		t.Fatalf("%d servers, %d tasks", len(servers), len(tasks))
	}
	return servers, tasks
}

// coverage is the step coverage at k, for each k: the mean over tasks of the share of a task's steps whose tool belongs
// to one of the k servers that are ranked first. Annotated tools that no server has do not count as steps.
func coverage(tasks []stepTask, rank func(task stepTask, k int) []Scored, ks ...int) []float64 {
	sums := make([]float64, len(ks))
	for _, task := range tasks {
		ranked := rank(task, slices.Max(ks))
		for i, k := range ks {
			hit := 0.0
			for _, step := range task.steps {
				if slices.ContainsFunc(ranked[:min(k, len(ranked))], func(s Scored) bool { return step[s.Server] }) {
					hit++
				}
			}
			sums[i] += hit / float64(len(task.steps)) / float64(len(tasks))
		}
	}
	return sums
}

func TestLiveMCP(t *testing.T) {
	servers, tasks := readLiveMCP(t)
	x := NewIndex(servers, nil)
	rank := func(task stepTask, k int) []Scored { return x.Rank(task.text, k) }
	got := coverage(tasks, rank, 1, 3, 5, 10)
	t.Logf("step coverage @1 @3 @5 @10: %.3f; @3 in the halves: %.3f %.3f", got,
		coverage(tasks[:len(tasks)/2], rank, 3), coverage(tasks[len(tasks)/2:], rank, 3))
	if got[1] < 0.67 {
		t.Errorf("step coverage @3 is %.3f", got[1])
	}
	m := &Memory{}
	for i, task := range tasks {
		m.put(strconv.Itoa(i), task.text, task.servers())
	}
	all := slices.Clone(m.tasks)
	y := NewIndex(servers, m)
	i := 0
	learnt := coverage(tasks, func(task stepTask, k int) []Scored {
		m.tasks = slices.Delete(slices.Clone(all), i, i+1)
		i++
		m.bound()
		return y.Rank(task.text, k)
	}, 1, 3, 5, 10)
	t.Logf("with the %d other tasks remembered: %.3f", len(tasks)-1, learnt)
	if learnt[1] < got[1]+0.02 {
		t.Errorf("with a memory it is %.3f, without %.3f", learnt[1], got[1])
	}
}
