package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"orchestrator/contextmgr/wire/span"
)

// fileKeys are the keys of tools' inputs whose values name files.
var fileKeys = [...]string{"file_path", "filePath", "absolute_path", "path", "notebook_path", "file"}

// namesFile reports whether a key's value names a file.
func namesFile(key string) bool { return slices.Contains(fileKeys[:], key) }

// maxBeginning is how much is kept of a long string in a call's input, in bytes of its JSON.
const maxBeginning = 256

// TextInput returns the input of a call whose input is a text, of the JSON of the text.
func TextInput(text json.RawMessage) json.RawMessage {
	if len(text) > MaxInput {
		text = beginning(text)
	}
	return slices.Concat([]byte(`{"input":`), text, []byte{'}'})
}

// kept returns what is kept of a call's input; see Content.
func kept(input json.RawMessage) json.RawMessage {
	if len(input) == 0 || input[0] != '{' {
		return nil
	}
	if len(input) <= MaxInput {
		return bytes.Clone(input)
	}
	out := []byte{'{'}
	err := span.New(input).Object(func(key string, c *span.Cursor) error {
		value, err := c.Raw()
		if err != nil {
			return err
		}
		if value[0] == '"' && !namesFile(key) {
			value = beginning(value)
		}
		name := Quote(key)
		if len(out)+len(name)+len(value)+len(`,:}`) > MaxInput {
			return nil
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, name...), ':'), value...)
		return nil
	})
	if err != nil || len(out) == 1 {
		return nil
	}
	return slices.Clip(append(out, '}'))
}

// beginning returns the beginning of a long string, and a short one as it is. It cuts no escape and no rune.
func beginning(s json.RawMessage) json.RawMessage {
	if len(s) <= maxBeginning {
		return s
	}
	end := 1
	for end < maxBeginning {
		next := end + 1
		switch {
		case s[end] == '\\' && s[end+1] == 'u':
			next = end + len(`\u0000`)
			if (s[end+2]|0x20) == 'd' && s[next] == '\\' && s[next+1] == 'u' {
				next += len(`\u0000`) // both halves of a rune
			}
		case s[end] == '\\':
			next = end + len(`\n`)
		default:
			for next < len(s) && !utf8.RuneStart(s[next]) {
				next++
			}
		}
		if next >= maxBeginning {
			break
		}
		end = next
	}
	return append(slices.Clone(s[:end]), '"')
}
