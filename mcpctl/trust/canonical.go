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

// pinned reports whether a key of a tool's definition tells a model what the tool is.
func pinned(key string) bool {
	switch key {
	case "name", "title", "description", "inputSchema", "outputSchema", "annotations":
		return true
	}
	return false
}

// canonical returns what of a tool's definition is pinned, as JSON with sorted keys and numbers as they are written; its
// name; and its title and description.
func canonical(raw json.RawMessage) (text, name, shown string, err error) {
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
		if !pinned(m.Key) {
			continue
		}
		members = append(members, m)
		s, _ := m.Value.Text()
		switch m.Key {
		case "name":
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
			b = v.Raw() // what is no text is not made equal
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
