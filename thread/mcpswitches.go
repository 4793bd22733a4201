package thread

import (
	"slices"
	"strings"
)

// MCPBy is who or what switched an MCP server.
type MCPBy string

// What can switch a server.
const (
	MCPDefault   MCPBy = "default"   // its configuration
	MCPPerson    MCPBy = "person"    // a person
	MCPPattern   MCPBy = "pattern"   // a task pattern
	MCPOffer     MCPBy = "offer"     // a person, as it was suggested
	MCPInherited MCPBy = "inherited" // the checkpoint that the thread was forked at or rewound to
)

// MCPSwitch is a decision about an MCP server.
type MCPSwitch struct {
	Server string `json:"server"`
	By     MCPBy  `json:"by"`
	Why    string `json:"why,omitempty"` // "matched `e2e`"
}

// MCPSwitches are the decisions about MCP servers for a thread.
type MCPSwitches struct {
	On []MCPSwitch `json:"on,omitempty"`
	// Off names servers that a person switched off: no pattern switches them on again.
	Off []string `json:"off,omitempty"`
	// Tools are the tools that are switched off, as server/tool.
	Tools []string `json:"tools,omitempty"`
	// Exact is set if no other servers are on than those of On, whatever their configuration says.
	Exact bool `json:"exact,omitempty"`
	// Taken is set once an agent that may take servers or not has taken them.
	Taken bool `json:"taken,omitempty"`
}

// IsZero reports whether nothing was decided.
func (s MCPSwitches) IsZero() bool {
	return len(s.On) == 0 && len(s.Off) == 0 && len(s.Tools) == 0 && !s.Exact && !s.Taken
}

// Equal reports whether two sets of decisions are the same.
func (s MCPSwitches) Equal(o MCPSwitches) bool {
	return s.Exact == o.Exact && s.Taken == o.Taken && slices.Equal(s.On, o.On) && slices.Equal(s.Off, o.Off) && slices.Equal(s.Tools, o.Tools)
}

// Clone returns a copy that shares nothing.
func (s MCPSwitches) Clone() MCPSwitches {
	s.On, s.Off, s.Tools = slices.Clone(s.On), slices.Clone(s.Off), slices.Clone(s.Tools)
	return s
}

// Find returns the decision that switched a server on.
func (s MCPSwitches) Find(server string) (MCPSwitch, bool) {
	i := slices.IndexFunc(s.On, func(w MCPSwitch) bool { return w.Server == server })
	if i < 0 {
		return MCPSwitch{}, false
	}
	return s.On[i], true
}

// SwitchOn returns the switches with a server on.
func (s MCPSwitches) SwitchOn(w MCPSwitch) MCPSwitches {
	s = s.without(w.Server)
	s.On = append(s.On, w)
	return s
}

// SwitchOff returns the switches with a server off by a person.
func (s MCPSwitches) SwitchOff(server string) MCPSwitches {
	s = s.without(server)
	s.Off = append(s.Off, server)
	return s
}

func (s MCPSwitches) without(server string) MCPSwitches {
	s = s.Clone()
	s.On = slices.DeleteFunc(s.On, func(w MCPSwitch) bool { return w.Server == server })
	s.Off = slices.DeleteFunc(s.Off, func(name string) bool { return name == server })
	return s
}

// SwitchTool returns the switches with one tool of a server on or off.
func (s MCPSwitches) SwitchTool(server, tool string, on bool) MCPSwitches {
	name := server + "/" + tool
	s = s.Clone()
	s.Tools = slices.DeleteFunc(s.Tools, func(t string) bool { return t == name })
	if !on {
		s.Tools = append(s.Tools, name)
	}
	return s
}

// The list of a checkpoint has the names of the servers that are on, and "-server/tool" for each tool that is off, also
// of other servers. mcpNone says that nothing is on, which an empty list does not: it is that of an older checkpoint.
const mcpNone = "-"

// MCPList returns the list of a checkpoint.
func MCPList(on, toolsOff []string) []string {
	list := slices.Clone(on)
	if len(on) == 0 {
		list = []string{mcpNone}
	}
	for _, t := range toolsOff {
		list = append(list, mcpNone+t)
	}
	return list
}

// MCPNames returns the servers of a checkpoint's list.
func MCPNames(list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return strings.HasPrefix(s, mcpNone) })
}

// At returns the switches of a thread that goes on from a checkpoint with that list. What a person switched off stays
// off unless it was on there.
func (s MCPSwitches) At(list []string, why string) MCPSwitches {
	if len(list) == 0 {
		return s.Clone()
	}
	at := MCPSwitches{Exact: true, Taken: s.Taken}
	for _, item := range list {
		switch name, off := strings.CutPrefix(item, mcpNone); {
		case !off:
			w, known := s.Find(item)
			if !known {
				w = MCPSwitch{Server: item, By: MCPInherited, Why: why}
			}
			at.On = append(at.On, w)
		case name != "":
			at.Tools = append(at.Tools, name)
		}
	}
	for _, name := range s.Off {
		if _, on := at.Find(name); !on {
			at.Off = append(at.Off, name)
		}
	}
	return at
}
