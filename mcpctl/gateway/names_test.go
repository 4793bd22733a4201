package gateway

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"orchestrator/thread"
)

var allowedName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,44}$`)

func TestExposed(t *testing.T) {
	long := strings.Repeat("long", 30)
	for _, c := range []struct {
		server string
		items  []string
		want   []string // a pattern each
	}{
		{"fs", []string{"read", "write-file", "read_file"}, []string{"fs__read", "fs__write-file", "fs__read_file"}},
		{"fs", []string{"a.b"}, []string{"fs__a_b"}},
		{"fs", []string{"a.b", "a_b"}, []string{"fs__a_b_x[0-9a-f]{6}", "fs__a_b"}},
		{"fs", []string{"a.b", "a:b"}, []string{"fs__a_b_x[0-9a-f]{6}", "fs__a_b_x[0-9a-f]{6}"}},
		{"fs", []string{"é"}, []string{"fs___"}},
		{"fs", []string{"\xff\xfe"}, []string{"fs____"}},
		{"fs", []string{""}, []string{"fs__"}},
		{"fs", []string{"get_xfacade", "_xabcdef", "get_facade"}, []string{"fs__get_xfacade_x[0-9a-f]{6}", "fs___xabcdef_x[0-9a-f]{6}", "fs__get_facade"}},
		{"a.b", []string{"x"}, []string{"a_b__x_x[0-9a-f]{6}"}},
		{"a__b", []string{"c"}, []string{"a__b__c_x[0-9a-f]{6}"}},
		{"a", []string{"b__c"}, []string{"a__b__c"}},
		{"a_", []string{"b"}, []string{"a___b_x[0-9a-f]{6}"}},
		{"a", []string{"_b"}, []string{"a___b"}},
		{"orch", []string{"retrieve", "find_tool"}, []string{"orch__retrieve_x[0-9a-f]{6}", "orch__find_tool_x[0-9a-f]{6}"}},
		{"fs", []string{strings.Repeat("n", 40)}, []string{"fs__n{40}"}},
		{"fs", []string{strings.Repeat("n", 41)}, []string{"fs__n{32}_x[0-9a-f]{6}"}},
		{"fs", []string{long + "1", long + "2"}, []string{"fs__[long]{32}_x[0-9a-f]{6}", "fs__[long]{32}_x[0-9a-f]{6}"}},
		{long, []string{"a", "b"}, []string{"[long]{36}_x[0-9a-f]{6}", "[long]{36}_x[0-9a-f]{6}"}},
	} {
		got := exposed(c.server, c.items)
		seen := map[string]bool{}
		for i, name := range got {
			if !regexp.MustCompile("^" + c.want[i] + "$").MatchString(name) {
				t.Errorf("%q of %q is %q, not %s", c.items[i], c.server, name, c.want[i])
			}
			if !allowedName.MatchString(name) || seen[name] {
				t.Errorf("%q of %q is %q", c.items[i], c.server, name)
			}
			seen[name] = true
		}
		if again := exposed(c.server, c.items); !slices.Equal(got, again) {
			t.Errorf("names change: %q and %q", got, again)
		}
	}
}

// TestExposedIsOneServersOwn: no server has a name of another's, whatever the names are.
func TestExposedIsOneServersOwn(t *testing.T) {
	taken := map[string]string{}
	for _, server := range []string{"a", "a_", "a__b", "a.b", "a_b", "a__", "_a", "a._b", "orch", "orch_", "b"} {
		items := []string{"x", "b__x", "_x", "_b__x", "b__x_xabcdef"}
		for other := range taken {
			if rest, ok := strings.CutPrefix(other, plain(server)+separator); ok {
				items = append(items, rest) // what a hostile server would do
			}
		}
		slices.Sort(items)
		items = slices.Compact(items)
		for i, name := range exposed(server, items) {
			if who, ok := taken[name]; ok {
				t.Errorf("%s is %q of %s and of %s", name, items[i], server, who)
			}
			taken[name] = server
		}
	}
}

// FuzzExposed: names are of the characters that models take, short, unique and always the same.
func FuzzExposed(f *testing.F) {
	f.Add("fs", "a.b", "a_b", "a:b")
	f.Add("a__b", "c", "c_123456", strings.Repeat("x", 100))
	f.Add("orch", "retrieve", "", "\xff")
	f.Fuzz(func(t *testing.T, server, a, b, c string) {
		items := []string{a, b, c}
		slices.Sort(items)
		items = slices.Compact(items)
		all := append(exposed(server, items), retrieveTool, findTool)
		for i, name := range all {
			if !allowedName.MatchString(name) {
				t.Errorf("%q", name)
			}
			if slices.Contains(all[:i], name) {
				t.Errorf("%q twice, of %q and %q", name, server, items)
			}
		}
	})
}

// TestNamesStayWhenAnotherServerIsSwitched: a conversation goes on to name the same tools.
func TestNamesStayWhenAnotherServerIsSwitched(t *testing.T) {
	servers := []Server{serverOf("a", "b__c", "x.y"), serverOf("a.b", "c"), serverOf("a__b", "c"), serverOf("z", "q")}
	all := map[string]string{}
	for _, e := range tools(servers) {
		all[e.name] = e.server + "/" + e.own
	}
	for skip := range servers {
		some := slices.Delete(slices.Clone(servers), skip, skip+1)
		for _, e := range tools(some) {
			if all[e.name] != e.server+"/"+e.own {
				t.Errorf("without %s, %s is %s/%s, not %s", servers[skip].ID, e.name, e.server, e.own, all[e.name])
			}
		}
	}
}

func TestToolsOfOneNameAreOne(t *testing.T) {
	all := tools([]Server{serverOf("a", "x", "x"), serverOf("a", "x")})
	if len(all) != 1 {
		t.Errorf("%d entries: clients refuse such a list", len(all))
	}
}

// BenchmarkNames is what a call costs to find its tool among 10 servers with 200 tools each.
func BenchmarkNames(b *testing.B) {
	var servers []Server
	for i := range 10 {
		s := Server{ID: fmt.Sprintf("server%d", i)}
		for j := range 200 {
			name := fmt.Sprintf("tool_%03d", j)
			s.Tools = append(s.Tools, Tool{Name: name, Raw: encoded(map[string]any{"name": name, "description": strings.Repeat("d", 1000)})})
		}
		servers = append(servers, s)
	}
	for b.Loop() {
		if _, ok := find(toolNames(named(servers, "server7__tool_100")), "server7__tool_100"); !ok {
			b.Fatal("not found")
		}
	}
}

func TestOwnTools(t *testing.T) {
	var names []string
	for _, e := range ownTools(thread.MCPOwnTools(thread.Once{})) {
		names = append(names, e.name)
	}
	if !slices.Equal(names, thread.MCPOwnTools(thread.Once{})) {
		t.Errorf("%q, and agents are told of %q", names, thread.MCPOwnTools(thread.Once{}))
	}
}
