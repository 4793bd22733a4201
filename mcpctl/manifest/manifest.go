// Package manifest holds what a server offers: its tools, prompts and resources as it described them, byte for byte but
// for the space between the bytes.
//
// What a server says is not trusted. A tool that would break an agent or another server's tools is withheld with the
// reason; the rest of the list stays. Lists are bounded in number and size, however long the server goes on.
package manifest

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"
)

// Manifest is what a server offers.
type Manifest struct {
	Hash         string          // of the server's launch
	Protocol     string          // the protocol version that was spoken
	Server       json.RawMessage `json:",omitempty"` // its serverInfo
	Instructions string
	Capabilities json.RawMessage `json:",omitempty"`

	Tools     []Tool // by name
	Prompts   []json.RawMessage
	Resources []json.RawMessage
	Templates []json.RawMessage // of resources
	// Problems say what of the lists is left out, beside the tools that say so themselves.
	Problems []string
	At       time.Time
}

// Tool is a tool as its server described it.
type Tool struct {
	Name string
	Raw  json.RawMessage `json:",omitempty"` // nil if it is too large to keep
	// Problem is why the tool is withheld; empty if it is not.
	Problem string
}

// Tool returns the tool of a name that is not withheld.
func (m Manifest) Tool(name string) (Tool, bool) {
	for _, t := range m.Tools {
		if t.Name == name && t.Problem == "" {
			return t, true
		}
	}
	return Tool{}, false
}

// Compact returns the manifest without space between the parts of what the server said, as it is stored.
func (m Manifest) Compact() Manifest {
	m.Server, m.Capabilities = compact(m.Server), compact(m.Capabilities)
	m.Tools = slices.Clone(m.Tools)
	for i := range m.Tools {
		m.Tools[i].Raw = compact(m.Tools[i].Raw)
	}
	m.Prompts, m.Resources, m.Templates = compactAll(m.Prompts), compactAll(m.Resources), compactAll(m.Templates)
	return m
}

func compactAll(list []json.RawMessage) []json.RawMessage {
	list = slices.Clone(list)
	for i := range list {
		list[i] = compact(list[i])
	}
	return list
}

// compact returns nil for what is not JSON.
func compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil || b.Len() == 0 {
		return nil
	}
	return b.Bytes()
}

// Same reports whether two manifests offer the same, whenever they were read.
func (m Manifest) Same(o Manifest) bool {
	raw := func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }
	return m.Hash == o.Hash && m.Protocol == o.Protocol && m.Instructions == o.Instructions &&
		raw(m.Server, o.Server) && raw(m.Capabilities, o.Capabilities) &&
		slices.EqualFunc(m.Tools, o.Tools, func(a, b Tool) bool {
			return a.Name == b.Name && a.Problem == b.Problem && raw(a.Raw, b.Raw)
		}) &&
		slices.EqualFunc(m.Prompts, o.Prompts, raw) && slices.EqualFunc(m.Resources, o.Resources, raw) &&
		slices.EqualFunc(m.Templates, o.Templates, raw) && slices.Equal(m.Problems, o.Problems)
}
