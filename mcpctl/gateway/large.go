package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

const (
	// defaultStage is the size in bytes above which a result is staged. Codex cuts at about 12,000 characters and loses the
	// rest, others later.
	defaultStage = 10_000
	// previewBytes is how much of a staged text the agent sees at once.
	previewBytes = 1500
)

// bounded returns a result as the agent gets it: as it came, or with its large text staged and replaced by a preview
// and a token. Errors, pictures and other content stay.
func (g *Gateway) bounded(ctx context.Context, id thread.ID, on []Server, e entry, result json.RawMessage) json.RawMessage {
	limit := defaultStage
	for _, s := range on {
		if s.ID == e.server && s.StageChars > 0 {
			limit = s.StageChars
		}
	}
	if len(result) <= limit || g.stager == nil {
		return result
	}
	o, err := asObject(result)
	if err != nil || string(o["isError"]) == "true" {
		return result
	}
	var content []json.RawMessage
	if o["content"] != nil && json.Unmarshal(o["content"], &content) != nil {
		return result
	}
	var texts []string
	var kept, others []json.RawMessage // the others are no texts
	at := -1                           // where the first text is among the others
	for _, raw := range content {
		block, err := asObject(raw)
		if err == nil && block.text("type") == "text" {
			if at < 0 {
				at = len(others)
			}
			texts = append(texts, block.text("text"))
		} else {
			others = append(others, raw)
		}
		kept = append(kept, raw)
	}
	text := strings.Join(texts, "\n")
	structured := o["structuredContent"]
	if len(text) <= limit/2 && len(structured) <= limit/2 {
		return result // what is large is neither text nor structure
	}
	if len(text) > limit/2 {
		block, err := g.stage(ctx, id, e, []byte(text))
		if err != nil {
			return result
		}
		kept = slices.Insert(others, at, block)
	}
	if structured != nil && !says(texts, structured) {
		block := textBlock("The structured content of this result is " + string(structured))
		if len(structured) > limit/2 {
			if block, err = g.stage(ctx, id, e, structured); err != nil {
				return result
			}
		}
		kept = append(kept, block)
	}
	o["content"] = encoded(kept)
	delete(o, "structuredContent") // agents that see it do not read the texts
	return o.raw()
}

// stage stages a large part of a result and returns what the agent sees instead.
func (g *Gateway) stage(ctx context.Context, id thread.ID, e entry, part []byte) (json.RawMessage, error) {
	data := recordsOf(part)
	d, err := g.stager.Stage(ctx, thread.StageRequest{
		Source: plaintext.Cut(source(e), 200), Kind: data.kind, Thread: id, Labels: []string{"mcp"},
	}, bytes.NewReader(data.bytes))
	if err != nil {
		g.log.Warn("stage a large result", "thread", string(id), "tool", e.name, "err", err)
		return nil, err
	}
	return textBlock(preview(d, data)), nil
}

func textBlock(text string) json.RawMessage {
	return encoded(map[string]any{"type": "text", "text": text})
}

// source names where staged data comes from.
func source(e entry) string { return plain(e.server) + "/" + plain(e.own) }

// preview tells the model what was staged, how it begins, and how to read it.
func preview(d thread.Staged, data records) string {
	var out strings.Builder
	fmt.Fprintf(&out, "This result is large and was staged as %s: ", d.Token)
	if d.Kind == thread.DataNDJSON {
		fmt.Fprintf(&out, "%d records, one a line, %s.", d.Records, thread.Bytes(d.Bytes))
	} else {
		fmt.Fprintf(&out, "%d lines, %s.", d.Records, thread.Bytes(d.Bytes))
	}
	out.WriteString(data.note)
	fmt.Fprintf(&out, " Read what you need of it with %s {\"token\": %q, \"grep\" | \"from\", \"to\" | \"head\"}. It begins:\n",
		retrieveTool, d.Token)
	out.Write(data.bytes[:min(len(data.bytes), previewBytes)])
	if len(data.bytes) > previewBytes {
		out.WriteString(" …")
	}
	return strings.ToValidUTF8(out.String(), "\uFFFD")
}

// records is a text as it is staged.
type records struct {
	bytes []byte
	kind  thread.DataKind
	note  string // what else the model should know of it
}

// recordsOf turns a JSON array, or an object that is mostly one array, into a record a line, so that parts of it can be
// read; every record keeps its bytes. Other JSON is indented, and other text stays as it is.
func recordsOf(text []byte) records {
	trimmed := bytes.TrimSpace(text)
	if len(trimmed) == 0 || trimmed[0] != '[' && trimmed[0] != '{' || !json.Valid(trimmed) {
		return records{bytes: text}
	}
	if trimmed[0] == '[' {
		if lines, ok := lines(trimmed); ok {
			return records{bytes: lines, kind: thread.DataNDJSON}
		}
	}
	o, err := asObject(trimmed)
	for key, v := range o {
		if err != nil || len(v) < len(trimmed)*9/10 || v[0] != '[' {
			continue
		}
		if lines, ok := lines(v); ok {
			delete(o, key)
			note := fmt.Sprintf(" The records are those of %q.", key)
			if len(o) > 0 {
				note += " The other fields are " + string(o.raw()) + "."
			}
			if len(note) <= previewBytes {
				return records{bytes: lines, kind: thread.DataNDJSON, note: note}
			}
		}
	}
	var indented bytes.Buffer
	if json.Indent(&indented, trimmed, "", " ") != nil {
		return records{bytes: text}
	}
	return records{bytes: indented.Bytes()}
}

// lines writes the elements of an array of at least two on a line each.
func lines(array json.RawMessage) ([]byte, bool) {
	var all []json.RawMessage
	if json.Unmarshal(array, &all) != nil || len(all) < 2 {
		return nil, false
	}
	var out bytes.Buffer
	for _, raw := range all {
		if json.Compact(&out, raw) != nil {
			return nil, false
		}
		out.WriteByte('\n')
	}
	return out.Bytes(), true
}
