package trust

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orchestrator/mcpctl/hidden"
	"orchestrator/mcpctl/jsonc"
)

// maxTool is the size limit of a definition.
const maxTool = 256 << 10

// Kind is what a definition of a server is of.
type Kind string

// The kinds, by the key that names one.
const (
	OfTool     Kind = "name"
	OfPrompt   Kind = "prompt"
	OfResource Kind = "uri"
	OfTemplate Kind = "uriTemplate"
)

// naming is the key of a definition that names it.
func (k Kind) naming() string {
	if k == OfPrompt {
		return "name"
	}
	return string(k)
}

// early reports whether a key of a tool's definition was pinned by builds that did not pin all of them.
func early(key string) bool {
	switch key {
	case "name", "title", "description", "inputSchema", "outputSchema", "annotations":
		return true
	}
	return false
}

// moving reports whether a key of a definition changes with what the server has, not with what it says: that is not
// pinned.
func (k Kind) moving(key string) bool {
	return k == OfResource && key == "size"
}

// canonical returns what of a definition is pinned, as JSON with sorted keys and numbers as they are written; its name;
// and its title and description. keep says which keys count.
func canonical(k Kind, raw json.RawMessage, keep func(key string) bool) (text, name, shown string, err error) {
	if len(raw) > maxTool {
		return "", "", "", fmt.Errorf("its definition has more than %d bytes", maxTool)
	}
	if !json.Valid(raw) {
		return "", "", "", errors.New("its definition is not valid JSON")
	}
	v, err := jsonc.Parse(raw)
	if err != nil {
		return "", "", "", fmt.Errorf("its definition cannot be read: %w", err)
	}
	if v.Kind != jsonc.Object {
		return "", "", "", errors.New("its definition is not an object")
	}
	var members []jsonc.Member
	for _, m := range v.Members() {
		if !keep(m.Key) || k.moving(m.Key) {
			continue
		}
		if k == OfResource && m.Key == "annotations" && m.Value.Kind == jsonc.Object {
			if m.Value, err = without(m.Value, "lastModified"); err != nil {
				return "", name, "", err
			}
		}
		members = append(members, m)
		s, _ := m.Value.Text()
		switch m.Key {
		case k.naming():
			if name != "" || m.Value.Kind != jsonc.String {
				return "", name, "", errors.New("it has no name, or several")
			}
			name = s
		case "title", "description":
			shown += s + "\n"
		}
	}
	if name == "" {
		return "", "", "", errors.New("it has no name")
	}
	var out bytes.Buffer
	if err := writeMembers(&out, members); err != nil {
		return "", name, "", err
	}
	return out.String(), name, strings.TrimSuffix(shown, "\n"), nil
}

// without returns an object without a key.
func without(v jsonc.Value, key string) (jsonc.Value, error) {
	var out bytes.Buffer
	err := writeMembers(&out, slices.DeleteFunc(v.Members(), func(m jsonc.Member) bool { return m.Key == key }))
	if err != nil {
		return jsonc.Value{}, err
	}
	return jsonc.Parse(out.Bytes())
}

// writeMembers writes an object with sorted keys. A key that is there twice stays there twice, in its order: parsers
// differ in which one they take.
func writeMembers(out *bytes.Buffer, members []jsonc.Member) error {
	slices.SortStableFunc(members, func(a, b jsonc.Member) int { return strings.Compare(a.Key, b.Key) })
	out.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			out.WriteByte(',')
		}
		key, err := json.Marshal(m.Key)
		if err != nil {
			return err
		}
		out.Write(key)
		out.WriteByte(':')
		if err := writeValue(out, m.Value); err != nil {
			return err
		}
	}
	out.WriteByte('}')
	return nil
}

func writeValue(out *bytes.Buffer, v jsonc.Value) error {
	switch v.Kind {
	case jsonc.Object:
		return writeMembers(out, v.Members())
	case jsonc.Array:
		out.WriteByte('[')
		for i, item := range v.Items() {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := writeValue(out, item); err != nil {
				return err
			}
		}
		out.WriteByte(']')
	case jsonc.String:
		s, _ := v.Text()
		b, err := json.Marshal(s)
		if err != nil {
			return err
		}
		if strings.ContainsRune(s, '\ufffd') {
			b = v.Raw() // what is not text is not made equal
		}
		out.Write(b)
	default:
		out.Write(v.Raw())
	}
	return nil
}

// pretty returns canonical JSON in lines, with marks for what is hidden; a text of several lines is as many lines.
func pretty(text string) []string {
	var out bytes.Buffer
	if json.Indent(&out, []byte(text), "", "  ") != nil {
		return []string{hidden.Visible(text)}
	}
	var lines []string
	for _, line := range strings.Split(out.String(), "\n") {
		for _, part := range strings.SplitAfter(line, `\n`) {
			lines = append(lines, hidden.Visible(part))
		}
	}
	return lines
}
