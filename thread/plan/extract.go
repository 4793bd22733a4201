package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"orchestrator/thread"
)

// MaxFile is how many bytes a file may have that is handed over.
const MaxFile = 256 << 20

const maxSummary = 16 << 10

// Extract finds what an agent hands over in its final message. That is the last JSON object of it which has an output_data,
// alone, in a fence or after prose; without one, the last JSON value that meets the schema of the agent, which is the
// output_data then. Of other types than OutputJSON it is the message itself, without a fence that is around all of it, as a
// JSON string. Not a byte of a JSON value is changed. Meets says what of a value does not meet the schema; nil if there is
// none.
//
// An error says what is wrong in words that the agent can mend it by. Nothing is made up: what cannot be read is an error.
func Extract(said string, a Agent, meets func(json.RawMessage) error) (Contract, error) {
	said = strings.TrimPrefix(said, "\ufeff")
	if meets == nil {
		meets = func(json.RawMessage) error { return nil }
	}
	if !utf8.ValidString(said) || strings.ContainsRune(said, 0) {
		return Contract{}, refuse("it has bytes that are no text. Hand them over as a file")
	}
	found, broken := candidates(said)
	for i := len(found) - 1; i >= 0; i-- {
		if found[i].contract(a, said) {
			return found[i].hand(a, said, meets)
		}
	}
	if !a.json() {
		return plain(said, a)
	}
	return bare(said, found, broken, a, meets)
}

// json reports whether what it hands over is JSON.
func (a Agent) json() bool { return a.Output == "" || a.Output == OutputJSON }

// refuse is an error that an agent can mend.
func refuse(format string, args ...any) error {
	return thread.Kindf(thread.ErrInvalid, format, args...)
}

// candidate is a JSON object or array of a message, which is not within another one.
type candidate struct {
	text      string
	from, end int // in the message
	// alone is set if nothing else stands in its lines.
	alone bool
}

// candidates returns those of a message, and what is wrong with the last part that begins like one and is none.
func candidates(said string) (found []candidate, broken error) {
	var wrong *jsonError // what began at begun
	begun := 0
	for at := 0; at < len(said); {
		i := strings.IndexAny(said[at:], "{[")
		if i < 0 {
			break
		}
		from := at + i
		end, err := value(said, from)
		if err == nil {
			c := candidate{said[from:end], from, end, begins(said, from) && ends(said, end)}
			if found = append(found, c); c.alone {
				wrong = nil
			}
			at = end
			continue
		}
		// What was read up to here was within it, and is no value of its own.
		if at = max(err.at, from+1); err.cut || begins(said, from) && strings.ContainsAny(said[from:min(at, len(said))], `":`) {
			wrong, begun = err, from
		}
	}
	if wrong != nil {
		broken = refuse("the JSON that begins at %s is not complete: at %s, %s", place(said, begun), place(said, wrong.at), wrong.what)
	}
	return found, broken
}

// begins reports whether nothing but space stands before a place in its line.
func begins(text string, at int) bool {
	before := strings.TrimRight(text[:at], " \t")
	return before == "" || before[len(before)-1] == '\n'
}

// ends reports whether nothing but space follows on a place in its line.
func ends(text string, at int) bool {
	after := strings.TrimLeft(text[at:], " \t\r")
	return after == "" || after[0] == '\n'
}

// contract reports whether it is what an agent hands over with all that belongs to it, and not the output_data alone. In
// what is no JSON it is only what ends the message, since a text may show such objects.
func (c candidate) contract(a Agent, said string) bool {
	if c.text[0] != '{' {
		return false
	}
	var data, files, others bool
	for _, m := range members(c.text) {
		switch m.key {
		case "output_data":
			data = true
		case "files":
			files = true
		case "summary":
		default:
			others = true
		}
	}
	if a.json() {
		return data
	}
	return (data || files) && !others && c.alone && strings.Trim(said[c.end:], " \t\r\n`~") == ""
}

// hand reads the whole of what an agent hands over.
func (c candidate) hand(a Agent, said string, meets func(json.RawMessage) error) (Contract, error) {
	out := Contract{Data: json.RawMessage("null")}
	seen := map[string]bool{}
	for _, m := range members(c.text) {
		var err error
		switch m.key {
		case "summary":
			err = json.Unmarshal([]byte(m.value), &out.Summary)
		case "output_data":
			out.Data = json.RawMessage(m.value)
		case "files":
			err = json.Unmarshal([]byte(m.value), &out.Files)
		default:
			continue
		}
		if err != nil {
			return Contract{}, refuse("%q is not what it should be: the summary is a string, files are a list of paths as strings", m.key)
		}
		if seen[m.key] {
			return Contract{}, refuse("%q stands twice in the object", m.key)
		}
		seen[m.key] = true
	}
	if text := before(said[:c.from]); !a.json() && !seen["output_data"] && text != "" {
		out.Data, seen["output_data"] = Quote(text), true
	}
	if err := out.check(a, seen["output_data"]); err != nil || !a.json() {
		return out, err
	}
	err := meets(out.Data)
	if err != nil && len(a.Schema) > 0 && meets(json.RawMessage(c.text)) == nil { // its schema has such a field
		return Contract{Data: json.RawMessage(c.text)}, nil
	}
	if err != nil {
		return Contract{}, refuse("output_data does not meet its schema: %w", err)
	}
	return out, nil
}

// before returns what a message says before the object that ends it.
func before(text string) string {
	text = strings.TrimSpace(text)
	line := strings.LastIndexByte(text, '\n') + 1
	if last := text[line:]; strings.HasPrefix(last, "```") || strings.HasPrefix(last, "~~~") {
		text = strings.TrimSpace(text[:line])
	}
	return text
}

// check says what is too much or missing.
func (c *Contract) check(a Agent, data bool) error {
	if err := c.size(); err != nil {
		return err
	}
	switch {
	case len(c.Files) > MaxFiles:
		return refuse("%d files are more than %d", len(c.Files), MaxFiles)
	case a.Output == OutputImage && len(c.Files) == 0 && len(a.Deliver) == 0:
		return refuse(`an image is handed over as a file: {"summary": "...", "files": ["picture.png"]}`)
	case !data && len(c.Files) == 0 && len(a.Deliver) == 0:
		return refuse("there is neither output_data nor a file")
	case len(c.Summary) > maxSummary:
		return refuse("the summary has %d bytes, more than %d", len(c.Summary), maxSummary)
	}
	return nil
}

// size refuses what is too large for a row.
func (c *Contract) size() error {
	if len(c.Data) > MaxData {
		return refuse("output_data has %s, more than %s. Hand it over as a file", thread.Bytes(int64(len(c.Data))), thread.Bytes(MaxData))
	}
	return nil
}

// plain reads a message that is handed over as it is.
func plain(said string, a Agent) (Contract, error) {
	text := strings.TrimSpace(said)
	if inner, ok := unfenced(text); ok {
		text = inner
	}
	if text == "" && len(a.Deliver) == 0 {
		return Contract{}, refuse("the final message is empty")
	}
	c := Contract{Data: Quote(text)}
	return c, c.check(a, true)
}

// unfenced returns what is in a fence that is around all of a text.
func unfenced(text string) (string, bool) {
	first, rest, ok := strings.Cut(text, "\n")
	for _, tick := range []string{"`", "~"} {
		fence := first[:len(first)-len(strings.TrimLeft(first, tick))]
		if !ok || len(fence) < 3 || strings.Contains(first[len(fence):], tick) {
			continue
		}
		inner, closed := strings.CutSuffix("\n"+rest, "\n"+fence)
		if closed && !strings.Contains(inner, "\n"+fence) {
			return strings.TrimPrefix(inner, "\n"), true
		}
	}
	return "", false
}

// bare finds a value that is the output_data itself: of those that stand alone, then of all, the last one that meets the
// schema. Without a schema it is an object, after which no other begins and is broken off.
func bare(said string, found []candidate, broken error, a Agent, meets func(json.RawMessage) error) (Contract, error) {
	var unmet error
	for _, lone := range []bool{true, false} {
		for i := len(found) - 1; i >= 0; i-- {
			c := found[i]
			if c.alone != lone || len(a.Schema) == 0 && (c.text[0] != '{' || broken != nil || !lone && len(members(c.text)) == 0) {
				continue
			}
			err := meets(json.RawMessage(c.text))
			if err == nil {
				out := Contract{Data: json.RawMessage(c.text)}
				return out, out.check(a, true)
			}
			if unmet == nil {
				unmet = err
			}
		}
	}
	switch text := strings.TrimSpace(said); {
	case broken != nil:
		return Contract{}, broken
	case unmet != nil:
		return Contract{}, refuse("the JSON does not meet the schema of output_data: %w", unmet)
	case text == "":
		return Contract{}, refuse("the final message is empty")
	case len(a.Schema) > 0 && json.Valid([]byte(text)): // a number, a string, true, false, null
		if err := meets(json.RawMessage(text)); err != nil {
			return Contract{}, refuse("the JSON does not meet the schema of output_data: %w", err)
		}
		return Contract{Data: json.RawMessage(text)}, nil
	}
	return Contract{}, refuse("there is no JSON object in the final message")
}

// ReadData checks what is handed over by itself, without a message around it, and returns it as it is kept: of OutputJSON one
// JSON value, byte for byte but for space around it, of other types a text as a JSON string.
func ReadData(text string, a Agent, meets func(json.RawMessage) error) (json.RawMessage, error) {
	text = strings.TrimPrefix(text, "\ufeff")
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return nil, refuse("it has bytes that are no text. Hand them over as a file")
	}
	if !a.json() {
		c := Contract{Data: Quote(text)}
		return c.Data, c.size()
	}
	from := len(text) - len(strings.TrimLeft(text, " \t\r\n"))
	end, err := value(text, from)
	if err != nil {
		return nil, refuse("it is no JSON value: at %s, %s", place(text, err.at), err.what)
	}
	if strings.Trim(text[end:], " \t\r\n") != "" {
		return nil, refuse("it is more than one JSON value: the first one ends at %s", place(text, end))
	}
	c := Contract{Data: json.RawMessage(text[from:end])}
	if err := c.size(); err != nil || meets == nil {
		return c.Data, err
	}
	if err := meets(c.Data); err != nil {
		return nil, refuse("output_data does not meet its schema: %w", err)
	}
	return c.Data, nil
}

// Quote returns a text as a JSON string, with <, > and & as they are.
func Quote(text string) json.RawMessage {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string can be encoded
	return bytes.TrimSpace(out.Bytes())
}

// Mend is what an agent is asked once, when what it has handed over cannot be read.
func Mend(a Agent, problem error) string {
	var b strings.Builder
	fmt.Fprintf(&b, "What you handed over cannot be used: %v.\n", problem)
	if !a.json() {
		b.WriteString("Answer once more with all of it.\n")
		return b.String()
	}
	b.WriteString("Answer once more with one JSON object and nothing else, whole and valid: " +
		`{"summary": "what it says, in a few sentences", "output_data": ..., "files": []}` + "\n")
	if len(a.Schema) > 0 {
		fmt.Fprintf(&b, "output_data has to meet this JSON Schema:\n%s\n", a.Schema)
	}
	return b.String()
}
