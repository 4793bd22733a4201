package wire

import (
	"encoding/json"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/pattern"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/turns"
)

// PersonText returns the part of a message's text that the person wrote: without the elements that agents add, and
// without texts that an agent wrote in the person's name. It returns "" if nothing is left. A slash command is returned
// as typed.
func PersonText(s string) string {
	if cmd, ok := slashCommand(s); ok {
		return cmd
	}
	return turns.Person(unwrapPastes(s))
}

// Person collects the texts of one message and finds the person's newest one. Agents put several messages into one: a
// command and what followed it, or an interrupted prompt and the next one.
type Person struct {
	texts, commands []string
	fresh           int // index of the first text after an interruption
}

// Add adds a text of the message.
func (p *Person) Add(text string) {
	if strings.HasPrefix(strings.TrimSpace(text), "[Request interrupted by user") {
		p.fresh = len(p.texts)
		return
	}
	own := PersonText(text)
	_, command := slashCommand(text)
	switch {
	case own == "":
	case command:
		p.commands = append(p.commands, own)
	default:
		p.texts = append(p.texts, own)
	}
}

// Text returns the person's newest text: the one after an interruption, else any text, else a command.
func (p *Person) Text() string {
	for _, texts := range [][]string{p.texts[p.fresh:], p.texts, p.commands} {
		if len(texts) > 0 {
			return strings.Join(texts, "\n")
		}
	}
	return ""
}

// pasteOpen matches the beginning of a long pasted text, as Claude Code marks it.
var pasteOpen = pattern.Lazy(`(?m)^<pasted_content id="([0-9a-f]+)">\n`)

// unwrapPastes removes the marks around pasted texts: the content is the person's.
func unwrapPastes(s string) string {
	if !strings.Contains(s, "<pasted_content ") {
		return s
	}
	var out strings.Builder
	for {
		at := pasteOpen().FindStringSubmatchIndex(s)
		if at == nil {
			break
		}
		text, rest, closed := strings.Cut(s[at[1]:], `</pasted_content id="`+s[at[2]:at[3]]+`">`)
		if !closed {
			break // the person's own text
		}
		out.WriteString(s[:at[0]])
		out.WriteString(strings.TrimSuffix(text, "\n"))
		s = rest
	}
	return out.String() + s
}

// slashCommand returns the slash command that an agent recorded as elements.
func slashCommand(s string) (string, bool) {
	name, ok := element(s, "command-name")
	if !ok || !strings.HasPrefix(strings.TrimSpace(s), "<command-") {
		return "", false
	}
	args, _ := element(s, "command-args")
	return strings.TrimSpace(name + " " + args), true
}

func element(s, tag string) (string, bool) {
	_, rest, ok := strings.Cut(s, "<"+tag+">")
	if !ok {
		return "", false
	}
	in, _, ok := strings.Cut(rest, "</"+tag+">")
	return strings.TrimSpace(in), ok
}

// IsQuoted reports whether a text contains one of the words, in any case.
func IsQuoted(text string, words ...string) bool {
	text = strings.ToLower(text)
	for _, w := range words {
		if strings.Contains(text, strings.ToLower(w)) {
			return true
		}
	}
	return false
}

// SmallModel reports whether a model is one of a provider's small, cheap models, which agents use for titles and the
// like.
func SmallModel(model string) bool {
	return IsQuoted(model, "haiku", "-mini", "-nano", "flash-lite", "-lite", "-small")
}

// ErrorText returns the message of a provider's error object, "" if there is none. It reads
// {"error":{"type","message"}}, {"error":"…"}, {"message":"…"} and arrays of them.
func ErrorText(body []byte) string {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var outer struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  any             `json:"detail"`
	}
	if json.Unmarshal(body, &outer) != nil {
		return ""
	}
	var inner struct {
		Type    string `json:"type"`
		Status  string `json:"status"`
		Code    any    `json:"code"`
		Message string `json:"message"`
	}
	var plain string
	switch {
	case json.Unmarshal(outer.Error, &plain) == nil && plain != "":
		return plaintext.Cut(plain, maxError)
	case json.Unmarshal(outer.Error, &inner) == nil && (inner.Type != "" || inner.Message != ""):
		kind := inner.Type
		if code, ok := inner.Code.(string); kind == "" && ok {
			kind = code
		}
		if kind == "" {
			kind = inner.Status
		}
		return plaintext.Cut(strings.TrimPrefix(kind+": "+inner.Message, ": "), maxError)
	case outer.Message != "":
		return plaintext.Cut(outer.Message, maxError)
	}
	if detail, ok := outer.Detail.(string); ok {
		return plaintext.Cut(detail, maxError)
	}
	return ""
}

// maxError is the size limit of an error text that is kept, in bytes.
const maxError = 500

// Unreadable returns the entry for an item that no codec can read.
func Unreadable() thread.Entry {
	return thread.Entry{Kind: thread.EntryAnswer, Text: "[a message that cannot be read]", Error: true}
}
