package thread

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"orchestrator/thread/secret"
)

// Profile is how a thread is started: what a person chose last, or gave a name. It holds no credentials.
type Profile struct {
	Name           string `json:"name,omitempty"`
	Agent          string `json:"agent,omitempty"`
	Model          string `json:"model,omitempty"`
	PermissionMode string `json:"permissionMode,omitempty"`
	Apart          Apart  `json:"apart,omitempty"`
	// Base is the profile of what the agent leaves out, BaseDefault for the one that is configured.
	Base string `json:"base,omitempty"`
	// MCP are the servers that are switched on besides those that their configuration switches on.
	MCP  []string `json:"mcp,omitempty"`
	Args []string `json:"args,omitempty"` // of the agent; the words of the program that runs in place of one
}

// Apart describes whether a new thread has a worktree of its own.
type Apart string

// The choices.
const (
	ApartAuto Apart = "" // as it is configured
	ApartYes  Apart = "yes"
	ApartNo   Apart = "no"
)

// MaxServers is how many servers a request for a new thread may switch on.
const MaxServers = 100

// Fill returns a request in which a profile says what the request leaves open.
func (p Profile) Fill(r NewRequest) NewRequest {
	if r.Agent != "" && r.Agent != p.Agent { // its words are those of another agent
		p = Profile{Apart: p.Apart, MCP: p.MCP}
	}
	r.Agent = cmp.Or(r.Agent, p.Agent)
	r.Model = cmp.Or(r.Model, p.Model)
	r.Base = cmp.Or(r.Base, p.Base)
	r.Flags.PermissionMode = cmp.Or(r.Flags.PermissionMode, p.PermissionMode)
	if !r.Worktree && !r.InPlace {
		r.Worktree, r.InPlace = p.Apart == ApartYes, p.Apart == ApartNo
	}
	if len(r.MCP) == 0 {
		r.MCP = slices.Clone(p.MCP)
	}
	if len(r.Flags.Args) == 0 {
		r.Flags.Args = slices.Clone(p.Args)
	}
	return r
}

// ProfileOf returns how a thread is started, with the servers that its person has switched on, but without
// arguments among which something looks like a credential.
func ProfileOf(t Thread) Profile {
	p := Profile{Agent: t.Agent, Model: t.Model, PermissionMode: t.Launch.PermissionMode}
	if t.Worktree.Path != "" {
		p.Apart = ApartYes
	}
	if t.Base.ByHand() {
		p.Base = t.Base.Profile
	}
	for _, on := range t.MCP.On {
		if on.By == MCPPerson || on.By == MCPOffer {
			p.MCP = append(p.MCP, on.Server)
		}
	}
	args := t.Launch.Args
	if len(args) == 0 {
		args = t.Launch.Program
	}
	if line := strings.Join(args, " "); secret.Redact(line) == line {
		p.Args = slices.Clone(args)
	}
	return p
}

// Summary returns in a line what a profile starts: "demo · demo-1 · auto · own worktree · base slim · github".
func (p Profile) Summary() string {
	parts := []string{p.Agent, p.Model, p.PermissionMode}
	switch p.Apart {
	case ApartYes:
		parts = append(parts, "own worktree")
	case ApartNo:
		parts = append(parts, "the folder itself")
	case ApartAuto:
	}
	if p.Base != BaseDefault {
		parts = append(parts, "base "+p.Base)
	}
	parts = append(parts, p.MCP...)
	parts = append(parts, strings.Join(p.Args, " "))
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " · ")
}

// checkMCP checks the servers of a request for a new thread.
func checkMCP(servers []string) error {
	if len(servers) > MaxServers {
		return fmt.Errorf("%d MCP servers, but at most %d: %w", len(servers), MaxServers, ErrInvalid)
	}
	for _, s := range servers {
		if s == "" || len(s) > 64 || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
			return fmt.Errorf("MCP server %q: not a name: %w", s, ErrInvalid)
		}
	}
	return nil
}

// Switches returns the decisions about MCP servers with which a requested thread begins.
func (r NewRequest) Switches() (MCPSwitches, error) {
	var s MCPSwitches
	if err := checkMCP(r.MCP); err != nil {
		return s, err
	}
	for _, name := range r.MCP {
		s = s.SwitchOn(MCPSwitch{Server: name, By: MCPPerson})
	}
	return s, nil
}
