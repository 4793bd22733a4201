package thread

import (
	"errors"
	"reflect"
	"testing"
)

func TestProfileFill(t *testing.T) {
	p := Profile{Name: "x", Agent: "claude", Model: "opus", PermissionMode: "plan", Apart: ApartYes, MCP: []string{"a"}, Args: []string{"-v"}}
	full := NewRequest{Agent: "claude", Model: "opus", Worktree: true, MCP: []string{"a"}, Flags: Flags{PermissionMode: "plan", Args: []string{"-v"}}}
	for _, c := range []struct {
		name       string
		from, want NewRequest
	}{
		{"an empty request", NewRequest{}, full},
		{"what is said holds", NewRequest{Model: "haiku", InPlace: true, MCP: []string{"b"}, Flags: Flags{PermissionMode: "auto", Args: []string{"-q"}}},
			NewRequest{Agent: "claude", Model: "haiku", InPlace: true, MCP: []string{"b"}, Flags: Flags{PermissionMode: "auto", Args: []string{"-q"}}}},
		{"another agent has no use for its words", NewRequest{Agent: "codex"}, NewRequest{Agent: "codex", Worktree: true, MCP: []string{"a"}}},
	} {
		if got := p.Fill(c.from); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	if got := (Profile{Agent: "demo", Apart: ApartNo}).Fill(NewRequest{}); !got.InPlace || got.Worktree {
		t.Errorf("%+v", got)
	}
}

func TestProfileOf(t *testing.T) {
	th := Thread{Agent: "claude", Model: "opus", Base: Base{Profile: "slim", Why: BaseByHand + "; kept: loops"}, Worktree: Worktree{Path: "/w"}, Launch: Flags{PermissionMode: "plan", Args: []string{"-v"}, Env: []string{"A=b"}}}
	for by, name := range map[MCPBy]string{MCPPattern: "p", MCPPerson: "mine", MCPInherited: "i"} {
		th.MCP = th.MCP.SwitchOn(MCPSwitch{Server: name, By: by})
	}
	want := Profile{Agent: "claude", Model: "opus", PermissionMode: "plan", Apart: ApartYes, Base: "slim", MCP: []string{"mine"}, Args: []string{"-v"}}
	if got := ProfileOf(th); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if got, want := want.Summary(), "claude · opus · plan · own worktree · base slim · mine · -v"; got != want {
		t.Errorf("%q", got)
	}
	th.Base.Why = baseStarted
	if got := ProfileOf(th); got.Base != "" {
		t.Errorf("base %q, which nobody asked for", got.Base)
	}
	th.Launch.Args = []string{"--api-key", "sk-ant-api03-Jq8vT2mWx5Lr9KdZpYbH4nGc7sFa1EuQo3XiR6VtMw0BhNyPjDzCkUeSlAgIfOx"}
	if got := ProfileOf(th); got.Args != nil {
		t.Errorf("a credential is kept: %q", got.Args)
	}
	if got := ProfileOf(Thread{Agent: "command", Launch: Flags{Program: []string{"bash", "-l"}}}); len(got.Args) != 2 || got.Apart != ApartAuto {
		t.Errorf("%+v", got)
	}
}

func TestRequestedServers(t *testing.T) {
	s, err := NewRequest{MCP: []string{"a", "b", "a"}}.Switches()
	if err != nil || len(s.On) != 2 || s.On[0].By != MCPPerson {
		t.Errorf("%+v, %v", s, err)
	}
	for _, bad := range [][]string{{""}, {"a b"}, {"a\x00"}, make([]string, MaxServers+1)} {
		if _, err := (NewRequest{MCP: bad}).Switches(); !errors.Is(err, ErrInvalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
